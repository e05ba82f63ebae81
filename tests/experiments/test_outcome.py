"""What a trial tells the search of itself."""

from __future__ import annotations

import numpy as np

from labelwise.corpus.labels import LabelSpace
from labelwise.evaluation.measures import Measures, run_figures
from labelwise.evaluation.runs import DataRecord, Run
from labelwise.experiments.worker import outcome_of

SPACE = LabelSpace.from_counts({str(at): (60, 3, 0)[at // 8] for at in range(24)})


def measured(seed: int) -> Measures:
    """Seven documents with a gold label of each group, whatever they are scored."""
    gold = np.tile(np.arange(24) % 8 == 3, (7, 1))
    scores = np.random.default_rng(seed).random((7, 24), dtype=np.float32)
    return run_figures(scores, gold, SPACE, tuned_threshold=0.5)


def test_a_trial_tells_the_figures_of_each_group_on_dev_and_none_of_test() -> None:
    dev = measured(0)
    run = Run(
        method="svm",
        seed=0,
        measures={"dev": dev, "test": measured(1)},
        data=DataRecord("acts", "f00d", {"train": 60, "dev": 7, "test": 7}, "", {}),
        threshold=0.5,
        settings={},
        versions={},
        seconds={},
        peak_memory=None,
        command="",
    )
    figures = {name: dev["all"][name] for name in ("RP@5", "nDCG@5", "micro-F1")}
    for group in ("few", "zero"):
        figures |= {f"{group} {name}": dev[group][name] for name in ("RP@5", "nDCG@5")}
    assert len({*figures.values()}) == 7
    assert outcome_of(run)["figures"] == figures
