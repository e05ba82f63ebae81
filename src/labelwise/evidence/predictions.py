"""The labels to show for one document: ranked, cut by number, threshold and list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import Label, LabelSpace
from labelwise.evaluation.expected_precision import kept_at
from labelwise.evaluation.ranking import ranked


@dataclass(frozen=True, slots=True)
class Prediction:
    """A label and the score that a method gave it for one document."""

    label: Label
    score: float


@dataclass(frozen=True, slots=True)
class Cut:
    """How far down the ranked labels of a document are taken."""

    threshold: float | None = None
    """Only labels that score above it."""
    precision: float | None = None
    """From the top, as many as are expected to have this precision together, where scores are
    chances."""
    best: int = 0
    """So many at least, whatever the other two say."""


EVERY = Cut()
"""No cut at all."""


def rank(
    scores: NDArray[np.float32],
    label_space: LabelSpace,
    *,
    top: int,
    cut: Cut = EVERY,
    allowed: NDArray[np.bool_] | None = None,
) -> list[Prediction]:
    """The best labels of one row of scores, best first; ties keep the label order.

    ``top``: at most so many. ``allowed``: only these columns.

    >>> space = LabelSpace.from_counts({"1309": 90, "693": 60, "5": 0}, {"693": "citrus fruit"})
    >>> row = np.array([0.2, 0.9, 0.2], dtype=np.float32)
    >>> [p.label.id for p in rank(row, space, top=2)]
    ['693', '1309']
    >>> [p.label.id for p in rank(row, space, top=3, cut=Cut(precision=0.5))]  # two are at .55
    ['693', '1309']
    >>> [p.label.id for p in rank(row, space, top=3, cut=Cut(threshold=0.95, best=1))]
    ['693']
    """
    columns: NDArray[Any] = np.arange(len(label_space)) if allowed is None else allowed.nonzero()[0]
    if 0 < top < len(columns):
        # Sorting a handful instead of thousands; all that tie with the last one stay in.
        kept = scores[columns]
        columns = columns[kept >= np.partition(kept, len(kept) - top)[len(kept) - top]]
    order = columns[ranked(scores[columns])][: max(top, 0)]
    passed = len(order)
    if cut.threshold is not None:
        passed = int((scores[order] > cut.threshold).sum())
    if cut.precision is not None:
        passed = min(passed, int(kept_at(cut.precision, scores[order])))
    kept_columns = order[: max(passed, cut.best)]
    return [Prediction(label_space.labels[at], float(scores[at])) for at in kept_columns]
