"""A data set split by year: trained on older acts, measured on newer ones.

A random split asks how well a model tags acts of the years that it has learned from. Users tag acts
of the years after them.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from labelwise.corpus.celex import year_of
from labelwise.corpus.dataset import SPLITS, Dataset, Split
from labelwise.corpus.document import Document
from labelwise.corpus.eurlex57k import record
from labelwise.errors import InputError, LabelwiseError

ENDING = "-by-year"
"""What the name of a data set is lengthened by."""


def whole_name(name: str) -> str:
    """The name of the data set that was split by year; any other name is left as it is.

    >>> whole_name("eurlex57k-by-year"), whole_name("eurlex57k")
    ('eurlex57k', 'eurlex57k')
    """
    return name.removesuffix(ENDING)


@dataclass(frozen=True)
class Years:
    """Where dev and test begin; what is older is trained on.

    >>> [Years(dev=2011, test=2013).split(year) for year in (1958, 2010, 2012, 2016)]
    ['train', 'train', 'dev', 'test']
    """

    dev: int
    test: int

    def __post_init__(self) -> None:
        if self.dev >= self.test:
            raise LabelwiseError(
                f"the years of dev begin before those of test, not in {self.dev} and {self.test}"
            )

    def split(self, year: int) -> Split:
        if year < self.dev:
            return "train"
        return "dev" if year < self.test else "test"


def split_by_year(dataset: Dataset, years: Years, out: Path) -> dict[Split, Counter[int]]:
    """Write a data set with the documents of all splits, split anew by the years of their ids.

    The documents of a split are in the order of their years and ids, whatever split they came from.
    The newest stand first: a fingerprint is that of all files as one, which would be the same for
    any years if they went on from split to split. The counts of each split, by year, are given
    back.
    """
    if out.exists() and any(out.iterdir()):
        raise LabelwiseError(f"{out}: the folder holds files already; name a new folder")
    by_split: dict[Split, list[tuple[int, str, Document]]] = {split: [] for split in SPLITS}
    for document in (*dataset.train, *dataset.dev, *dataset.test):
        year = year_of(document.id)
        if year is None:
            raise InputError(
                f"no year in the id '{document.id}': documents are split by the year of their "
                "CELEX number, as 2010 in 32010R0001"
            )
        by_split[years.split(year)].append((year, document.id, document))
    for split, found in by_split.items():
        if not found:
            raise LabelwiseError(f"no document is left for {split}: choose other years")
        found.sort(key=lambda one: one[:2], reverse=True)
    out.mkdir(parents=True, exist_ok=True)
    for split, found in by_split.items():
        _write(out / f"{split}.jsonl", (document for *_, document in found))
    if dataset.thesaurus_path is not None:
        shutil.copyfile(dataset.thesaurus_path, out / dataset.thesaurus_path.name)
    return {split: Counter(year for year, *_ in found) for split, found in by_split.items()}


def _write(path: Path, documents: Iterable[Document]) -> None:
    """One record a line, not compressed: other versions of a library would give other bytes, and
    with them another fingerprint."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for document in documents:
            stream.write(json.dumps(record(document), ensure_ascii=False) + "\n")


def span(years: Mapping[int, int]) -> str:
    """The first and the last year of a split.

    >>> span({2013: 5, 2016: 1}), span({2011: 2})
    ('2013 to 2016', '2011')
    """
    first, last = min(years), max(years)
    return str(first) if first == last else f"{first} to {last}"
