"""What a uniformly random ranking would score, computed exactly.

Each place of a random ranking of L labels holds one of the R_n gold labels with the probability
R_n / L, so the expected hits in the top K are K R_n / L, and the expected DCG is that probability
times the sum of the discounts. Nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.counts import IDEAL_DCG, RANKED


def chance_level(gold: NDArray[np.int64], labels: int, ks: Iterable[int]) -> dict[str, float]:
    """The expected P@K, R@K, RP@K and nDCG@K, averaged over the documents that have gold labels.

    >>> level = chance_level(np.array([1, 2, 0]), labels=163, ks=[5])
    >>> round(level["RP@5"], 3), round(level["nDCG@5"], 3)
    (0.031, 0.02)
    """
    kept = gold[gold > 0]
    level: dict[str, float] = {}
    for k in ks:
        if not len(kept):
            level.update({f"{name}@{k}": float("nan") for name in RANKED})
            continue
        places = min(k, labels)  # a group may hold fewer labels than K
        hits = places * kept / labels
        level[f"P@{k}"] = float(np.mean(hits / k))
        level[f"R@{k}"] = float(np.mean(hits / kept))
        level[f"RP@{k}"] = float(np.mean(hits / np.minimum(k, kept)))
        dcg = IDEAL_DCG[places - 1] * kept / labels
        level[f"nDCG@{k}"] = float(np.mean(dcg / IDEAL_DCG[np.minimum(k, kept) - 1]))
    return level
