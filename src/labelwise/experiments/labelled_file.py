"""A model measured on any labelled file, also one whose labels it does not know."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labelwise.bundle import name_of, thesaurus_in
from labelwise.corpus.dataset import digest_of
from labelwise.corpus.document import Document
from labelwise.corpus.first_words import first_words, word_count
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.more import MEASURED
from labelwise.corpus.readers import read
from labelwise.corpus.skipped import Skipped
from labelwise.corpus.sources import stem
from labelwise.corpus.thesaurus import Thesaurus, read_thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.document_records import DocumentRecords, MeasuredDocument
from labelwise.evaluation.measures import run_figures
from labelwise.evaluation.runs import DataRecord, Run, current_versions, peak_memory
from labelwise.experiments.sampled import drawn
from labelwise.experiments.scoring import score
from labelwise.methods import Method, Scores
from labelwise.progress import note


@dataclasses.dataclass(frozen=True, eq=False)
class Labelled:
    """The documents of a file and a model's scores of them, in one label space with the gold labels
    that the model does not know: those score zero."""

    documents: Sequence[Document]
    space: LabelSpace
    unknown: Mapping[str, str]
    """Gold labels that the model does not know, with their descriptors."""
    scores: Scores
    words: Sequence[int] = ()
    """How long each document is, all of it."""

    @property
    def unknown_counts(self) -> dict[str, int]:
        gold = sum(
            label in self.unknown for one in self.documents for label in dict.fromkeys(one.labels)
        )
        return {"unknown labels": len(self.unknown), "unknown gold": gold}


def score_file(
    method: Method,
    path: Path,
    *,
    thesaurus: Thesaurus | None,
    card: Mapping[str, Any],
    skipped: Skipped | None = None,
    most_words: int | None = None,
    most: int | None = None,
) -> Labelled:
    """Read and score a labelled file or folder: of each document the first so many words, and of
    its documents so many, drawn at random."""
    if twin := card.get("twin"):
        note(
            f"{name_of(card, method.name)} was trained on {_trained_on(card)}, on more than its "
            f"twin that was measured ({twin['data'].get('name', 'unknown data')}): on documents "
            "that it has learned its figures say nothing"
        )
    space = method.label_space
    documents = list(read(path, skipped=skipped, gold=True))
    documents = documents if most is None else drawn(documents, most)
    documents = with_today_s_labels(documents, space, thesaurus)
    words = [word_count(document) for document in documents]
    if most_words is not None:
        documents = [first_words(document, most_words) for document in documents]
    if not any(document.labels for document in documents):
        raise LabelwiseError(f"no document of {path} has a gold label to measure against")
    names = thesaurus.descriptors if thesaurus else {}
    labels = dict.fromkeys(label for document in documents for label in document.labels)
    unknown = {label: names.get(label, label) for label in labels if label not in space.index}
    wide = space.with_labels(unknown)
    scores = np.zeros((len(documents), len(wide)), dtype=np.float32)
    scores[:, [wide.index[id] for id in space.ids]] = score(
        method, documents, f"{method.name}: scoring {path.name}"
    )
    return Labelled(documents, wide, unknown, scores, words)


def measure_file(
    method: Method,
    path: Path,
    *,
    thesaurus: Thesaurus | None,
    card: Mapping[str, Any],
    command: str = "",
    skipped: Skipped | None = None,
    most_words: int | None = None,
) -> tuple[Run, DocumentRecords]:
    """Score the documents of a file or a folder and measure them, by the groups of the model.

    A gold label that the model does not know is one that no training document carried, so it counts
    among the zero-shot labels, and it is missed wherever it is gold. F1 is measured at the model's
    own threshold, for nothing is tuned here. The run is one of the data ``file_name`` gives, by the
    method and the data that the model was trained on. With it goes which documents these were.
    The beginnings of documents are another data set than these documents.
    """
    split = split_name(path)
    made = method.calibration
    if made is not None and made.record.partition("/")[0] == file_name(path):
        note(
            f"{name_of(card, method.name)} was calibrated on {file_name(path)}: what it does to "
            "documents that had no part in that stands in the record of the calibration, and "
            "figures on all of them are too good"
        )
    started = time.perf_counter()
    found = score_file(
        method, path, thesaurus=thesaurus, card=card, skipped=skipped, most_words=most_words
    )
    seconds = time.perf_counter() - started
    figures = run_figures(
        found.scores,
        found.space.gold(found.documents),
        found.space,
        tuned_threshold=method.threshold,
        unranked=[found.space.index[label] for label in found.unknown],
    )
    record = DataRecord(
        name=file_name(path),
        fingerprint=digest_of([path]),
        counts={split: len(found.documents), **found.unknown_counts},
        label_space=found.space.fingerprint,
        groups={group: part.stop - part.start for group, part in found.space.groups.items()},
        trained_on=_trained_on(card) or "unknown data",
    )
    run = Run(
        method=named_after_data(method, card),
        seed=int(method.settings.seed),
        measures={split: figures},
        data=record if most_words is None else record.cut(most_words),
        threshold=float(method.threshold),
        settings=dataclasses.asdict(method.settings),
        versions=current_versions(),
        seconds={**card.get("seconds", {}), "score": round(seconds, 3)},
        peak_memory=max(peak_memory() or 0, card.get("peak_memory") or 0) or None,
        command=command,
        members=dict(card.get("digests", {})),
    )
    ids = [MeasuredDocument(one.id) for one in found.documents]
    data, words = run.data, {split: list(found.words)}
    return run, DocumentRecords(data.name, data.fingerprint, None, {split: ids}, words)


def named_after_data(method: Method, card: Mapping[str, Any]) -> str:
    """What a model is called among others of its method: by the data too that it was trained on."""
    return "@".join(filter(None, (name_of(card, method.name), _trained_on(card))))


def named_among(method: Method, card: Mapping[str, Any], fingerprint: str) -> str:
    """What a model is called in the folder of a data set: by the data that it was trained on where
    that is another one, so that its records do not stand in the place of the data set's own."""
    own = card.get("data", {}).get("fingerprint", fingerprint) == fingerprint
    return name_of(card, method.name) if own else named_after_data(method, card)


def _trained_on(card: Mapping[str, Any]) -> str:
    return str(card.get("data", {}).get("name", ""))


def known_thesaurus(given: Path | None, card: Mapping[str, Any], bundle: Path) -> Thesaurus | None:
    """What gold labels are looked up in: the thesaurus that was named, or the bundle's own."""
    return read_thesaurus(given) if given else thesaurus_in(card, bundle)


def file_name(path: Path) -> str:
    """What the data of a file is called: as its folder too where the file has the name of a split.

    >>> file_name(Path("newlaw/dev.jsonl.xz")), file_name(Path("acts-2024.jsonl"))
    ('newlaw-dev', 'acts-2024')
    """
    own = stem(path)
    return f"{path.resolve().parent.name}-{own}" if own in (*MEASURED, "train") else own


def split_name(path: Path) -> str:
    """Documents called dev are measured as dev documents, all others as test documents."""
    return "dev" if stem(path) in MEASURED[:-1] else "test"


def with_today_s_labels(
    documents: Sequence[Document], space: LabelSpace, thesaurus: Thesaurus | None
) -> list[Document]:
    """Gold labels by the ids that the model has them under, where the thesaurus knows how."""
    if thesaurus is None:
        return list(documents)

    def today(label: str) -> tuple[str, ...]:
        return (label,) if label in space.index else thesaurus.today(label) or (label,)

    return [
        dataclasses.replace(
            one, labels=tuple(dict.fromkeys(new for label in one.labels for new in today(label)))
        )
        for one in documents
    ]
