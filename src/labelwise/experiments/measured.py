"""From a trained method and a data set to a run: scores, tuned threshold, measures, costs."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelwise.bundle import name_of
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import run_figures
from labelwise.evaluation.runs import DataRecord, Run, current_versions, peak_memory
from labelwise.evaluation.threshold import tune_threshold
from labelwise.experiments.data import hiding_of_card
from labelwise.experiments.scoring import score
from labelwise.experiments.training_data import Numbers
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.corpus.dataset import Dataset
    from labelwise.methods import Method, Scores

Scored = Callable[[str], tuple["Scores", Any]]
"""From the name of a split to the scores and the gold labels of its documents."""


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

    def scored(split: str) -> tuple[Scores, Any]:
        documents = getattr(dataset, split)
        if not documents:
            raise LabelwiseError(f"the data set {dataset.name} has no {split} documents")
        try:
            gold = space.gold(documents)
        except LabelwiseError as error:  # a label that the model was not trained with
            raise LabelwiseError(
                f"{error}: measure the model on a file with --on, where such labels count as missed"
            ) from error
        return score(method, documents, f"{method.name}: scoring {split}"), gold

    record = dataclasses.replace(
        DataRecord.of(dataset),
        label_space=space.fingerprint,  # of the model, which may be from other data
        groups={group: part.stop - part.start for group, part in space.groups.items()},
    )
    wanted = list(dict.fromkeys((*(("dev",) if dataset.dev else ()), *splits)))
    return _measured(method, scored, wanted, splits, record=record, card=card, command=command)


def measure_prepared(
    method: Method,
    folder: Path,
    splits: Sequence[str] = ("dev", "test"),
    *,
    card: Mapping[str, Any],
    command: str = "",
) -> Run:
    """The same from a prepared corpus, in the labels that the method was trained with."""
    documents = Numbers(folder, None, hiding_of_card(card))
    if method.label_space.fingerprint != documents.record.label_space:
        raise LabelwiseError(
            f"this {method.name} has other labels or label counts than the corpus in {folder}: "
            "evaluate it on documents"
        )

    def scored(split: str) -> tuple[Scores, Any]:
        if split not in documents.splits:
            raise LabelwiseError(f"the corpus in {folder} has no {split} documents")
        return documents.scores(method, split), documents.gold(split)

    wanted = list(dict.fromkeys(("dev", *splits)))
    return _measured(
        method, scored, wanted, splits, record=documents.record, card=card, command=command
    )


def _measured(
    method: Method,
    scored: Scored,
    wanted: Sequence[str],
    splits: Sequence[str],
    *,
    record: DataRecord,
    card: Mapping[str, Any],
    command: str,
) -> Run:
    """Score the splits that are wanted, of which some only for the threshold."""
    scores: dict[str, Scores] = {}
    gold = {}
    started = time.perf_counter()
    for split in wanted:
        scores[split], gold[split] = scored(split)
    seconds = {**card.get("seconds", {}), "score": time.perf_counter() - started}
    return run_of(
        method, scores, gold, splits, record=record, seconds=seconds, card=card, command=command
    )


def run_of(
    method: Method,
    scores: Mapping[str, Scores],
    gold: Mapping[str, Any],
    splits: Sequence[str],
    *,
    record: DataRecord,
    seconds: Mapping[str, float],
    card: Mapping[str, Any],
    command: str,
) -> Run:
    """What these scores of a method reach; the threshold is tuned on dev, where that is known."""
    tuned = tune_threshold(scores["dev"], gold["dev"]) if "dev" in scores else None
    space = method.label_space
    measures = {
        split: run_figures(scores[split], gold[split], space, tuned_threshold=tuned)
        for split in splits
    }
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
        members=dict(card.get("digests", {})),
    )


def write_run(
    results: str | Path,
    method: Method,
    scores: Mapping[str, Scores],
    gold: Mapping[str, Any],
    splits: Sequence[str],
    *,
    record: DataRecord,
    card: Mapping[str, Any],
) -> None:
    """Write the run of a model that was made from trained ones, as its card tells it."""
    run = run_of(
        method,
        scores,
        gold,
        splits,
        record=record,
        seconds=card.get("seconds", {}),
        card=card,
        command=card["command"],
    )
    note(f"wrote {run.write(results)}")
