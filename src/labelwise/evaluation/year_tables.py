"""How a model ages: RP@5 by year of the documents, beside the same years under the random split.

The data set is one that `labelwise data split-by-year` has made; the one that it was made from has
a random split, and its runs in the folder beside. Every test document that the random split has of
these years is a dev or test document here, so that both can be held against each other on the very
same documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.by_year import ENDING, whole_name
from labelwise.evaluation.bootstrap import DRAWN, mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method, over_documents
from labelwise.evaluation.document_records import read_documents
from labelwise.evaluation.runs import Run, run_paths
from labelwise.evaluation.tables import Table, with_interval

MEASURE = "RP@5"
SPLITS = ("dev", "test")


@dataclass(frozen=True)
class OverTime:
    """What each document of the newer years got from each method, under one or the other split."""

    years: NDArray[np.int64]  # (documents,)
    dev: frozenset[int]  # the years that are dev documents
    by_year: Mapping[str, NDArray[np.float64]]  # method → (documents,)
    random: Mapping[str, NDArray[np.float64]]  # method → (documents,); NaN where not in its test
    shared: NDArray[np.bool_]  # (documents,) those in the test of the random split
    chosen_on: int = 0  # test documents that are dev documents of the random split

    def shown(self) -> list[tuple[str, NDArray[np.bool_]]]:
        """The years one by one, then those of test together, each with its documents."""
        years = sorted(set(self.years.tolist()))
        each = [
            (f"{year}, dev" if year in self.dev else str(year), self.years == year)
            for year in years
        ]
        return [*each, ("all test years", ~np.isin(self.years, list(self.dev)))]


def over_time(folder: Path, runs: Sequence[Run]) -> OverTime | None:
    """The runs of a data set that was split by year, measured on dev and test; None for others."""
    documents = read_documents(folder, runs) if folder.name.endswith(ENDING) else None
    if documents is None or not all(set(SPLITS) <= set(run.measures) for run in runs):
        return None
    years = np.concatenate([documents.years(split) for split in SPLITS])
    place = {id: at for at, id in enumerate(id for split in SPLITS for id in documents.ids(split))}
    ours = {
        method: np.concatenate([over_documents(of, split, "all", MEASURE) for split in SPLITS])
        for method, of in by_method(runs).items()
    }
    beside = folder.with_name(whole_name(folder.name))
    others = [run for path in run_paths(beside) if "test" in (run := Run.read(path)).measures]
    of_others = read_documents(beside, others)
    random, shared, chosen_on = {}, np.zeros(len(years), dtype=np.bool_), 0
    if of_others is not None:
        of_dev = {one.id for one in of_others.splits.get("dev", ())}
        chosen_on = len(of_dev.intersection(documents.ids("test")))
        found = [(at, place[id]) for at, id in enumerate(of_others.ids("test")) if id in place]
        theirs, here = np.array(found, dtype=np.int64).reshape(-1, 2).T
        shared[here] = True
        for method, of in by_method(others).items():
            if method in ours:
                random[method] = np.full(len(years), np.nan)
                random[method][here] = over_documents(of, "test", "all", MEASURE)[theirs]
    dev = frozenset(documents.years("dev").tolist())
    return OverTime(years, dev, ours, random, shared, chosen_on)


def year_sections(found: OverTime | None, runs: Sequence[Run]) -> list[str]:
    """What the report of a data set that was split by year says of its years."""
    if found is None:
        return []
    methods = best_first(by_method(runs), "test")
    sections = [
        "## By year",
        f"{MEASURE} of the documents of each year, all labels. Documents of the years before were "
        "trained on; the end of a training and thresholds are chosen on those of the dev years."
        + _of_settings(found),
        year_table(found, methods).markdown().rstrip(),
    ]
    if found.random:
        sections += [
            "![RP@5 by year, split by year and random split](years.svg)",
            "The same documents under both splits: those of these years that are test documents of "
            "the random split, whose training documents are of the same years.",
            both_splits_table(found, methods).markdown().rstrip(),
        ]
    return sections


def _of_settings(found: OverTime) -> str:
    """That no training saw the test years does not say that no choice did."""
    if not found.chosen_on:
        return ""
    return (
        " Settings taken over from the random split were chosen on its dev documents, "
        f"{found.chosen_on:,} of which are test documents here."
    )


def year_table(found: OverTime, methods: Sequence[str]) -> Table:
    """All documents of each year, a row a method."""
    shown = found.shown()
    table = Table(["method", *(name for name, _ in shown)])
    table.add(["documents", *(f"{of.sum():,}" for _, of in shown)])
    for method in methods:
        values = found.by_year[method]
        table.add([method, *(_cell(values[of]) for _, of in shown)])
    table.notes.append(f"{DRAWN}.")
    return table


def both_splits_table(found: OverTime, methods: Sequence[str]) -> Table:
    """The documents that both splits measure on, two rows a method."""
    shown = [(name, of & found.shared) for name, of in found.shown()]
    table = Table(["method", *(name for name, _ in shown)])
    table.add(["documents", *(f"{of.sum():,}" for _, of in shown)])
    for method in methods:
        if method in found.random:
            for split, values in (("by year", found.by_year), ("random", found.random)):
                table.add([f"{method}, {split}", *(_cell(values[method][of]) for _, of in shown)])
    return table


def _cell(values: NDArray[np.float64]) -> str:
    return with_interval(*mean_and_interval(values))
