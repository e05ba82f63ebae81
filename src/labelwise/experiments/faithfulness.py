"""Whether the scores of a saved model hang on the words that its evidence points to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.evidence.faithfulness import Faithfulness, RemovalPlan, measure_faithfulness
from labelwise.evidence.faithfulness_tables import faithfulness_json, findings
from labelwise.experiments.data import commands, view_of
from labelwise.experiments.sampled import counted, record_of, sample, write_record


@dataclass(frozen=True)
class Tested:
    """What was found, the record of it, and what it says in words."""

    found: Faithfulness
    record: dict[str, Any]
    path: Path
    """Where the record stands."""
    sentences: Sequence[str]


def faithfulness(
    bundle: Path,
    *,
    data: Path,
    split: str,
    documents: int,
    plan: RemovalPlan,
    results: Path,
    command: str,
) -> Tested:
    """Test the evidence of a bundle on so many documents of a split, drawn by the plan's seed."""
    method = bundles.load(bundle)
    card = bundles.describe(bundle)["card"]
    name = bundles.name_of(card, method.name)
    dataset = view_of(open_dataset(data), card)
    chosen = sample(dataset, split, documents, plan.seed)
    started = time.perf_counter()
    with counted(chosen, f"{name}: removing words") as each:
        found = measure_faithfulness(method, each, plan)
    figures = {"split": split, **faithfulness_json(found)}
    command = commands(card, command)
    record = record_of(method, dataset, card, figures, started=started, command=command)
    pairs = f"{found.labels} labels of {len(found.documents)} documents"
    sentences = [
        f"{name} on {dataset.name}, {split}: {pairs}, mean score {found.score.mean:.3f}",
        *findings(found),
    ]
    if not method.explainers:
        sentences.append(
            "Gradients are for networks; what a linear method's words add is exact already."
        )
    return Tested(found, record, write_record(results, "faithfulness", record), sentences)
