"""Each label on its own: how often it is gold, predicted, and rightly so, and the table of them.

Beside a run stands ``seed-<n>.labels.npz`` with these counts; ``<data>/labels.csv`` names the
labels, and the report adds the F1 of every method to it.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.errors import InputError
from labelwise.evaluation.counts import f1
from labelwise.files import ARCHIVE_FAULTS

if TYPE_CHECKING:
    from labelwise.evaluation.runs import Run

NAMES = ("label", "descriptor", "group", "training documents")
_ARRAYS = ("gold", "predicted", "true_positives")


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Over the documents of a split, in label order."""

    gold: NDArray[Any]  # labels
    predicted: NDArray[Any]  # thresholds × labels
    true_positives: NDArray[Any]  # thresholds × labels
    space: LabelSpace | None = None
    """The labels by name; None where the counts were read from a file."""

    @property
    def f1(self) -> NDArray[np.float64]:
        """Thresholds × labels; NaN where a label is neither gold nor predicted anywhere."""
        wrong, missed = self.predicted - self.true_positives, self.gold - self.true_positives
        return f1(self.true_positives, wrong, missed)


def labels_path(run: Path) -> Path:
    """The per-label file beside a run's JSON."""
    return run.with_suffix(".labels.npz")


def pack_labels(counts: Mapping[str, LabelCounts]) -> bytes:
    """The counts of all splits as an .npz, each array in the smallest type that holds it."""
    arrays = {}
    for split, of in counts.items():
        for name in _ARRAYS:
            array = getattr(of, name)
            arrays[f"{split}.{name}"] = array.astype(np.min_scalar_type(array.max(initial=0)))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def read_labels(run: Path, splits: Sequence[str]) -> dict[str, LabelCounts]:
    """The counts of each split; none where the run was kept without them."""
    path = labels_path(run)
    if not path.is_file():
        return {}
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {
                split: LabelCounts(
                    *(stored[f"{split}.{name}"].astype(np.int64) for name in _ARRAYS)
                )
                for split in splits
            }
    except ARCHIVE_FAULTS as error:
        raise InputError(f"the file is damaged ({error}): evaluate again", file=path) from error


def name_labels(space: LabelSpace) -> bytes:
    """The table of labels before any F1 stands in it."""
    return _csv(_names(space))


def names_labels(table: Path, space: LabelSpace) -> bool:
    """Whether there is a table of these labels, with their counts; that of a data set which has
    changed since is of others."""
    if not table.is_file():
        return False
    rows = csv.reader(io.StringIO(table.read_text("utf-8", "replace")))
    return [tuple(row[: len(NAMES)]) for row in rows] == _names(space)


def _names(space: LabelSpace) -> list[tuple[str, ...]]:
    counts = zip(space.labels, space.counts, strict=True)
    return [NAMES, *((one.id, one.descriptor, one.group, str(int(n))) for one, n in counts)]


def labels_csv(named: str, methods: Mapping[str, Sequence[Run]], split: str) -> bytes | None:
    """The table of labels with the F1 of each method, mean over seeds, at the tuned threshold.

    ``named`` is the table so far. None where no run has counts of its labels.
    """
    rows = [row[: len(NAMES)] for row in csv.reader(io.StringIO(named))]
    header, names = rows[0], rows[1:]
    columns: dict[str, NDArray[np.float64]] = {}
    gold: NDArray[Any] | None = None
    for method, runs in methods.items():
        counts = [run.measures[split].labels for run in runs]
        known = [of for of in counts if of is not None and len(of.gold) == len(names)]
        if known:
            gold = known[0].gold
            columns[f"{method} F1"] = np.mean([of.f1[-1] for of in known], axis=0)
    if gold is None:
        return None
    cells = [
        [*name, str(int(gold[at])), *(_cell(values[at]) for values in columns.values())]
        for at, name in enumerate(names)
    ]
    return _csv([[*header, f"{split} documents", *columns], *cells])


def _cell(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}"


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()
