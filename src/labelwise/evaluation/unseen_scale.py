"""Seen and unseen labels in one list: where the unseen ones belong among the others.

A model that was never told of a label scores it too low among those that it learned, or too high:
the two are not on one scale. Two numbers put them there (calibrated stacking, as the literature on
generalised zero-shot learning calls it): the log-odds of every unseen label are multiplied by a
slope, and an offset is added. The ranking of the unseen labels among themselves stays as it is.

The numbers are chosen on dev documents by models from which labels were hidden (``corpus.hidden``),
so that many unseen labels are gold somewhere. Hidden are many more labels at a time than really are
unseen, and each one may push a seen label out of the list: so they are looked at in parts as large
as the number of labels that really are unseen.
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
from labelwise.evaluation.ranking import top_k

MOST_LOST = 0.003
"""What the seen labels may lose of their RP@5 to the unseen ones."""

SLOPES = tuple(float(2 ** (step / 2)) for step in range(-8, 5))
"""What is tried: from 1/16 to 4."""

OFFSETS = (-40.0, 40.0)
STEPS = 16
"""Halvings of the offsets that are looked through: to a thousandth."""

BELOW = tuple(step / 2 for step in range(13))
"""Offsets that are tried, so far below the highest one that is allowed."""

PLACES = 5
"""The places that seen labels may not lose: those of RP@5."""


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
        with np.errstate(over="ignore"):
            placed = 1 / (1 + np.exp(-(self.slope * logits + self.offset)))
        return placed.astype(np.float32)


@dataclass(frozen=True)
class Placed:
    """A scale, and what it does to the one list of the documents it was chosen on."""

    scale: UnseenScale
    lost: float
    """Of the seen labels' RP@5, against a list without the unseen ones."""
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

    def lost(self, scale: UnseenScale) -> float:
        """What the seen labels lose of their RP@5."""
        kept = self.seen_gold > 0
        score, best = self.seen[kept, :PLACES], self.unseen[kept, :PLACES]
        above = (scale.of_log_odds(best)[:, None, :] > score[:, :, None]).sum(2)  # (D, 5)
        pushed_out = np.arange(PLACES) + above >= PLACES
        hits = (self.seen_is_gold[kept, :PLACES] & pushed_out).sum(1)
        return float((hits / np.minimum(self.seen_gold[kept], PLACES)).mean())

    def seen_recall(self, scale: UnseenScale) -> float:
        """R@10 of the seen gold labels in the one list."""
        kept = self.seen_gold > 0
        placed = scale.of_log_odds(self.unseen[kept])
        above = (placed[:, None, :] > self.seen[kept][:, :, None]).sum(2)  # (D, 10)
        hits = (self.seen_is_gold[kept] & (np.arange(DEPTH) + above < DEPTH)).sum(1)
        return float((hits / self.seen_gold[kept]).mean())

    def unseen_recall(self, scale: UnseenScale) -> NDArray[np.float64]:
        """Of each unseen label that is gold somewhere, the share of its documents that list it."""
        placed = scale.of_log_odds(self.unseen)
        above = (self.seen[:, None, :] >= placed[:, :, None]).sum(2)  # (D, 10): ties go to the seen
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
    lists: Sequence[Lists], *, slopes: Sequence[float] = SLOPES, most_lost: float = MOST_LOST
) -> Placed:
    """The scale with the highest harmonic mean of what is found of seen and of unseen labels.

    The seen labels lose no more than ``most_lost`` of their RP@5. Each unseen label counts the
    same: of those hidden some stand in hundreds of documents, of the real ones none does.
    """
    if not any(one.unseen_gold.any() for one in lists):
        raise LabelwiseError("none of the documents carries an unseen label: nothing to choose by")
    best: Placed | None = None
    for slope in slopes:
        highest = highest_offset(lists, slope, most_lost)
        for below in BELOW:
            found = placed(lists, UnseenScale(slope, highest - below))
            if best is None or found.harmonic_mean > best.harmonic_mean:
                best = found
    assert best is not None
    return best


def placed(lists: Sequence[Lists], scale: UnseenScale) -> Placed:
    """What a scale does."""
    unseen = np.concatenate([one.unseen_recall(scale) for one in lists])
    return Placed(
        scale,
        lost=float(np.mean([one.lost(scale) for one in lists])),
        seen=float(np.mean([one.seen_recall(scale) for one in lists])),
        unseen=float(unseen.mean()) if len(unseen) else 0.0,
    )


def highest_offset(lists: Sequence[Lists], slope: float, most_lost: float = MOST_LOST) -> float:
    """The highest offset at which the seen labels lose no more: a higher one never loses less."""
    low, high = OFFSETS
    for _ in range(STEPS):
        middle = (low + high) / 2
        if np.mean([one.lost(UnseenScale(slope, middle)) for one in lists]) <= most_lost:
            low = middle
        else:
            high = middle
    return low


def log_odds(scores: NDArray[Any]) -> NDArray[np.float64]:
    """log(p / (1 - p)), as far as float32 can tell p from zero and one."""
    p = scores.astype(np.float64).clip(1e-37, 1 - 1e-7)
    odds: NDArray[np.float64] = np.log(p) - np.log1p(-p)
    return odds


def _taken(values: NDArray[Any], columns: NDArray[np.int64], nothing: Any) -> NDArray[Any]:
    """The values at these columns of each row; -1 is no column."""
    if not values.shape[1]:
        return np.full(columns.shape, nothing)
    found = np.take_along_axis(values, np.maximum(columns, 0), axis=1)
    return np.where(columns >= 0, found, nothing)
