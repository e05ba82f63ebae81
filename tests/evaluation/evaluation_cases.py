"""The worked example of the paper's measures, and runs on made data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.runs import DataRecord, Run
from labelwise.evaluation.threshold import tune_threshold


@dataclass(frozen=True)
class Example:
    scores: NDArray[np.float32]
    gold: NDArray[np.int8]
    space: LabelSpace


def label_space(frequent: int, few: int, zero: int) -> LabelSpace:
    counts = [80] * frequent + [3] * few + [0] * zero
    return LabelSpace.from_counts({f"{i:05}": count for i, count in enumerate(counts)})


def worked_example() -> Example:
    """Ten labels (frequent 0-3, few 4-7, zero 8-9), five documents, the last one without gold."""
    scores = """
        .95  .40  .70  .10  .80  .30  .20  .05  .60  .02
        .10  .20  .30  .40  .50  .60  .15  .25  .35  .45
        .90  .85  .20  .75  .65  .55  .10  .05  .45  .35
        .51  .12  .13  .14  .49  .16  .48  .11  .47  .52
        .90  .80  .70  .60  .50  .40  .30  .20  .10  .05
    """
    gold = np.zeros((5, 10), dtype=np.int8)
    for document, labels in enumerate([(0, 1, 4), (2,), (0, 1, 2, 5, 6, 8), (6, 9), ()]):
        gold[document, list(labels)] = 1
    table = np.array(scores.split(), dtype=np.float32).reshape(5, 10)
    return Example(table, gold, label_space(4, 4, 2))


def make_run(method: str, seed: int, skill: float, **changes: Any) -> Run:
    """A run on 60 dev and 80 test documents; with more skill gold labels are scored higher."""
    space = label_space(12, 25, 8)
    noise = np.random.default_rng([seed, *method.encode()])
    measures, threshold = {}, None
    for split, documents in (("dev", 60), ("test", 80)):
        truth = np.random.default_rng(documents)
        gold = (truth.random((documents, len(space))) < 0.1).astype(np.int8)
        raw = skill * gold + noise.normal(size=gold.shape)
        scores = (1 / (1 + np.exp(1 - raw))).astype(np.float32)
        if threshold is None:
            threshold = tune_threshold(scores, gold)
        measures[split] = evaluate(scores, gold, space, tuned_threshold=threshold)
    run = Run(
        method=method,
        seed=seed,
        measures=measures,
        data=DataRecord(
            "acts",
            "f00d",
            {"train": 300, "dev": 60, "test": 80},
            space.fingerprint,
            {"frequent": 12, "few": 25, "zero": 8},
        ),
        threshold=threshold,
        settings={"seed": seed, "features": "tf-idf"},
        versions={"labelwise": "0.1.0", "python": "3.11.7"},
        seconds={"fit": 12.5, "score": 0.75},
        peak_memory=734_003_200,
        command=f"labelwise evaluate {method}",
    )
    return replace(run, **changes)
