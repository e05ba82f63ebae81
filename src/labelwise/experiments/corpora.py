"""What trainings are trained on: documents, numbers for the networks, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelwise.corpus.dataset import NOTHING, Additions, open_dataset
from labelwise.corpus.hidden import Hiding
from labelwise.errors import CallError, LabelwiseError


@dataclass(frozen=True)
class PreparedFolder:
    """A prepared corpus: its folder, and the settings that it was prepared with."""

    folder: Path
    settings: Mapping[str, Any]

    @property
    def encoder(self) -> str | None:
        """Whose pieces its tokens are; None where they are words."""
        return self.settings.get("encoder")


@dataclass(frozen=True)
class Corpus:
    """What is trained on: documents, numbers for the networks, or both."""

    name: str
    fingerprint: str
    data: Path | None
    prepared: tuple[PreparedFolder, ...] = ()
    rows: dict[str, Path] = field(default_factory=dict)  # other vectors for words, by name
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
    prepared: Sequence[Path],
    vectors: Sequence[Path],
    hiding: Hiding | None = None,
    additions: Additions = NOTHING,
) -> Corpus:
    """The corpus in a folder of documents, in some of numbers, or in both."""
    if data is None and not prepared:
        raise CallError("--data (or LABELWISE_DATA) or --prepared is needed")
    if additions != NOTHING and data is None:
        raise CallError(
            "--more and its like go with --data: a prepared corpus has what it was prepared with"
        )
    dataset = open_dataset(data, additions) if data is not None else None
    if not prepared:
        if vectors:
            raise CallError("--vectors goes with --prepared")
        assert dataset is not None
        return Corpus(dataset.name, dataset.fingerprint, data, hiding=hiding, additions=additions)
    from labelwise.training.prepared import read_record
    from labelwise.training.vector_rows import rows_name

    records = {folder: read_record(folder) for folder in prepared}
    known = records[prepared[0]]["data"]
    name, fingerprint, of = known["name"], known["fingerprint"], prepared[0]
    if dataset is not None and data is not None:
        fingerprint, of = dataset.fingerprint, data
    for folder, record in records.items():
        if record["data"]["fingerprint"] != fingerprint:
            raise LabelwiseError(
                f"{folder} was prepared from other documents than those of {of}: prepare it again"
            )
    folders = tuple(
        PreparedFolder(folder, record["settings"]) for folder, record in records.items()
    )
    for at, one in enumerate(folders):
        if alike := [other for other in folders[:at] if other.encoder == one.encoder]:
            raise LabelwiseError(
                f"{alike[0].folder} and {one.folder} are both prepared in "
                f"{f'pieces of {one.encoder}' if one.encoder else 'words'}: give one of them"
            )
    rows = {rows_name(file): file for file in vectors}
    return Corpus(name, fingerprint, data, folders, rows, hiding, additions)
