"""The tuned threshold is the best of all thresholds."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp
from evaluation_cases import Example
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelwise.errors import LabelwiseError
from labelwise.evaluation import measures
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.threshold import tune_threshold

SHAPE = (4, 9)


def micro_f1(scores: np.ndarray, gold: np.ndarray, threshold: float) -> float:
    predicted = scores > np.float32(threshold)
    return float(2 * (predicted & gold).sum() / (predicted.sum() + gold.sum()))


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(
        np.float32, SHAPE, elements=st.integers(-4, 4).map(float) | st.floats(0, 1, width=32)
    ),
    hnp.arrays(np.bool_, SHAPE),
)
def test_no_threshold_is_better(scores: np.ndarray, gold: np.ndarray) -> None:
    assume(gold.any())
    found = micro_f1(scores, gold, tune_threshold(scores, gold))
    below_each = np.nextafter(np.unique(scores), np.float32(-np.inf))
    assert found == pytest.approx(max(micro_f1(scores, gold, t) for t in below_each))


def test_the_tuned_threshold_shows_in_the_figures(worked_example: Example) -> None:
    threshold = tune_threshold(worked_example.scores, sp.csr_matrix(worked_example.gold))
    found = evaluate(
        worked_example.scores, worked_example.gold, worked_example.space, tuned_threshold=threshold
    )
    assert found["all"]["micro-F1 tuned"] > found["all"]["micro-F1"]
    gold = worked_example.gold.astype(bool)
    assert found["all"]["micro-F1 tuned"] == micro_f1(worked_example.scores, gold, threshold)


def test_of_thresholds_that_are_as_good_the_highest_is_taken() -> None:
    scores = np.array([[0.9, 0.7, 0.6, 0.5]], dtype=np.float32)
    gold = np.array([[1, 0, 0, 1]], dtype=bool)
    assert micro_f1(scores, gold, 0.8) == micro_f1(scores, gold, 0.4)
    assert tune_threshold(scores, gold) == pytest.approx(0.8)


def test_the_threshold_lies_half_way_to_the_next_score() -> None:
    scores = np.array([[3.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]], dtype=np.float32)
    gold = np.array([[1, 1, 0, 0], [1, 0, 0, 0]])
    assert tune_threshold(scores, gold) == 0.5


@pytest.mark.parametrize("lower", [-np.inf, np.nextafter(np.float32(1), np.float32(0))])
def test_neighbouring_and_infinite_scores_are_still_told_apart(lower: float) -> None:
    scores = np.array([[1.0, lower]], dtype=np.float32)
    threshold = tune_threshold(scores, np.array([[1, 0]]))
    assert np.isfinite(threshold)
    assert (scores > np.float32(threshold)).tolist() == [[True, False]]


def test_blocks_of_documents_change_nothing(
    worked_example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tune_threshold(worked_example.scores, worked_example.gold)
    monkeypatch.setattr(measures, "BLOCK", 10)
    assert tune_threshold(worked_example.scores, worked_example.gold) == whole


def test_wrong_input_is_named(worked_example: Example) -> None:
    with pytest.raises(LabelwiseError, match="no gold label"):
        tune_threshold(worked_example.scores, np.zeros((5, 10)))
    with pytest.raises(LabelwiseError, match=r"the shape \(4, 10\), but the scores \(5, 10\)"):
        tune_threshold(worked_example.scores, worked_example.gold[:4])
    scores = worked_example.scores.copy()
    scores[4, 9] = np.nan
    with pytest.raises(LabelwiseError, match="row 4, column 9 is NaN"):
        tune_threshold(scores, worked_example.gold)


def test_a_whole_split_takes_little_longer_than_one_sort() -> None:
    random = np.random.default_rng(0)
    scores = random.random((6000, 4271), dtype=np.float32)
    gold = sp.random(6000, 4271, density=5 / 4271, format="csr", random_state=0)
    seconds = []
    for work in (lambda: np.sort(scores, axis=None), lambda: tune_threshold(scores, gold)) * 3:
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    assert min(seconds[1::2]) < 3 * min(seconds[::2])
