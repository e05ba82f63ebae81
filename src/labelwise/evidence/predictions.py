"""The labels to show for one document: ranked, cut by number, threshold and list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import Label, LabelSpace


@dataclass(frozen=True, slots=True)
class Prediction:
    """A label and the score that a method gave it for one document."""

    label: Label
    score: float


def rank(
    scores: NDArray[np.float32],
    label_space: LabelSpace,
    *,
    top: int,
    threshold: float | None = None,
    allowed: NDArray[np.bool_] | None = None,
) -> list[Prediction]:
    """The best labels of one row of scores, best first; ties keep the label order.

    ``threshold``: only labels that score above it. ``allowed``: only these columns.

    >>> space = LabelSpace.from_counts({"1309": 90, "693": 60, "5": 0}, {"693": "citrus fruit"})
    >>> [p.label.id for p in rank(np.array([0.2, 0.9, 0.2], dtype=np.float32), space, top=2)]
    ['693', '1309']
    """
    columns: NDArray[Any] = np.arange(len(label_space)) if allowed is None else allowed.nonzero()[0]
    if threshold is not None:
        columns = columns[scores[columns] > threshold]
    if 0 < top < len(columns):
        # Sorting a handful instead of thousands; all that tie with the last one stay in.
        kept = scores[columns]
        columns = columns[kept >= np.partition(kept, len(kept) - top)[len(kept) - top]]
    order = columns[np.argsort(-scores[columns], kind="stable")][: max(top, 0)]
    return [Prediction(label_space.labels[column], float(scores[column])) for column in order]
