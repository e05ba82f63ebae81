"""Scores as chances: a curve for each group of labels, chosen on labelled documents.

A model says .1 of labels of which, on documents like those it was trained on, one in ten is right.
On other documents, newer ones say, it may be one in three. A curve turns the log-odds of a score
into those of the chance that the label is right. It only rises, so that the labels of a group keep
their order; labels that were often seen in training, seldom and never have a curve of their own,
for a model errs with each in another way.

Four kinds of curves are tried: the score as it is; Platt's line, a slope and an offset; the beta
curve (Kull, Silva Filho and Flach, 2017), which bends; and isotonic regression, which follows the
documents most closely and is the first to be misled by few of them. Which kind is taken, the
log-likelihood of documents decides that a curve was not fitted on.

A score of zero says that the model knows nothing of a label. It stays zero, and nothing is fitted
to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import GROUPS, Group
from labelwise.errors import LabelwiseError
from labelwise.evaluation.logistic_fit import Floats, logistic_fit
from labelwise.evaluation.odds import log_odds, sigmoid

VERSION = 1
"""Of what a bundle keeps."""

LOWEST, HIGHEST, WIDTH = -40.0, 17.0, 1 / 32
"""Log-odds are counted in bins of this width; float32 tells no probability above 17 from one."""
BINS = round((HIGHEST - LOWEST) / WIDTH)
MIDDLES: Floats = np.linspace(LOWEST, HIGHEST, BINS, endpoint=False) + WIDTH / 2

STEP_GOLD = 20
"""Gold labels that a step of isotonic regression has at least."""

HOLD = 1.0
"""How firmly a curve is kept near the score as it is: a group with a handful of gold labels moves
little, one with hundreds as if there were no hold."""


@dataclass(frozen=True)
class Curve:
    """From log-odds to log-odds, rising everywhere.

    >>> Curve("platt", (0.5, 1.0))(np.array([-2.0, 0.0, 2.0])).tolist()
    [0.0, 1.0, 2.0]
    """

    kind: str
    numbers: tuple[float, ...] = ()

    def __call__(self, logits: Floats) -> Floats:
        return _CURVES[self.kind](logits, self.numbers)


def _platt(logits: Floats, numbers: Sequence[float]) -> Floats:
    slope, offset = numbers
    return slope * logits + offset


def _beta(logits: Floats, numbers: Sequence[float]) -> Floats:
    *weights, offset = numbers
    bent: Floats = np.tensordot(np.array(weights), _both_logs(logits), axes=1) + offset
    return bent


def _both_logs(logits: Floats) -> Floats:
    """log p and -log(1 - p), whose sum the log-odds are: two × the shape of what is given."""
    return np.stack([-np.logaddexp(0, -logits), np.logaddexp(0, logits)])


def _isotonic(logits: Floats, numbers: Sequence[float]) -> Floats:
    """Straight between the knots; beyond the first and the last one as steep as the score is."""
    at, to = np.split(np.array(numbers), 2)
    beyond = np.minimum(logits - at[0], 0) + np.maximum(logits - at[-1], 0)
    return np.asarray(np.interp(logits, at, to) + beyond, dtype=np.float64)


_CURVES: Mapping[str, Callable[[Floats, Sequence[float]], Floats]] = {
    "as it is": lambda logits, _: logits,
    "platt": _platt,
    "beta": _beta,
    "isotonic": _isotonic,
}
KINDS = tuple(_CURVES)
"""Simple ones first: of two that do as well the simpler is taken."""


@dataclass(frozen=True)
class Certificate:
    """A score above which labels are right at least so often, as documents have shown that no
    curve was fitted on (``certified``)."""

    precision: float
    threshold: float


@dataclass(frozen=True)
class Calibration:
    """A curve for each group, and the certificates that go with the scores it gives."""

    curves: Mapping[Group, Curve]
    certificates: tuple[Certificate, ...] = ()
    record: str = ""
    """Where in the folder of results it is written what documents held out say of it."""

    def __call__(
        self, scores: NDArray[np.float32], groups: Mapping[Group, slice]
    ) -> NDArray[np.float32]:
        """Documents × labels: the chance that a label is right."""
        found = np.empty_like(scores)
        for group, part in groups.items():
            given = scores[:, part]
            with np.errstate(over="ignore"):
                chances = sigmoid(self.curves[group](log_odds(given)))
            found[:, part] = np.where(given > 0, chances, 0)
        return found

    def threshold(self, precision: float) -> float:
        """The score above which labels are right at least so often."""
        for one in self.certificates:
            if one.precision == precision:
                return one.threshold
        there = ", ".join(f"{one.precision:g}" for one in self.certificates) or "none"
        raise LabelwiseError(
            f"a precision of {precision:g} is not certified for this model; certified are: {there}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "record": self.record,
            "curves": {
                group: {"kind": curve.kind, "numbers": list(curve.numbers)}
                for group, curve in self.curves.items()
            },
            "certified": [[one.precision, one.threshold] for one in self.certificates],
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Calibration:
        if written["version"] != VERSION:
            raise LabelwiseError(
                f"the calibration has version {written['version']}, and this labelwise reads "
                f"version {VERSION}: calibrate the model again"
            )
        curves = written["curves"]
        return cls(
            {
                group: Curve(
                    str(curves[group]["kind"]), tuple(map(float, curves[group]["numbers"]))
                )
                for group in GROUPS
            },
            tuple(Certificate(float(p), float(t)) for p, t in written["certified"]),
            str(written["record"]),
        )


@dataclass(frozen=True, eq=False)
class Tally:
    """How many labels scored so, in bins of log-odds, and how many of them are gold."""

    every: Floats  # (BINS,)
    gold: Floats  # (BINS,)

    @classmethod
    def of(cls, scores: NDArray[np.float32], gold: NDArray[np.bool_]) -> Tally:
        told = scores > 0
        at = ((log_odds(scores[told]) - LOWEST) / WIDTH).astype(np.int64).clip(0, BINS - 1)
        every = np.bincount(at, minlength=BINS).astype(np.float64)
        return cls(every, np.bincount(at[gold[told]], minlength=BINS).astype(np.float64))

    @classmethod
    def sum(cls, some: Iterable[Tally]) -> Tally:
        every, gold = np.sum([(one.every, one.gold) for one in some], axis=0)
        return cls(every, gold)

    def loss(self, curve: Curve) -> float:
        """Minus the log-likelihood under a curve."""
        z = curve(MIDDLES)
        return float(self.every @ np.logaddexp(0, z) - self.gold @ z)


def best_curve(folds: Sequence[Tally]) -> Curve:
    """Of the kind that serves documents best which it was not fitted on, fitted on all."""
    every = Tally.sum(folds)
    if not every.every.any():
        return Curve("as it is")
    losses = {}
    for kind in KINDS:
        held_out = [
            (fold, fitted(kind, Tally.sum(one for one in folds if one is not fold)))
            for fold in folds
        ]
        losses[kind] = sum(fold.loss(curve) for fold, curve in held_out)
    return fitted(min(KINDS, key=losses.__getitem__), every)


def fitted(kind: str, tally: Tally) -> Curve:
    """A curve of this kind; a simpler one where it would fall somewhere."""
    match kind:
        case "platt":
            found = _fitted_line(tally)
            return Curve(kind, found) if found[0] > 0 else Curve("as it is")
        case "beta":
            found = _fitted_beta(tally)
            return Curve(kind, found) if min(found[:2]) > 0 else fitted("platt", tally)
        case "isotonic":
            found = _fitted_isotonic(tally)
            return Curve(kind, found) if found else fitted("platt", tally)
        case _:
            return Curve(kind)


def _fitted_line(tally: Tally) -> tuple[float, ...]:
    design = np.stack([MIDDLES, np.ones(BINS)])
    found = logistic_fit(design, tally.every, tally.gold, np.array([1.0, 0.0]), hold=HOLD)
    return tuple(found.tolist())


def _fitted_beta(tally: Tally) -> tuple[float, ...]:
    design = np.vstack([_both_logs(MIDDLES), np.ones(BINS)])
    found = logistic_fit(design, tally.every, tally.gold, np.array([1.0, 1.0, 0.0]), hold=HOLD)
    return tuple(found.tolist())


def _fitted_isotonic(tally: Tally) -> tuple[float, ...]:
    """The knots: the log-odds of the steps' middles, then what they become. None where there are
    none but gold labels, or no gold ones."""
    from scipy.optimize import isotonic_regression

    there = tally.every > 0
    every, gold, middles = tally.every[there], tally.gold[there], MIDDLES[there]
    levels = isotonic_regression(gold / every, weights=every).x
    if not gold.any():
        return ()
    # Steps of so many gold labels each, the last with others among them: of fewer, or of nothing
    # but gold ones, the share is hardly known.
    starts = [0]
    for at in (np.flatnonzero(np.diff(levels)) + 1).tolist():
        enough = gold[starts[-1] : at].sum() >= STEP_GOLD and gold[at:].sum() >= STEP_GOLD
        if enough and levels[at] < 1:
            starts.append(at)
    step = np.searchsorted(starts, np.arange(len(levels)), side="right") - 1
    n, right = np.bincount(step, every), np.bincount(step, gold)
    if (right == n).any():
        return ()
    places, become = np.bincount(step, every * middles) / n, np.log(right) - np.log(n - right)
    return (*places.tolist(), *become.tolist())
