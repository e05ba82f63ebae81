"""A precision that is certified holds, also where labels stand and fall together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from labelwise.evaluation.certified import ERROR, Best, certify, certify_all, starts_for


def test_labels_each_by_itself_have_the_bound_of_clopper_and_pearson() -> None:
    """One label a document, 180 of 200 right."""
    right = np.zeros((200, 1), dtype=bool)
    right[:180] = True
    scores = np.linspace(1, 0.5, 200, dtype=np.float32)[:, None]
    bound = binomtest(180, 200, alternative="greater").proportion_ci(0.95, "exact").low
    assert Best.of(scores, right).at_least(200, 0.05) == pytest.approx(bound, abs=2e-3)


def test_labels_that_stand_and_fall_together_count_as_fewer() -> None:
    """Ten labels a document, all right or all wrong: twenty documents, and not 200 labels."""
    together = np.repeat(np.arange(20) < 18, 10).reshape(20, 10)
    apart = np.arange(200).reshape(20, 10) % 10 > 0
    scores = np.full((20, 10), 0.5, dtype=np.float32)
    few, many = (Best.of(scores, gold).at_least(200, 0.05) for gold in (together, apart))
    assert few < 0.75 < 0.85 < many
    assert few == pytest.approx(
        binomtest(18, 20, alternative="greater").proportion_ci(0.95, "exact").low, abs=0.02
    )


def test_the_certified_threshold_lies_where_the_labels_become_too_uncertain() -> None:
    draws = np.random.default_rng(1)
    chances = np.sort(draws.random((1000, 8)).astype(np.float32), axis=1)
    gold = draws.random(chances.shape) < chances
    found = {one.level: one for one in certify_all(chances, gold)}
    assert list(found) == sorted(found, reverse=True)
    for level, one in found.items():
        above = chances > one.threshold
        assert one.precision == pytest.approx(gold[above].mean())
        assert level <= one.at_least <= one.precision
        assert one.share == pytest.approx(gold[above].sum() / gold.sum())
        assert one.labels == pytest.approx(above.sum() / 1000)
        # The mean chance above t is (1 + t) / 2.
        assert 2 * level - 1 < one.threshold < 2 * level - 1 + 0.15


def in_order(right: np.ndarray, documents: int) -> Best:
    """Labels of so many documents that score the lower the later they stand here."""
    shape = (-1, documents)
    scores = np.linspace(1, 0.5, len(right), dtype=np.float32)
    return Best.of(
        np.ascontiguousarray(scores.reshape(shape).T), np.ascontiguousarray(right.reshape(shape).T)
    )


def test_what_fails_on_the_way_down_is_not_made_good_further_down() -> None:
    """A hundred labels right, sixty wrong, all others right again: of 800 they would be enough."""
    right = np.ones(800, dtype=bool)
    right[100:160] = False
    best = in_order(right, documents=100)
    assert best.at_least(800, ERROR) > 0.8
    found = certify(best, 0.8)
    assert found is not None
    assert found.labels < 1.6


def test_labels_that_score_the_same_are_above_a_threshold_together_or_not_at_all() -> None:
    draws = np.random.default_rng(2)
    chances = draws.random((300, 8)).round(1).astype(np.float32)
    gold = draws.random(chances.shape) < chances
    found = certify_all(chances, gold)
    assert found
    for one in found:
        above = chances > one.threshold
        assert one.labels == pytest.approx(above.sum() / 300)
        assert one.precision == pytest.approx(gold[above].mean())


def test_what_is_left_above_equal_scores_has_to_be_right_enough_by_itself() -> None:
    """Ten labels, half of them wrong, above two hundred that score the same and are right."""
    scores = np.full((40, 6), 0.5, dtype=np.float32)
    scores[:10, 0] = 0.9
    right = np.ones(scores.shape, dtype=bool)
    right[:5, 0] = False
    best = Best.of(scores, right)
    assert best.at_least(240, ERROR / 4) > 0.8
    assert certify(best, 0.8) is None


def test_gold_labels_too_deep_to_be_looked_at_count_as_missed() -> None:
    """Forty documents of 200 labels that are all gold, of which the first quarter is looked at."""
    scores = np.linspace(1, 0.5, 40 * 200, dtype=np.float32).reshape(40, 200)
    [found] = [one for one in certify_all(scores, scores > 0) if one.level == 0.8]
    assert found.share == pytest.approx(found.labels / 200)
    assert found.share <= 0.25


def test_nothing_is_certified_of_labels_that_are_seldom_right() -> None:
    draws = np.random.default_rng(0)
    scores = draws.random((300, 20)).astype(np.float32)
    assert certify(Best.of(scores, draws.random(scores.shape) < 0.3), 0.5) is None


def test_a_certificate_is_wrong_no_oftener_than_it_says() -> None:
    """120 times 150 documents whose labels are right by the chance that each document draws."""
    draws, wrong = np.random.default_rng(3), 0
    for _ in range(120):
        scores = draws.random((150, 6)).astype(np.float32)
        lucky = draws.random((150, 1)) < 0.5
        chances = np.where(lucky, np.minimum(scores + 0.1, 1), np.maximum(scores - 0.1, 0))
        found = certify(Best.of(scores, draws.random(scores.shape) < chances), 0.7)
        if found is not None:
            # Scores are even, and as many chances lie above them as below, but for the ends.
            t = found.threshold
            grid = np.linspace(t, 1, 1000)
            truth = (np.minimum(grid + 0.1, 1) + np.maximum(grid - 0.1, 0)).mean() / 2
            wrong += truth < 0.7
    assert wrong <= 0.08 * 120


def test_a_search_that_can_certify_nothing_takes_no_part_of_the_chance_of_error() -> None:
    """A label a document, the best ones right: a quarter of 283 would have to be more than all."""
    searches = starts_for(0.95, 283)
    assert searches == (142, 283, 566)
    assert (ERROR / 4) ** (1 / 71) < 0.95 <= (ERROR / 3) ** (1 / 142)
    scores = np.linspace(1, 0.5, 283 * 4, dtype=np.float32).reshape(283, 4)
    right = np.zeros(scores.shape, dtype=bool)
    right.ravel()[:142] = True
    found = certify(Best.of(scores, right), 0.95)
    assert found is not None
    assert found.at_least == pytest.approx((ERROR / 3) ** (1 / 142))
    assert starts_for(0.95, 20) == ()
    assert certify(Best.of(scores[:20], np.ones((20, 4), dtype=bool)), 0.95) is None


def test_of_equal_scores_at_the_end_the_first_documents_and_labels_are_looked_at() -> None:
    """Two documents of 200 labels that all score the same, but for one of the second document."""
    scores = np.full((2, 200), 0.5, dtype=np.float32)
    scores[1, 3] = 0.9
    gold = np.zeros(scores.shape, dtype=bool)
    gold[0, :99] = True  # a hundred labels are looked at: the best one and 99 that tie
    best = Best.of(scores, gold)
    assert best.documents.tolist() == [1] + [0] * 99
    assert best.right.tolist() == [False] + [True] * 99
