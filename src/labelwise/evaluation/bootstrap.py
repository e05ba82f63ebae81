"""How far a mean over few documents can be trusted: its interval by the bootstrap.

The documents are drawn anew with replacement, thousands of times; the middle 95 % of the means is
the interval. It says what another sample of documents would have done, not another seed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelwise.evaluation.counts import f1

ROUNDS = 2_000
COVERED = 0.95
DRAWN = (
    f"In brackets the middle 95 % of {ROUNDS:,} draws of the documents, with replacement; of "
    "several seeds the mean was taken before"
)
"""What a table with intervals says under it."""

BLOCK = 1 << 22
"""Documents drawn at a time: 32 MB of whole numbers."""


def interval(values: ArrayLike, *, rounds: int = ROUNDS, seed: int = 0) -> tuple[float, float]:
    """The lower and the upper end for the mean of one value a document; NaN values are left out.

    >>> interval([0.0, 1.0] * 50)
    (0.4, 0.6)
    """
    given: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    kept = given[~np.isnan(given)]
    if not len(kept):
        return float("nan"), float("nan")
    means = [kept[drawn].mean(axis=1) for drawn in _draws(len(kept), rounds, seed)]
    return _middle(np.concatenate(means))


def mean(values: NDArray[np.float64]) -> float:
    """The mean of one value a document; NaN values are left out, and it is NaN without others."""
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if len(kept) else float("nan")


def mean_and_interval(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """The mean and the two ends of its interval."""
    return mean(values), *interval(values)


def f1_interval(counts: NDArray[np.int64]) -> tuple[float, float]:
    """The ends for micro-F1, of documents × (true positives, false positives, false negatives)."""
    sums = [counts[drawn].sum(axis=1) for drawn in _draws(len(counts), ROUNDS, seed=0)]
    return _middle(f1(*np.concatenate(sums).T))


def _draws(documents: int, rounds: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Rounds × places of the documents drawn in them, some rounds at a time."""
    random = np.random.default_rng(seed)
    step = max(1, BLOCK // documents)
    for start in range(0, rounds, step):
        yield random.integers(0, documents, (min(step, rounds - start), documents))


def _middle(figures: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(figures, [(1 - COVERED) / 2, (1 + COVERED) / 2])
    return float(low), float(high)
