"""From chances to their log-odds, and back."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=np.floating[Any])

LOWEST, HIGHEST = 1e-37, 1 - 1e-7
"""As far as float32 can tell a chance from zero and one."""


def log_odds(
    chances: NDArray[Any], lowest: float = LOWEST, highest: float = HIGHEST
) -> NDArray[np.float64]:
    """log(p / (1 - p)); a chance below the lowest or above the highest counts as that.

    >>> log_odds(np.array([0.5, 0.0, 1.0]), 1e-9, 1 - 1e-6).round().tolist()
    [0.0, -21.0, 14.0]
    """
    p = chances.astype(np.float64).clip(lowest, highest)
    return np.asarray(np.log(p) - np.log1p(-p))


def sigmoid(odds: NDArray[F]) -> NDArray[F]:
    """1 / (1 + e^-x), as precise as what is given.

    >>> sigmoid(np.float32([0, -1000]))
    array([0.5, 0. ], dtype=float32)
    """
    with np.errstate(over="ignore"):
        chances: NDArray[F] = 1 / (1 + np.exp(-odds))
    return chances
