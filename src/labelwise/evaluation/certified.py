"""Which labels can be applied without a look: a threshold above which enough of them are right.

Documents that nothing was fitted on say of a threshold how many of the labels above it are right,
and how sure that is. The lower end of Clopper and Pearson's interval would hold if every label
were right or wrong by itself; the labels of one document stand and fall together, so that they
count as fewer than they are (the effective sample size of Korn and Graubard, 1998).

A threshold that was picked because it looked well is not certified by having looked well. So the
thresholds are tried in an order that is set beforehand: from each of four starts, a quarter, a
half, one and two labels a document, down to lower ones, until the first that fails (fixed-sequence
testing, as in Learn then Test by Angelopoulos and others, 2021). The starts share the chance of
error, but for those at which so few documents can certify nothing, even if every label is right.
What is certified then holds, but for that chance, on documents of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.ranking import top_k

LEVELS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Precisions that are asked for."""

ERROR = 0.05
"""The chance that a precision is certified which is not reached."""

STARTS = (0.25, 0.5, 1.0, 2.0)
"""Labels a document, at the thresholds to begin with."""

STEP = 1.1
"""So many times as many labels at the threshold tried next."""

DEEPEST = 50
"""Labels a document that are looked at."""


@dataclass(frozen=True)
class Certified:
    """The lowest threshold that was certified for a precision, and what lies above it."""

    level: float
    threshold: float
    precision: float
    """Of the labels above the threshold, in the documents that certified it."""
    at_least: float
    """The lower end of the interval."""
    labels: float
    """Above the threshold, a document."""
    share: float
    """Of the gold labels, those above the threshold."""


@dataclass(frozen=True, eq=False)
class Best:
    """The labels of all documents that score highest, best first, N of them."""

    scores: NDArray[np.float32]  # (N,)
    documents: NDArray[np.int64]  # (N,)
    right: NDArray[np.bool_]  # (N,)
    size: int
    """How many documents there are."""
    gold: int
    """How many gold labels they have."""

    @classmethod
    def of(cls, scores: NDArray[np.float32], gold: NDArray[np.bool_]) -> Best:
        size, labels = scores.shape
        deepest = min(DEEPEST * size, size * labels)
        every = scores.ravel()
        first = top_k(every[None], deepest)[0]
        return cls(every[first], first // labels, gold.ravel()[first], size, int(gold.sum()))

    def at_least(self, n: int, error: float) -> float:
        """The precision that the first n labels reach, but for a chance of error."""
        from scipy.stats import beta

        right = self.right[:n]
        hits = int(right.sum())
        if not hits:
            return 0.0
        p = hits / n
        # What each document has more right than the mean would have.
        more = np.bincount(self.documents[:n], right - p, minlength=self.size)
        spread = float((more**2).sum()) * self.size / max(self.size - 1, 1)
        crowded = max(1.0, spread / (n * p * (1 - p))) if hits < n else 1.0
        return float(beta.ppf(error, hits / crowded, (n - hits) / crowded + 1))


def starts_for(level: float, size: int) -> tuple[int, ...]:
    """How many labels of so many documents each search begins with: as many searches as can
    certify this precision where every label is right.

    >>> starts_for(0.95, 283), starts_for(0.95, 100), starts_for(0.95, 20)
    ((142, 283, 566), (100, 200), ())
    """
    for first in range(len(STARTS)):
        starts = tuple(round(start * size) for start in STARTS[first:])
        # Clopper and Pearson's lower end, where all are right.
        if starts[0] and (ERROR / len(starts)) ** (1 / starts[0]) >= level:
            return starts
    return ()


def certify(best: Best, level: float) -> Certified | None:
    """The lowest threshold above which labels have this precision; None where none is sure to."""
    starts = starts_for(level, best.size)
    error = ERROR / max(len(starts), 1)
    found = 0
    for start in starts:
        n = start
        while n < len(best.scores) and best.at_least(n, error) >= level:
            found = max(found, n)
            n = max(n + 1, round(n * STEP))
    if not found:
        return None
    threshold = float(best.scores[found])
    n = int((best.scores > threshold).sum())  # labels that score the same go together
    if not n or best.at_least(n, error) < level:
        return None
    return Certified(
        level,
        threshold,
        precision=float(best.right[:n].mean()),
        at_least=best.at_least(n, error),
        labels=n / best.size,
        share=int(best.right[:n].sum()) / best.gold,
    )


def certify_all(scores: NDArray[np.float32], gold: NDArray[Any]) -> list[Certified]:
    """What can be certified of the precisions that are asked for."""
    best = Best.of(scores, gold)
    return [one for level in LEVELS if (one := certify(best, level)) is not None]
