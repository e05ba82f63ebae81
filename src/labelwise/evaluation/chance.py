"""What a uniformly random ranking would score, computed exactly.

Each place of a random ranking of L labels holds one of the R_n gold labels with the probability
R_n / L, so the expected hits in the top K are K R_n / L, and the expected DCG is that probability
times the sum of the discounts. No label stands in two places: the hits of two places are correlated
by -1 / (L - 1), from which the variance follows. Nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.counts import IDEAL_DCG, RANKED

WIDTH = 1.96
"""Standard deviations on each side of a mean, between which 95 % of a normal distribution lie."""


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


def chance_interval(gold: NDArray[np.int64], labels: int, measure: str) -> tuple[float, float]:
    """Between which figures 95 % of random rankings of these documents stay: their mean is close to
    normal. NaN for a measure that ranks nothing.

    >>> low, high = chance_interval(np.full(89, 1), labels=163, measure="RP@5")
    >>> round(low, 3), round(high, 3)
    (0.0, 0.066)
    """
    kept, (name, _, depth) = gold[gold > 0], measure.partition("@")
    if name not in RANKED or not len(kept):
        return float("nan"), float("nan")
    k = int(depth)
    places = min(k, labels)
    weights = np.diff(IDEAL_DCG[:places], prepend=0) if name == "nDCG" else np.ones(places)
    at_most = np.minimum(k, kept)
    best = {"P": k, "R": kept, "RP": at_most, "nDCG": IDEAL_DCG[at_most - 1]}[name]
    share = kept / labels
    squares, all_pairs = (weights**2).sum(), weights.sum() ** 2
    spread = squares - (all_pairs - squares) / max(labels - 1, 1)
    variance = share * (1 - share) * spread / np.square(best)
    mean, width = (
        chance_level(gold, labels, [k])[measure],
        WIDTH * np.sqrt(variance.sum()) / len(kept),
    )
    return max(0.0, mean - float(width)), min(1.0, mean + float(width))
