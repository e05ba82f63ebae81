"""The interval of a mean: wide over few documents, narrow over many, the same each time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labelwise.evaluation import bootstrap
from labelwise.evaluation.bootstrap import f1_interval, interval


def test_it_agrees_with_the_normal_approximation_over_many_documents() -> None:
    values = np.random.default_rng(3).random(400)
    low, high = interval(values)
    error = values.std() / math.sqrt(len(values))
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)


def test_few_documents_give_a_wide_interval() -> None:
    few, many = np.array([0.0, 1.0] * 10), np.array([0.0, 1.0] * 1_000)
    width = [high - low for low, high in (interval(few), interval(many))]
    assert width[0] > 8 * width[1]


def test_the_seed_settles_it_and_the_size_of_a_block_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(0).random(89)
    assert interval(values) == interval(values)
    assert interval(values, seed=1) != interval(values)
    whole = interval(values)
    monkeypatch.setattr(bootstrap, "BLOCK", 89 * 7)
    bootstrap._draws.cache_clear()
    assert interval(values) == whole


def test_documents_without_a_value_take_no_part() -> None:
    assert interval([0.5, float("nan"), 0.5]) == (0.5, 0.5)
    assert all(math.isnan(end) for end in interval([float("nan")]))


def test_it_is_what_drawing_the_documents_one_by_one_gives() -> None:
    values = np.random.default_rng(0).random(50)
    counts = np.random.default_rng(1).integers(0, 5, (50, 3))
    drawn = np.random.default_rng(0).integers(0, 50, (bootstrap.ROUNDS, 50))
    plain = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    assert interval(values) == pytest.approx(tuple(plain))
    hits, wrong, missed = counts[drawn].sum(axis=1).T
    f1 = 2 * hits / (2 * hits + wrong + missed)
    assert f1_interval(counts) == pytest.approx(tuple(np.quantile(f1, [0.025, 0.975])))
