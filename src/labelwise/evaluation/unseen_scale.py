"""Seen and unseen labels in one list: where the unseen ones belong among the others.

A model that was never told of a label scores it too low among those that it learned, or too high:
the two are not on one scale. Two numbers put them there (calibrated stacking, as the literature on
generalised zero-shot learning calls it): the log-odds of every unseen label are multiplied by a
slope, and an offset is added. The ranking of the unseen labels among themselves stays as it is.

They are chosen on dev documents by models from which labels were hidden (``corpus.hidden``), so
that many unseen labels are gold somewhere: which slope, and how much the seen labels should lose to
the unseen ones. The offset of another model is then the one at which its own seen labels lose as
much; that can be told without a single document of its unseen labels, whatever its scale is.

Hidden are many more labels at a time than really are unseen, and each one may push a seen label out
of the list: so they are looked at in parts as large as the number of labels that really are unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation.counts import DEPTH
from labelwise.evaluation.odds import log_odds, sigmoid
from labelwise.evaluation.ranking import top_k


@dataclass(frozen=True)
class Loss:
    """What the seen labels lose to the unseen ones, against a list without those."""

    rp5: float
    r10: float

    def within(self, most: Loss) -> bool:
        return self.rp5 <= most.rp5 and self.r10 <= most.r10

    def share(self, of: float) -> Loss:
        return Loss(of * self.rp5, of * self.r10)


MOST_LOST = Loss(rp5=0.003, r10=0.02)
"""What may be lost. RP@5 alone would let unseen labels fill the places from six to ten of every
document, likely or not."""

SLOPES = tuple(float(2 ** (step / 2)) for step in range(-8, 5))
"""What is tried: from 1/16 to 4."""

OFFSETS = (-40.0, 40.0)
STEPS = 15
"""Halvings of the offsets that are looked through: to a few thousandths."""

SHARES = (1.0, 0.5, 0.2, 0.05)
"""Of what may be lost, what is tried."""


@dataclass(frozen=True)
class UnseenScale:
    """From the score of an unseen label to one on the scale of the seen labels.

    >>> UnseenScale(slope=0.5, offset=1.0)(np.array([0.5, 0.9], dtype=np.float32)).round(3)
    array([0.731, 0.891], dtype=float32)
    """

    slope: float
    offset: float

    def __call__(self, scores: NDArray[Any]) -> NDArray[np.float32]:
        return self.of_log_odds(log_odds(scores))

    def of_log_odds(self, logits: NDArray[np.float64]) -> NDArray[np.float32]:
        return sigmoid(self.slope * logits + self.offset).astype(np.float32)


@dataclass(frozen=True)
class Placed:
    """A scale, and what it does to the one list of the documents it was chosen on."""

    scale: UnseenScale
    allowed: Loss
    """What it was made to lose at most, to be allowed to another model too."""
    lost: Loss
    seen: float
    """R@10 of the seen gold labels."""
    unseen: float
    """Share of its documents in whose top ten an unseen label stands, mean over the labels that are
    gold somewhere; zero where none is."""

    @property
    def harmonic_mean(self) -> float:
        total = self.seen + self.unseen
        return 2 * self.seen * self.unseen / total if total else 0.0


@dataclass(frozen=True, eq=False)
class Lists:
    """The best seen and the best unseen labels of D documents, all that one list is made of."""

    seen: NDArray[np.float32]  # (D, 10) scores, best first
    seen_is_gold: NDArray[np.bool_]  # (D, 10)
    seen_gold: NDArray[np.int64]  # (D,) gold labels that were seen
    unseen: NDArray[np.float64]  # (D, 10) log-odds, best first
    unseen_is_gold: NDArray[np.bool_]  # (D, 10)
    columns: NDArray[np.int64]  # (D, 10) which of the unseen labels
    unseen_gold: NDArray[np.int64]  # (U,) documents that carry each unseen label

    def hits(self, scale: UnseenScale, k: int) -> NDArray[np.int64]:
        """(D,) seen gold labels in the top k of the one list."""
        placed = scale.of_log_odds(self.unseen[:, :k])
        above = (placed[:, None, :] > self.seen[:, :k, None]).sum(2)  # (D, k): ties go to the seen
        found: NDArray[np.int64] = (self.seen_is_gold[:, :k] & (np.arange(k) + above < k)).sum(1)
        return found

    def lost(self, scale: UnseenScale) -> Loss:
        """What the seen labels lose, mean over the documents that carry one."""
        rp5 = self.seen_is_gold[:, :5].sum(1) - self.hits(scale, 5)
        r10 = self.seen_is_gold.sum(1) - self.hits(scale, DEPTH)
        return Loss(self._mean(rp5, np.minimum(self.seen_gold, 5)), self._mean(r10, self.seen_gold))

    def seen_recall(self, scale: UnseenScale) -> float:
        """R@10 of the seen gold labels in the one list."""
        return self._mean(self.hits(scale, DEPTH), self.seen_gold)

    def _mean(self, found: NDArray[np.int64], relevant: NDArray[np.int64]) -> float:
        kept = relevant > 0
        return float((found[kept] / relevant[kept]).mean()) if kept.any() else 0.0

    def unseen_recall(self, scale: UnseenScale) -> NDArray[np.float64]:
        """Of each unseen label that is gold somewhere, the share of its documents that list it."""
        placed = scale.of_log_odds(self.unseen)
        above = (self.seen[:, None, :] >= placed[:, :, None]).sum(2)  # (D, 10)
        hits = self.unseen_is_gold & (np.arange(DEPTH) + above < DEPTH)
        found = np.bincount(self.columns[hits], minlength=len(self.unseen_gold))
        there = self.unseen_gold > 0
        shares: NDArray[np.float64] = found[there] / self.unseen_gold[there]
        return shares


def lists_of(
    scores: NDArray[np.float32], gold: Any, space: LabelSpace, parts: int = 1
) -> list[Lists]:
    """The one list of each document, with the unseen labels in so many parts of like size."""
    zero = space.groups["zero"].start
    is_gold = gold.toarray() > 0
    best = top_k(scores[:, :zero], DEPTH)
    seen = _taken(scores[:, :zero], best, np.float32(-1))
    seen_is_gold = _taken(is_gold[:, :zero], best, False)
    seen_gold = is_gold[:, :zero].sum(1)
    made = []
    for part in range(parts):
        columns = np.arange(zero + part, len(space), parts)
        of_part, its_gold = scores[:, columns], is_gold[:, columns]
        best = top_k(of_part, DEPTH)
        made.append(
            Lists(
                seen,
                seen_is_gold,
                seen_gold,
                _taken(log_odds(of_part), best, -np.inf),
                _taken(its_gold, best, False),
                np.maximum(best, 0),
                its_gold.sum(0),
            )
        )
    return made


def choose_scale(
    lists: Sequence[Lists], *, slopes: Sequence[float] = SLOPES, most_lost: Loss = MOST_LOST
) -> Placed:
    """The scale with the highest harmonic mean of what is found of seen and of unseen labels.

    The seen labels lose no more than is allowed. Each unseen label counts the same: of those hidden
    some stand in hundreds of documents, of the real ones none does.
    """
    if not any(one.unseen_gold.any() for one in lists):
        raise LabelwiseError("none of the documents carries an unseen label: nothing to choose by")
    tried = [placed(lists, slope, most_lost.share(of)) for slope in slopes for of in SHARES]
    return max(tried, key=lambda one: one.harmonic_mean)


def placed(lists: Sequence[Lists], slope: float, allowed: Loss) -> Placed:
    """The highest offset at which the seen labels lose no more than this, and what it does."""
    low, high = OFFSETS
    for _ in range(STEPS):  # a higher offset never takes less
        middle = (low + high) / 2
        if _lost(lists, UnseenScale(slope, middle)).within(allowed):
            low = middle
        else:
            high = middle
    return described(lists, UnseenScale(slope, low), allowed)


def described(lists: Sequence[Lists], scale: UnseenScale, allowed: Loss = MOST_LOST) -> Placed:
    """What a scale does."""
    unseen = np.concatenate([one.unseen_recall(scale) for one in lists])
    return Placed(
        scale,
        allowed,
        lost=_lost(lists, scale),
        seen=float(np.mean([one.seen_recall(scale) for one in lists])),
        unseen=float(unseen.mean()) if len(unseen) else 0.0,
    )


def _lost(lists: Sequence[Lists], scale: UnseenScale) -> Loss:
    """The mean over lists."""
    losses = [one.lost(scale) for one in lists]
    rp5, r10 = ([getattr(one, name) for one in losses] for name in ("rp5", "r10"))
    return Loss(float(np.mean(rp5)), float(np.mean(r10)))


def _taken(values: NDArray[Any], columns: NDArray[np.int64], nothing: Any) -> NDArray[Any]:
    """The values at these columns of each row; -1 is no column."""
    if not values.shape[1]:
        return np.full(columns.shape, nothing)
    found = np.take_along_axis(values, np.maximum(columns, 0), axis=1)
    return np.where(columns >= 0, found, nothing)
