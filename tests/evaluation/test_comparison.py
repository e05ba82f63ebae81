"""Methods side by side: the run best on dev stands for its method."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import pytest
from evaluation_cases import make_run

from labelwise.errors import LabelwiseError
from labelwise.evaluation.comparison import best_on_dev, compare, over_seeds

RUNS = [
    make_run("svm", 0, 2.5),
    make_run("exact-match", 0, 0.2),
    *(make_run("bigru-lwan", seed, 2.0) for seed in range(3)),
]


def test_the_best_method_is_tested_against_each_other() -> None:
    found = compare(RUNS, rounds=1000)
    assert found.best == dict.fromkeys(("RP@5", "nDCG@5", "micro-F1"), "svm")
    assert [row.method for row in found.methods] == ["svm", "bigru-lwan", "exact-match"]
    for row in found.methods:
        for measure in found.measures:
            test = row.against_best[measure]
            if row.method == "svm":
                assert test is None
            else:
                value = row.chosen.value("test", "all", measure)
                difference = RUNS[0].value("test", "all", measure) - value
                assert test.difference == pytest.approx(difference)
    assert found.methods[2].against_best["RP@5"].p_value < 0.01


def test_mean_and_deviation_are_over_seeds_and_the_test_is_on_the_run_best_on_dev() -> None:
    row = next(row for row in compare(RUNS, rounds=100).methods if row.method == "bigru-lwan")
    values = [run.value("test", "all", "nDCG@5") for run in RUNS[2:]]
    assert row.seeds == 3
    assert row.figures["nDCG@5"].mean == pytest.approx(statistics.fmean(values))
    assert row.figures["nDCG@5"].deviation == pytest.approx(statistics.stdev(values))
    on_dev = {run.seed: run.value("dev", "all", "RP@5") for run in RUNS[2:]}
    assert row.chosen.seed == max(on_dev, key=lambda seed: on_dev[seed])
    assert compare(RUNS[:2], rounds=100).methods[0].figures["RP@5"].deviation is None


def test_a_group_can_be_compared() -> None:
    found = compare(RUNS, ["RP@5"], group="few", rounds=100)
    svm = next(row for row in found.methods if row.method == "svm")
    assert svm.figures["RP@5"].mean == RUNS[0].value("test", "few", "RP@5")


def test_the_order_of_the_runs_does_not_matter() -> None:
    assert compare(RUNS[::-1], rounds=200) == compare(RUNS, rounds=200)


def test_several_seeds_without_dev_cannot_be_told_apart() -> None:
    runs = [replace(run, measures={"test": run.measures["test"]}) for run in RUNS[2:]]
    with pytest.raises(LabelwiseError, match=r"bigru-lwan, seed 0 was not measured on dev"):
        best_on_dev(runs, "RP@5")
    assert best_on_dev(runs[:1], "RP@5") is runs[0]


@pytest.mark.parametrize("number", [1, 2])
def test_runs_that_were_not_measured_on_the_split_are_named(number: int) -> None:
    runs = [replace(run, measures={"test": run.measures["test"]}) for run in RUNS[:number]]
    with pytest.raises(LabelwiseError, match="was not measured on dev, only on test"):
        compare(runs, split="dev", rounds=10)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(LabelwiseError, match="no runs"):
        compare([])
    with pytest.raises(LabelwiseError, match="macro-F1 has no value a document"):
        compare(RUNS, ["macro-F1"])
    with pytest.raises(LabelwiseError, match="no measure 'RP@12'"):
        compare(RUNS, ["RP@12"])
    with pytest.raises(LabelwiseError, match="two runs of svm have the same seed"):
        compare([RUNS[0], RUNS[0]])
    with pytest.raises(LabelwiseError, match="no group 'rare'"):
        compare(RUNS, group="rare")


def test_a_figure_that_no_document_takes_part_in_has_no_spread() -> None:
    runs = [make_run("han", seed, 1.0) for seed in range(2)]
    for run in runs:
        run.measures["test"].values["zero"]["RP@5"] = float("nan")
    figure = over_seeds(runs, "test", "zero", "RP@5")
    assert math.isnan(figure.mean)
    assert figure.deviation is not None
    assert math.isnan(figure.deviation)
