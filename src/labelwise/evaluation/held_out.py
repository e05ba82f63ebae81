"""What a calibration does to documents that it was not fitted on: the folds of a labelled file.

The documents are cut into five folds. Each fold gets its scores from curves that the other four
chose and fitted, and its labels by a threshold that they tuned. All figures follow from these; the
calibration that is kept is fitted in the same way on all documents.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import Group, LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation.calibration import Calibration, Certificate, Curve, Tally, best_curve
from labelwise.evaluation.certified import LEVELS, Certified, certify_all
from labelwise.evaluation.expected_precision import kept_at
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.ranking import top_k
from labelwise.evaluation.reliability import Reliability, reliability
from labelwise.evaluation.threshold import tune_threshold

FOLDS = 5
AT_LEAST = (0, 1, 3)
"""How many labels a document gets at least, whatever the threshold."""

DEEPEST = 100
"""Labels of a document that may be kept while their expected precision is high enough."""

Scores = NDArray[np.float32]
Gold = NDArray[np.bool_]


@dataclass(frozen=True)
class Assigned:
    """The labels that documents were given, over all of them: how many, and how many are right."""

    precision: float
    recall: float
    f1: float
    labels: float
    """A document."""
    without: int
    """Documents that got none."""

    @classmethod
    def of(cls, given: Gold, gold: Gold) -> Assigned:
        hits, labels, relevant = int((given & gold).sum()), int(given.sum()), int(gold.sum())
        return cls(
            precision=hits / max(labels, 1),
            recall=hits / max(relevant, 1),
            f1=2 * hits / max(labels + relevant, 1),
            labels=labels / len(given),
            without=int((~given.any(axis=1)).sum()),
        )


@dataclass(frozen=True)
class HeldOut:
    """A calibration, and what was measured on documents that had no part in theirs."""

    calibration: Calibration
    threshold: float
    rp5: Mapping[str, float]
    """Before and after."""
    reliability: Mapping[str, Mapping[str, Reliability]]
    """Before and after, of each group and of all labels."""
    assigned: Mapping[str, Mapping[str, Assigned]]
    """By the threshold before, by one that these documents tuned, and by that of the calibrated
    scores; of each, with so many labels at least."""
    expected: Mapping[str, Assigned]
    """What documents get where labels are kept while their expected precision is at least so."""
    certified: Sequence[Certified]

    def to_json(self) -> dict[str, Any]:
        return {
            "calibration": self.calibration.to_json(),
            "threshold": self.threshold,
            **{
                name: _plain(getattr(self, name))
                for name in ("rp5", "reliability", "assigned", "expected", "certified")
            },
        }


def calibrate(
    scores: Scores, gold: Gold, space: LabelSpace, *, threshold: float, record: str
) -> HeldOut:
    """Choose curves and threshold on labelled documents; measure both on folds of them.

    ``threshold`` is the one that the scores had before, ``record`` where all this is
    written.
    """
    if len(scores) < 2 * FOLDS:
        raise LabelwiseError(
            f"{len(scores)} documents are too few to calibrate on: {2 * FOLDS} or more are needed"
        )
    fold = np.random.default_rng(0).permutation(len(scores)) % FOLDS
    after = np.empty_like(scores)
    tuned, ours = np.zeros_like(gold), np.zeros_like(gold)
    for held in range(FOLDS):
        here, rest = fold == held, fold != held
        own = Calibration(_curves(scores[rest], gold[rest], space, fold[rest]))
        given = own(scores, space.groups)
        after[here] = given[here]
        ours[here] = given[here] > tune_threshold(given[rest], gold[rest])
        tuned[here] = scores[here] > tune_threshold(scores[rest], gold[rest])
    final = Calibration(_curves(scores, gold, space, fold))
    certified = certify_all(after, gold)
    certificates = tuple(Certificate(one.level, one.threshold) for one in certified)
    return HeldOut(
        Calibration(final.curves, certificates, record),
        tune_threshold(final(scores, space.groups), gold),
        rp5={
            when: evaluate(of, gold, space)["all"]["RP@5"]
            for when, of in (("before", scores), ("after", after))
        },
        reliability={
            "before": _by_group(scores, gold, space),
            "after": _by_group(after, gold, space),
        },
        assigned={
            "before": _with_best(scores > threshold, scores, gold),
            "tuned": _with_best(tuned, scores, gold),
            "after": _with_best(ours, after, gold),
        },
        expected={f"{level:g}": _expected(level, after, gold) for level in LEVELS},
        certified=certified,
    )


def _curves(
    scores: Scores, gold: Gold, space: LabelSpace, fold: NDArray[np.int64]
) -> dict[Group, Curve]:
    """The curve of each group, of the kind that the folds of these documents choose."""
    folds = [(scores[fold == one], gold[fold == one]) for one in np.unique(fold)]
    return {
        group: best_curve([Tally.of(some[:, part], its[:, part]) for some, its in folds])
        for group, part in space.groups.items()
    }


def _by_group(scores: Scores, gold: Gold, space: LabelSpace) -> dict[str, Reliability]:
    parts = {"all": slice(None)} | {str(group): part for group, part in space.groups.items()}
    return {
        name: reliability(scores[:, part], gold[:, part])
        for name, part in parts.items()
        if scores[:, part].any()
    }


def _with_best(given: Gold, scores: Scores, gold: Gold) -> dict[str, Assigned]:
    """The same labels, and as many of the best ones as each document gets at least."""
    best, found = _best(scores, max(AT_LEAST)), {}
    for least in AT_LEAST:
        wider = given.copy()
        np.put_along_axis(wider, best[:, :least], True, axis=1)
        found[str(least)] = Assigned.of(wider, gold)
    return found


def _best(scores: Scores, k: int) -> NDArray[np.int64]:
    return top_k(scores, min(k, scores.shape[1]))


def _expected(precision: float, chances: Scores, gold: Gold) -> Assigned:
    best = _best(chances, DEEPEST)
    kept = kept_at(precision, np.take_along_axis(chances, best, axis=1))
    given = np.zeros_like(gold)
    np.put_along_axis(given, best, np.arange(best.shape[1]) < kept[:, None], axis=1)
    return Assigned.of(given, gold)


def _plain(value: Any) -> Any:
    """Dataclasses as dictionaries, however deep."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
