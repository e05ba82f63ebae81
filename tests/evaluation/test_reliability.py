"""How far scores are from chances, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from labelwise.evaluation.reliability import bins_of, reliability


def test_log_loss_and_brier_are_sums_over_the_labels_of_a_document() -> None:
    """Two documents of three labels; one scores zero and is said nothing of, gold or not."""
    scores = np.array([[0.5, 0.25, 0.0], [0.75, 0.001, 0.5]], dtype=np.float32)
    gold = np.array([[1, 0, 1], [1, 1, 0]], dtype=bool)
    found = reliability(scores, gold)
    losses = [np.log(0.5), np.log(0.75), np.log(0.75), np.log(0.001), np.log(0.5)]
    assert found.log_loss == pytest.approx(-sum(losses) / 2, rel=1e-6)
    assert found.brier == pytest.approx((0.25 + 0.0625 + 0.0625 + 0.999**2 + 0.25) / 2, rel=1e-6)


def test_scores_that_are_too_high_here_and_too_low_there_are_no_chances() -> None:
    """Of a thousand labels half score .2 and are never gold, half score .8 and always are: the
    mean score is the share of gold labels, and no score is a chance."""
    scores = np.tile(np.array([0.2, 0.8], dtype=np.float32), (500, 1))
    found = reliability(scores, scores > 0.5)
    assert [(one.labels, round(one.score, 3), one.gold) for one in found.bins] == [
        *[(100, 0.2, 0)] * 5,
        *[(100, 0.8, 1)] * 5,
    ]
    assert found.ece == pytest.approx(0.2)


def test_the_labels_that_people_see_are_asked_about() -> None:
    """The five best of each document, of which one that scores zero is none."""
    scores = np.array([[0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [0.3, 0, 0, 0, 0, 0]], dtype=np.float32)
    bins = bins_of(scores, scores > 0)
    assert [round(one.score, 3) for one in bins] == [0.3, 0.5, 0.6, 0.7, 0.8, 0.9]
