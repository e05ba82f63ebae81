"""Whether scores are chances: of the labels that score .3, three in ten should be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.odds import HIGHEST, LOWEST
from labelwise.evaluation.ranking import top_k

SHOWN = 5
"""Of the best labels of each document it is asked whether their scores are chances: they are what
people see. Over all labels the thousands that are rightly near zero would hide any error."""

STEPS = 10
"""Bins of the shown labels, by score, as many labels in each."""


@dataclass(frozen=True)
class Bin:
    """Labels of about the same score: how many, their mean score, what share of them is gold."""

    labels: int
    score: float
    gold: float


@dataclass(frozen=True)
class Reliability:
    """How far scores are from chances, over labels that do not score zero."""

    log_loss: float
    """The sum over the labels of a document, the mean over documents."""
    brier: float
    """Squared differences, in the same way."""
    ece: float
    """The mean difference of score and share of gold in the bins."""
    bins: tuple[Bin, ...]
    """Of the shown labels, from low scores to high."""


def reliability(scores: NDArray[np.float32], gold: NDArray[np.bool_]) -> Reliability:
    """Of documents × labels."""
    told = scores > 0
    p = scores[told].astype(np.float64).clip(LOWEST, HIGHEST)
    right = gold[told]
    loss = -(np.log(p[right]).sum() + np.log1p(-p[~right]).sum())
    found = bins_of(scores, gold)
    shown = sum(one.labels for one in found)
    return Reliability(
        log_loss=float(loss / len(scores)),
        brier=float(((p - right) ** 2).sum() / len(scores)),
        ece=sum(one.labels * abs(one.score - one.gold) for one in found) / max(shown, 1),
        bins=found,
    )


def bins_of(scores: NDArray[np.float32], gold: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """The shown labels of each document, sorted by score and cut into bins of like size."""
    best = top_k(scores, min(SHOWN, scores.shape[1]))
    p = np.take_along_axis(scores, best, axis=1).ravel()
    right = np.take_along_axis(gold, best, axis=1).ravel()[p > 0]
    p = p[p > 0]
    order = np.argsort(p, kind="stable")
    return tuple(
        Bin(len(some), float(p[some].mean()), float(right[some].mean()))
        for some in np.array_split(order, STEPS)
        if len(some)
    )
