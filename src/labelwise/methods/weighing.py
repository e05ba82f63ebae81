"""Weights of several rankings of the same labels: those that put the gold labels highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.ranking import top_k

DEPTH = 5
"""The places that count: RP@5 and nDCG@5."""

CANDIDATES = 30
"""Best labels of each member that are looked at: what all members rank lower is left out."""

STEPS = (0.2, 0.1, 0.05)
"""How much weight is moved at a time."""

LEAST_GAIN = 5e-5
"""What a move must gain: less is chance."""


def best_weights(logits: Sequence[NDArray[np.float32]], gold: NDArray[np.bool_]) -> list[float]:
    """A weight for each member; they sum to one. Documents × labels of each member, and gold.

    From equal weights on, the move of weight from one member to another that gains most in the mean
    of RP@5 and nDCG@5 is made, until none gains; then with smaller moves. So a member that does not
    help ends with little or nothing, and a few thousand documents settle the few weights: nothing
    is drawn at random. Documents without a gold label say nothing.

    >>> right = np.array([[2, 1, 0, 0, 0, 0, 0]], dtype=np.float32)
    >>> wrong = np.array([[0, 0, 0, 1, 2, 3, 4]], dtype=np.float32)
    >>> best_weights([right, wrong], right > 0)
    [0.9, 0.1]
    """
    members = len(logits)
    weights = np.full(members, 1 / members)
    kept = gold.any(axis=1)
    if members == 1 or not kept.any():
        return [float(weight) for weight in weights]
    ranking = _Ranking.of([one[kept] for one in logits], gold[kept])
    figure = ranking.figure(weights)
    for step in STEPS:
        while True:
            moves = []
            for to, origin in permutations(range(members), 2):
                if (moved := min(step, weights[origin])) > 1e-9:
                    tried = weights.copy()
                    tried[to] += moved
                    tried[origin] -= moved
                    moves.append((ranking.figure(tried), tried))
            best, tried = max(moves, key=lambda move: move[0])
            if best <= figure + LEAST_GAIN:
                break
            figure, weights = best, tried
    return [round(float(weight), 6) for weight in weights]


@dataclass(frozen=True)
class _Ranking:
    """The candidates of each document, in label order; places that are left over rank last."""

    logits: NDArray[np.float64]  # documents × candidates × members
    gold: NDArray[np.bool_]  # documents × candidates
    filled: NDArray[np.bool_]  # documents × candidates
    relevant: NDArray[np.int64]  # (documents,) gold labels, at most DEPTH

    @classmethod
    def of(cls, logits: Sequence[NDArray[np.float32]], gold: NDArray[np.bool_]) -> _Ranking:
        among = np.zeros(gold.shape, dtype=bool)
        for one in logits:
            best = top_k(one, min(CANDIDATES, gold.shape[1]))
            np.put_along_axis(among, best, True, axis=1)
        widest = int(among.sum(axis=1).max())
        columns = np.argsort(~among, axis=1, kind="stable")[:, :widest]
        filled = np.take_along_axis(among, columns, axis=1)
        taken = [np.take_along_axis(one, columns, axis=1) for one in logits]
        return cls(
            np.stack(taken, axis=2).astype(np.float64),
            np.take_along_axis(gold, columns, axis=1) & filled,
            filled,
            np.minimum(gold.sum(axis=1), DEPTH),
        )

    def figure(self, weights: NDArray[np.float64]) -> float:
        """The mean of RP@5 and nDCG@5 of the weighted sum."""
        blended = np.where(self.filled, self.logits @ weights, -np.inf)
        ranked = np.argsort(-blended, axis=1, kind="stable")[:, :DEPTH]
        hits = np.take_along_axis(self.gold, ranked, axis=1)
        discounts = 1 / np.log2(np.arange(DEPTH) + 2)
        ideal = np.cumsum(discounts)[self.relevant - 1]
        gained = (hits * discounts[: hits.shape[1]]).sum(axis=1) / ideal
        return float((hits.sum(axis=1) / self.relevant + gained).mean() / 2)
