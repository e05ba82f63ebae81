"""From a trained method and a data set to a run: scores, tuned threshold, measures, costs."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelwise.bundle import name_of
from labelwise.cli.inputs import batches
from labelwise.cli.output import one_bar
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import Measures, evaluate
from labelwise.evaluation.runs import DataRecord, Run, current_versions, peak_memory
from labelwise.evaluation.threshold import tune_threshold

if TYPE_CHECKING:
    from labelwise.corpus.dataset import Dataset
    from labelwise.corpus.document import Document
    from labelwise.methods import Method, Scores

BATCH = 1000


def measure(
    method: Method,
    dataset: Dataset,
    splits: Sequence[str] = ("dev", "test"),
    *,
    card: Mapping[str, Any],
    command: str = "",
) -> Run:
    """Score the splits and measure them. The threshold is tuned on dev, never on test."""
    space = method.label_space
    scores: dict[str, Scores] = {}
    seconds = {**card.get("seconds", {}), "score": 0.0}
    wanted = list(dict.fromkeys((*(("dev",) if dataset.dev else ()), *splits)))
    gold = {}
    for split in wanted:
        documents = getattr(dataset, split)
        if not documents:
            raise LabelwiseError(f"the data set {dataset.name} has no {split} documents")
        gold[split] = space.gold(documents)
        started = time.perf_counter()
        scores[split] = score(method, documents, f"{method.name}: scoring {split}")
        seconds["score"] += time.perf_counter() - started
    tuned = tune_threshold(scores["dev"], gold["dev"]) if "dev" in scores else None
    measures: dict[str, Measures] = {
        split: evaluate(scores[split], gold[split], space, tuned_threshold=tuned)
        for split in splits
    }
    record = dataclasses.replace(DataRecord.of(dataset), label_space=space.fingerprint)
    return Run(
        method=name_of(card, method.name),
        seed=int(method.settings.seed),
        measures=measures,
        data=record,
        threshold=tuned,
        settings=dataclasses.asdict(method.settings),
        versions=current_versions(),
        seconds={what: round(took, 3) for what, took in seconds.items()},
        peak_memory=max(peak_memory() or 0, card.get("peak_memory") or 0) or None,
        command=command,
    )


def score(method: Method, documents: Sequence[Document], description: str) -> Scores:
    """All scores, a batch at a time, with a bar."""
    found = np.empty((len(documents), len(method.label_space)), dtype=np.float32)
    at = 0
    with one_bar(description, len(documents)) as advance:
        for batch in batches(documents, BATCH):
            found[at : at + len(batch)] = method.scores(batch)
            at += len(batch)
            advance(len(batch))
    return found
