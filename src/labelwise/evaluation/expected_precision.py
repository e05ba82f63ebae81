"""How many of the best labels can be kept so that enough of them are right, as far as one knows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def kept_at(precision: float, chances: NDArray[Any]) -> NDArray[np.int64]:
    """So many of the first labels of each document have this expected precision, or a higher one.

    ``chances`` are those of the best labels, best first, documents × labels; the expected precision
    of several labels is the mean of their chances, which only falls from label to label.

    >>> kept_at(0.8, np.array([[0.9, 0.75, 0.3], [0.7, 0.7, 0.1]])).tolist()
    [2, 0]
    """
    expected = np.cumsum(chances, axis=-1, dtype=np.float64) / np.arange(1, chances.shape[-1] + 1)
    # A score of .95 in float32 is a little less than .95.
    kept: NDArray[np.int64] = (expected >= precision - 1e-6).sum(axis=-1)
    return kept
