"""What trainings are trained on: documents, numbers for the networks, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelwise.corpus.dataset import NOTHING, Additions, open_dataset
from labelwise.corpus.hidden import Hiding
from labelwise.errors import CallError, LabelwiseError


@dataclass(frozen=True)
class Corpus:
    """What is trained on: documents, numbers for the networks, or both."""

    name: str
    fingerprint: str
    data: Path | None
    prepared: Path | None
    of_prepared: dict[str, Any] = field(default_factory=dict)  # settings it was prepared with
    rows: dict[str, Path] = field(default_factory=dict)  # other vectors for it, by name
    hiding: Hiding | None = None
    additions: Additions = NOTHING

    @property
    def run_name(self) -> str:
        """What its runs are kept under: those of hidden labels stand apart."""
        return self.hiding.name(self.name) if self.hiding else self.name

    @property
    def run_fingerprint(self) -> str:
        return self.hiding.fingerprint(self.fingerprint) if self.hiding else self.fingerprint


def open_corpus(
    data: Path | None,
    prepared: Path | None,
    vectors: Sequence[Path],
    hiding: Hiding | None = None,
    additions: Additions = NOTHING,
) -> Corpus:
    """The corpus in a folder of documents, in one of numbers, or in both."""
    if data is None and prepared is None:
        raise CallError("--data (or LABELWISE_DATA) or --prepared is needed")
    if additions != NOTHING and data is None:
        raise CallError(
            "--more and its like go with --data: a prepared corpus has what it was prepared with"
        )
    dataset = open_dataset(data, additions) if data is not None else None
    if prepared is None:
        if vectors:
            raise CallError("--vectors goes with --prepared")
        assert dataset is not None
        return Corpus(
            dataset.name, dataset.fingerprint, data, None, hiding=hiding, additions=additions
        )
    from labelwise.training.prepared import read_record

    record = read_record(prepared)
    name, fingerprint = record["data"]["name"], record["data"]["fingerprint"]
    if dataset is not None and dataset.fingerprint != fingerprint:
        raise LabelwiseError(
            f"{prepared} was prepared from other documents than those of {data}: prepare it again"
        )
    from labelwise.training.vector_rows import rows_name

    rows = {rows_name(file): file for file in vectors}
    return Corpus(name, fingerprint, data, prepared, record["settings"], rows, hiding, additions)
