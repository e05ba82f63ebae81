"""How far a mean over few documents can be trusted: its interval by the bootstrap.

The documents are drawn anew with replacement, thousands of times; the middle 95 % of the means is
the interval. It says what another sample of documents would have done, not another seed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDS = 2_000
COVERED = 0.95

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
    random = np.random.default_rng(seed)
    step = max(1, BLOCK // len(kept))
    means = np.concatenate(
        [
            kept[random.integers(0, len(kept), (min(step, rounds - start), len(kept)))].mean(axis=1)
            for start in range(0, rounds, step)
        ]
    )
    low, high = np.quantile(means, [(1 - COVERED) / 2, (1 + COVERED) / 2])
    return float(low), float(high)
