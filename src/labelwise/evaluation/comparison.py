"""Methods side by side: mean and spread over seeds, and the best one tested against the others."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError
from labelwise.evaluation.counts import VIEWS
from labelwise.evaluation.runs import Run, check_comparable
from labelwise.evaluation.significance import ROUNDS, Significance, compare_counts

MEASURES = ("RP@5", "nDCG@5", "micro-F1")


@dataclass(frozen=True)
class Figure:
    """A measure over the seeds of a method; the deviation is None for a single run."""

    mean: float
    deviation: float | None


@dataclass(frozen=True)
class Compared:
    """One method: its figures over all seeds, and the run that stands for it in the tests."""

    method: str
    seeds: int
    chosen: Run  # best on dev
    figures: dict[str, Figure]
    against_best: dict[str, Significance | None]  # None for the best method itself


@dataclass(frozen=True)
class Comparison:
    """Methods from best to worst by the first measure; ``best`` names the best one of each."""

    split: str
    group: str
    measures: tuple[str, ...]
    rounds: int
    methods: tuple[Compared, ...]
    best: dict[str, str]


def compare(
    runs: Sequence[Run],
    measures: Sequence[str] = MEASURES,
    split: str = "test",
    *,
    group: str = "all",
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Comparison:
    """Compare methods on a split. Of several seeds the run that was best on dev is tested.

    For each measure the best method is the one whose chosen run is highest on the split; the
    p-values are those of its difference to each of the others.
    """
    if not runs:
        raise LabelwiseError("there are no runs to compare")
    if group not in VIEWS:
        raise LabelwiseError(f"there is no group '{group}'; there are: {', '.join(VIEWS)}")
    for measure in measures:
        if measure.startswith("macro"):
            raise LabelwiseError("macro-F1 has no value a document, so it cannot be tested")
    check_comparable(runs, split, group)
    chosen = {method: best_on_dev(of, measures[0], group) for method, of in by_method(runs).items()}
    best, tests = {}, {}
    for measure in measures:
        top = max(chosen, key=lambda m: (_worst(chosen[m].value(split, group, measure)), m))
        best[measure] = top
        for method, run in chosen.items():
            tests[method, measure] = (
                None
                if method == top
                else compare_counts(
                    chosen[top].measures[split].counts,
                    run.measures[split].counts,
                    group,
                    measure,
                    rounds=rounds,
                    seed=seed,
                )
            )
    methods = [
        Compared(
            method,
            len(of),
            chosen[method],
            {measure: over_seeds(of, split, group, measure) for measure in measures},
            {measure: tests[method, measure] for measure in measures},
        )
        for method, of in by_method(runs).items()
    ]
    methods.sort(key=lambda row: (-_worst(row.figures[measures[0]].mean), row.method))
    return Comparison(split, group, tuple(measures), rounds, tuple(methods), best)


def by_method(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each method, by seed; methods in alphabetical order."""
    grouped: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.method, run.seed)):
        grouped.setdefault(run.method, []).append(run)
    for method, of in grouped.items():
        seeds = [run.seed for run in of]
        if len(set(seeds)) < len(seeds):
            raise LabelwiseError(f"two runs of {method} have the same seed: give each one once")
    return grouped


def best_first(methods: Mapping[str, Sequence[Run]], split: str) -> list[str]:
    """The methods by their mean RP@5 over all labels, the best one first."""
    mean = {method: over_seeds(of, split, "all", "RP@5").mean for method, of in methods.items()}
    return sorted(mean, key=lambda method: (-_worst(mean[method]), method))


def best_on_dev(runs: Sequence[Run], measure: str, group: str = "all") -> Run:
    """The run with the highest value on dev; the first one where they are equal."""
    if len(runs) == 1:
        return runs[0]
    for run in runs:
        if "dev" not in run.measures:
            raise LabelwiseError(
                f"{run.method}, seed {run.seed} was not measured on dev, so that the best of "
                f"{len(runs)} seeds cannot be told: evaluate it on dev too"
            )
    return max(runs, key=lambda run: _worst(run.value("dev", group, measure)))


def over_seeds(runs: Sequence[Run], split: str, group: str, measure: str) -> Figure:
    """Mean and sample standard deviation over the runs of a method."""
    values = [run.value(split, group, measure) for run in runs]
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Figure(mean, None)
    # A figure that no document takes part in has no spread either; stdev cannot say so.
    return Figure(mean, mean if math.isnan(mean) else statistics.stdev(values))


def over_documents(
    runs: Sequence[Run], split: str, group: str, measure: str
) -> NDArray[np.float64]:
    """What each document got, mean over the runs of a method; NaN where it has no gold there."""
    values: NDArray[np.float64] = np.mean(
        [run.per_document(split, group, measure) for run in runs], axis=0
    )
    return values


def _worst(value: float) -> float:
    """NaN compares with nothing: put it last."""
    return -math.inf if math.isnan(value) else value
