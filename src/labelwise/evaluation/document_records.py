"""The documents that a data set is measured on: ``results/<data>/documents.json``.

Runs keep what each document got, in the order of the data set and without ids. This file has the
ids, and the training document that each is a near-copy of, so that a report can go by year or leave
near-copies out, and nothing is scored again. `labelwise data near-copies` writes it, and `labelwise
evaluate --on` for a file, without near-copies and with the words of each document.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.celex import year_of
from labelwise.errors import InputError
from labelwise.evaluation.runs import Run
from labelwise.files import write_whole

FILE = "documents.json"
COMMAND = "labelwise data near-copies"


class MeasuredDocument(NamedTuple):
    """An id and, where there is one, the nearest training document with its similarity."""

    id: str
    copy_of: str | None = None
    similarity: float | None = None


@dataclass(frozen=True)
class DocumentRecords:
    """The dev and test documents of a data set, in its order."""

    data: str
    fingerprint: str
    threshold: float | None
    """From which Jaccard similarity on a document is a near-copy; None where nobody looked."""
    splits: dict[str, list[MeasuredDocument]]
    words: dict[str, list[int]] = field(default_factory=dict)
    """By split, how long each document is, where that is known."""

    def ids(self, split: str) -> list[str]:
        return [one.id for one in self.splits[split]]

    def years(self, split: str) -> NDArray[np.int64]:
        """The year of each document; 0 where its id has none."""
        return np.array([year_of(one.id) or 0 for one in self.splits[split]], dtype=np.int64)

    def copies(self, split: str) -> NDArray[np.bool_]:
        """Whether each document is a near-copy."""
        return np.array([one.copy_of is not None for one in self.splits[split]], dtype=np.bool_)

    def write(self, results: Path) -> Path:
        """Write them below the results folder, a document a line; say where."""
        head = {"data": self.data, "fingerprint": self.fingerprint, "threshold": self.threshold}
        parts = [f'"{name}": {json.dumps(value)}' for name, value in head.items()]
        for split, documents in self.splits.items():
            # An original is its id alone.
            lines = ",\n  ".join(json.dumps(one[: 3 if one.copy_of else 1]) for one in documents)
            parts.append(f'"{split}": [\n  {lines}\n ]')
        if self.words:
            parts.append(f'"words": {json.dumps(self.words)}')
        path = results / self.data / FILE
        write_whole(path, ("{\n " + ",\n ".join(parts) + "\n}\n").encode())
        return path


def read_documents(folder: Path, runs: Sequence[Run]) -> DocumentRecords | None:
    """The documents of the runs in a folder; None where the file is not there."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        splits = {
            split: [MeasuredDocument(*one) for one in record[split]]
            for split in ("dev", "test")
            if split in record
        }
        data, fingerprint, threshold = (record[key] for key in ("data", "fingerprint", "threshold"))
        found = DocumentRecords(data, fingerprint, threshold, splits, record.get("words", {}))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"the file is damaged: `{COMMAND}` writes it anew", file=path) from error
    for run in runs:
        if run.data.fingerprint != found.fingerprint:
            raise InputError(
                f"the file is that of other documents than {run.method}, seed {run.seed} was "
                f"measured on: `{COMMAND}` writes it anew",
                file=path,
            )
    return found
