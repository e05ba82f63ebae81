"""Curves from scores to chances: they find the truth, keep the order, and stay modest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labelwise.corpus.labels import GROUPS, LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation.calibration import (
    MIDDLES,
    Calibration,
    Certificate,
    Curve,
    Tally,
    best_curve,
    fitted,
)

SPACE = LabelSpace.from_counts({"a": 60, "b": 70, "c": 3, "d": 4, "e": 0})


def sigmoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-z))


def folds(truth: Curve, labels: int, seed: int = 0) -> list[Tally]:
    """Five folds of labels whose chances follow a curve."""
    draws = np.random.default_rng(seed)
    found = []
    for _ in range(5):
        z = draws.normal(-2, 2, (1, labels // 5))
        gold = draws.random(z.shape) < sigmoid(truth(z))
        found.append(Tally.of(sigmoid(z).astype(np.float32), gold))
    return found


def furthest(curve: Curve, truth: Curve) -> float:
    """The largest difference of chances where the labels are."""
    z = MIDDLES[(MIDDLES > -5) & (MIDDLES < 1)]
    return float(np.abs(sigmoid(curve(z)) - sigmoid(truth(z))).max())


@pytest.mark.parametrize(
    "truth",
    [
        Curve("platt", (0.5, 1.0)),
        Curve("beta", (0.4, 1.5, -0.5)),
        Curve("isotonic", (-6.0, -3.0, -2.0, 1.0, -5.0, -4.5, 0.5, 1.0)),
    ],
    ids=lambda curve: curve.kind,
)
def test_the_curve_that_made_the_labels_is_found(truth: Curve) -> None:
    found = best_curve(folds(truth, 50_000))
    assert furthest(found, truth) < 0.05 < furthest(Curve("as it is"), truth)


def test_steps_are_found_by_steps_alone() -> None:
    truth = Curve("isotonic", (-6.0, -3.0, -2.0, 1.0, -5.0, -4.5, 0.5, 1.0))
    assert best_curve(folds(truth, 50_000)).kind == "isotonic"


@pytest.mark.parametrize("seed", range(4))
def test_the_kind_is_chosen_by_labels_that_it_was_not_fitted_on(seed: int) -> None:
    """A curve of more numbers follows those that it was fitted on more closely than the truth."""
    some = folds(Curve("platt", (0.5, 1.0)), 5_000, seed)
    every, best = Tally.sum(some), best_curve(some)
    assert best == fitted("platt", every)
    assert min(every.loss(fitted(kind, every)) for kind in ("beta", "isotonic")) < every.loss(best)


def test_a_step_rests_on_twenty_gold_labels() -> None:
    draws = np.random.default_rng(0)
    scores = draws.beta(0.5, 2, (1, 2000)).astype(np.float32)
    tally = Tally.of(scores, draws.random(scores.shape) < scores)
    steps = len(fitted("isotonic", tally).numbers) // 2
    assert 5 < steps <= tally.gold.sum() / 20


def test_a_handful_of_gold_labels_moves_a_curve_little() -> None:
    """Ten labels of the chance .5, none of them gold, do not make the chance nothing."""
    tally = Tally.of(np.full((1, 10), 0.5, dtype=np.float32), np.zeros((1, 10), dtype=bool))
    for kind in ("platt", "beta", "isotonic"):
        assert 0.05 < sigmoid(fitted(kind, tally)(np.zeros(1)))[0] < 0.5


def test_scores_that_say_nothing_stay_as_they_are() -> None:
    nothing = [Tally.of(np.zeros((2, 3), dtype=np.float32), np.ones((2, 3), dtype=bool))] * 5
    assert best_curve(nothing) == Curve("as it is")


def test_a_curve_that_would_fall_is_not_taken() -> None:
    """Gold labels that score lower than the others are a reason to doubt, not to turn over."""
    scores = np.array([[0.9] * 50 + [0.1] * 50], dtype=np.float32)
    tally = Tally.of(scores, scores < 0.5)
    for kind in ("platt", "beta", "isotonic"):
        assert np.all(np.diff(fitted(kind, tally)(MIDDLES)) > 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["platt", "beta", "isotonic"]))
def test_every_fitted_curve_rises_everywhere(seed: int, kind: str) -> None:
    draws = np.random.default_rng(seed)
    scores = draws.beta(0.2, 2, (4, 50)).astype(np.float32)
    gold = draws.random(scores.shape) < draws.random()
    assert np.all(np.diff(fitted(kind, Tally.of(scores, gold))(MIDDLES)) > 0)


def test_labels_keep_their_order_within_a_group_and_zero_stays_zero() -> None:
    calibration = Calibration(
        {
            "frequent": Curve("platt", (0.3, 2.0)),
            "few": Curve("beta", (0.5, 0.2, -1.0)),
            "zero": Curve("isotonic", (-3.0, 0.0, -6.0, -1.0)),
        }
    )
    scores = np.random.default_rng(0).random((200, 5)).astype(np.float32)
    scores[0] = 0
    found = calibration(scores, SPACE.groups)
    assert found.dtype == np.float32
    assert not found[0].any()
    assert (found[1:] > 0).all()
    for part in SPACE.groups.values():
        before, after = scores[:, part].ravel(), found[:, part].ravel()
        assert np.all(np.diff(after[np.argsort(before)]) >= 0)
    z = np.log(scores[1:, :2].astype(np.float64)) - np.log1p(-scores[1:, :2].astype(np.float64))
    np.testing.assert_allclose(found[1:, :2], sigmoid(0.3 * z + 2), rtol=1e-4)


def test_a_calibration_is_written_and_read_again() -> None:
    curves = {group: Curve("platt", (1.5, -0.25)) for group in GROUPS}
    one = Calibration(curves, (Certificate(0.9, 0.71),), "acts/svm/calibration-seed-0.json")
    assert Calibration.from_json(one.to_json()) == one
    assert one.threshold(0.9) == 0.71
    with pytest.raises(LabelwiseError, match=r"0.95 is not certified .* certified are: 0.9"):
        one.threshold(0.95)
    with pytest.raises(LabelwiseError, match=r"version 2.* calibrate the model again"):
        Calibration.from_json(one.to_json() | {"version": 2})
