"""Approximate randomisation says what it should in cases whose answer is known."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from evaluation_cases import label_space

from labelwise.errors import LabelwiseError
from labelwise.evaluation import significance
from labelwise.evaluation.counts import f1
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.significance import compare_counts, micro_f1, randomisation_test


def test_a_case_computed_by_hand() -> None:
    """Differences 3, 1, -1: the eight signed sums are ±5, ±3, ±3, ±1, the observed one is 3."""
    found = randomisation_test([4.0, 2.0, 0.0], [1.0, 1.0, 1.0])
    assert found.difference == pytest.approx(1)
    assert found.p_value == 6 / 8
    assert found.exact


def test_a_case_of_micro_f1_computed_by_hand() -> None:
    """a has 2 TP on each of two documents, b has 2 FP and 2 FN: F1 1 against 0.

    Swapping none or both gives a difference of 1, swapping one gives 0: p is 2 of 4.
    """
    a = np.array([[2, 0, 0], [2, 0, 0]])
    b = np.array([[0, 2, 2], [0, 2, 2]])
    found = randomisation_test(a, b, micro_f1)
    assert (found.difference, found.p_value) == (1, 0.5)


def test_identical_runs_have_p_one() -> None:
    values = np.random.default_rng(0).random(500)
    found = randomisation_test(values, values)
    assert (found.difference, found.p_value) == (0, 1)


def test_clearly_different_runs_have_a_tiny_p_that_is_never_zero() -> None:
    random = np.random.default_rng(0)
    worse = random.random(500) * 0.5
    found = randomisation_test(worse + 0.3, worse)
    assert found.p_value == 1 / 10_001
    assert not found.exact
    assert randomisation_test(worse, worse + 0.3).p_value == found.p_value


def test_documents_that_do_not_differ_do_not_count_as_few() -> None:
    """Three documents differ among a thousand: all swaps are tried, the answer is exact."""
    a = np.full(1000, 0.5)
    b = a.copy()
    b[:3] += [0.3, 0.2, 0.1]
    found = randomisation_test(a, b)
    assert found.exact
    assert found.p_value == 2 / 8


def test_trying_all_swaps_is_the_definition() -> None:
    random = np.random.default_rng(3)
    a, b = random.integers(0, 5, (2, 8, 3))

    def score(rows: list[np.ndarray]) -> float:
        return float(f1(*np.sum(rows, axis=0)))

    observed = abs(score(list(a)) - score(list(b)))
    count = 0
    for swap in itertools.product([False, True], repeat=8):
        first = [y if s else x for x, y, s in zip(a, b, swap, strict=True)]
        second = [x if s else y for x, y, s in zip(a, b, swap, strict=True)]
        count += abs(score(first) - score(second)) >= observed - 1e-12
    assert randomisation_test(a, b, micro_f1).p_value == count / 256


@pytest.mark.parametrize("kind", ["mean", "micro-F1"])
def test_drawn_swaps_agree_with_all_swaps(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    random = np.random.default_rng(1)
    if kind == "mean":
        arguments = (random.random(12) + 0.15, random.random(12))
    else:
        arguments = (*random.integers(0, 6, (2, 12, 3)), micro_f1)
    every = randomisation_test(*arguments)
    monkeypatch.setattr(significance, "EXACT", 0)
    drawn = randomisation_test(*arguments)
    assert every.exact
    assert not drawn.exact
    assert drawn.p_value == pytest.approx(every.p_value, abs=0.02)


def test_the_seed_fixes_the_answer() -> None:
    random = np.random.default_rng(2)
    a, b = random.random((2, 100))
    first = randomisation_test(a, b, seed=7)
    assert randomisation_test(a, b, seed=7) == first
    assert randomisation_test(a, b, seed=8) != first


def test_two_equally_good_methods_differ_at_five_percent_in_about_five_percent_of_cases() -> None:
    random = np.random.default_rng(11)
    cases = 300
    below = sum(
        randomisation_test(*random.random((2, 40)), rounds=200, seed=case).p_value <= 0.05
        for case in range(cases)
    )
    assert 0.02 < below / cases < 0.09


def test_a_measure_is_tested_on_the_documents_of_its_group() -> None:
    random = np.random.default_rng(5)
    space = label_space(20, 20, 5)
    gold = random.random((200, len(space))) < 0.08
    good = (gold + random.normal(size=gold.shape)).astype(np.float32)
    bad = (0.3 * gold + random.normal(size=gold.shape)).astype(np.float32)
    a, b = evaluate(good, gold, space), evaluate(bad, gold, space)
    for measure in ("RP@5", "nDCG@5", "P@1", "micro-F1"):
        for group in ("all", "frequent", "zero"):
            found = compare_counts(a.counts, b.counts, group, measure, rounds=500)
            assert found.difference == pytest.approx(a[group][measure] - b[group][measure])
        assert compare_counts(a.counts, b.counts, "all", measure, rounds=500).p_value < 0.01


def test_six_thousand_documents_take_seconds() -> None:
    random = np.random.default_rng(0)
    start = time.process_time()
    randomisation_test(*random.integers(0, 9, (2, 6000, 3)), micro_f1)
    assert time.process_time() - start < 15


def test_runs_of_other_lengths_and_empty_ones_are_refused() -> None:
    with pytest.raises(LabelwiseError, match="cannot be compared"):
        randomisation_test([1.0], [1.0, 2.0])
    with pytest.raises(LabelwiseError, match="no documents"):
        randomisation_test([], [])
