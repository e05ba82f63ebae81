"""What random rankings score: their mean and the interval in which they stay."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation_cases import label_space

from labelwise.evaluation.chance import chance_interval
from labelwise.evaluation.measures import evaluate

MEASURES = ("P@5", "R@10", "RP@3", "RP@5", "nDCG@5", "nDCG@10")


def test_the_interval_holds_95_of_100_random_rankings() -> None:
    random = np.random.default_rng(0)
    space = label_space(2, 3, 20)
    gold = random.random((60, 25)) < 0.15
    relevant = gold[:, space.groups["zero"]].sum(axis=1)
    found = [
        evaluate(random.random((60, 25), dtype=np.float32), gold, space)["zero"] for _ in range(400)
    ]
    for measure in MEASURES:
        low, high = chance_interval(relevant, 20, measure)
        figures = np.array([one[measure] for one in found])
        assert ((low <= figures) & (figures <= high)).mean() == pytest.approx(0.95, abs=0.03)
        assert (low + high) / 2 == pytest.approx(figures.mean(), abs=0.01)


def test_f1_and_a_group_without_documents_have_none() -> None:
    assert np.isnan(chance_interval(np.array([1, 2]), 20, "micro-F1")).all()
    assert np.isnan(chance_interval(np.array([0, 0]), 20, "RP@5")).all()
    assert chance_interval(np.array([1, 1]), 1, "RP@5") == (1, 1)
