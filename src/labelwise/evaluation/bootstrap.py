"""How far a mean over few documents can be trusted: its interval by the bootstrap.

The documents are drawn anew with replacement, thousands of times; the middle 95 % of the means is
the interval. It says what another sample of documents would have done, not another seed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

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

DIGITS = 12
"""Beyond them lies the order in which a processor adds up, which moves no end of an interval."""

BLOCK = 1 << 22
"""Documents drawn at a time: 32 MB of numbers."""


def interval(values: ArrayLike, *, rounds: int = ROUNDS, seed: int = 0) -> tuple[float, float]:
    """The lower and the upper end for the mean of one value a document; NaN values are left out.

    >>> interval([0.0, 1.0] * 50)
    (0.4, 0.6)
    """
    given: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    kept = given[~np.isnan(given)]
    if not len(kept):
        return float("nan"), float("nan")
    return _middle(_sums(kept, rounds, seed) / len(kept))


def mean(values: NDArray[np.float64]) -> float:
    """The mean of one value a document; NaN values are left out, and it is NaN without others."""
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if len(kept) else float("nan")


def mean_and_interval(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """The mean and the two ends of its interval."""
    return mean(values), *interval(values)


def f1_interval(counts: NDArray[np.int64]) -> tuple[float, float]:
    """The ends for micro-F1, of documents × (true positives, false positives, false negatives)."""
    return _middle(f1(*_sums(counts, ROUNDS, seed=0).T.astype(np.int64)))


def _sums(values: NDArray[Any], rounds: int, seed: int) -> NDArray[np.float64]:
    """Of documents, or documents × figures: their sums over what each round drew."""
    drawn = _draws(len(values), rounds, seed)
    step = max(1, BLOCK // len(values))
    starts = range(0, rounds, step)
    return np.concatenate([drawn[at : at + step].astype(np.float64) @ values for at in starts])


@lru_cache(maxsize=8)  # tables ask for many figures of as many documents
def _draws(documents: int, rounds: int, seed: int) -> NDArray[np.uint8]:
    """Rounds × documents: how often each was drawn."""
    random = np.random.default_rng(seed)
    found = np.zeros((rounds, documents), dtype=np.uint8)
    step = max(1, BLOCK // documents)
    for at in range(0, rounds, step):
        some = random.integers(0, documents, (min(step, rounds - at), documents))
        for row, places in zip(found[at : at + step], some, strict=True):
            row[:] = np.bincount(places, minlength=documents)
    return found


def _middle(figures: NDArray[np.float64]) -> tuple[float, float]:
    settled = figures.round(DIGITS)
    low, high = np.quantile(settled, [(1 - COVERED) / 2, (1 + COVERED) / 2])
    return float(low), float(high)
