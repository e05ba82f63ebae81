"""Whether the attention of a saved network is an explanation of its scores."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.evaluation.attention_figure import attention_svg
from labelwise.evaluation.attention_records import FIGURE, PAGE, attention_page, read_attention
from labelwise.evidence.examination import ExaminationPlan
from labelwise.evidence.examination import examine as examine_network
from labelwise.experiments.data import commands, view_of
from labelwise.experiments.sampled import counted, record_of, sample, write_record
from labelwise.files import write_whole
from labelwise.methods.attending import require_attending


@dataclass(frozen=True)
class Examined:
    """The record of what was found, and where it and what is made of all records stand."""

    record: dict[str, Any]
    path: Path
    page: Path
    figure: Path


def examine(
    bundle: Path,
    *,
    data: Path,
    other: Path | None,
    split: str,
    documents: int,
    plan: ExaminationPlan,
    results: Path,
    command: str,
) -> Examined:
    """Examine the network of a bundle on so many documents of a split, drawn by the plan's seed."""
    method = require_attending(bundles.load(bundle))
    beside = None if other is None else require_attending(bundles.load(other))
    card = bundles.describe(bundle)["card"]
    dataset = view_of(open_dataset(data), card)
    chosen = sample(dataset, split, documents, plan.seed)
    started = time.perf_counter()
    with counted(chosen, f"{method.name}: replacing attention") as each:
        found = examine_network(method, each, plan, beside)
    figures = {
        "split": split,
        "other seed": None if beside is None else int(beside.settings.seed),
        **asdict(found),
    }
    command = commands(card, command)
    record = record_of(method, dataset, card, figures, started=started, command=command)
    path = write_record(results, "attention", record)
    folder = path.parent.parent
    write_whole(folder / FIGURE, attention_svg(read_attention(folder)))
    write_whole(folder / PAGE, attention_page(folder).encode())
    return Examined(record, path, folder / PAGE, folder / FIGURE)
