"""Training BIGRU-LWAN on a card, from a prepared corpus: seconds an epoch, and to a quality.

Each variant trains in a process of its own, as a user's training would: its first epoch warms up
(kernels are compiled in its first step), its second is measured. One training more says after how
many seconds its dev RP@5 passed the mark.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from labelwise.bench import Plan, Result
from labelwise.bench.processes import run_apart
from labelwise.errors import LabelwiseError
from labelwise.kernels import label_attention
from labelwise.layers import gru
from labelwise.methods.bigru_lwan import BigruLwan, BigruLwanSettings
from labelwise.training.prepared import read_prepared

MARK = 0.76
"""Dev RP@5 that the time to quality is measured to: what the published system reached."""

READ = {"max_tokens": 2000, "epochs": 2}

VARIANTS: dict[str, dict[str, Any]] = {
    "as shipped, 256 documents a batch": {"settings": {"batch": 256}},
    "512 documents a batch": {"settings": {"batch": 512, "batch_tokens": 640_000}},
    "GRU by cuDNN, float32": {"settings": {"batch": 256}, "without": ["gru"]},
    "attention in blocks of labels, plain PyTorch": {
        "settings": {"batch": 256},
        "without": ["attention"],
    },
    "neither of our kernels": {"settings": {"batch": 256}, "without": ["gru", "attention"]},
}
TO_QUALITY = {"batch": 256, "epochs": 6}


def run(plan: Plan) -> Result:
    return benchmark(plan, VARIANTS, READ)


def benchmark(plan: Plan, variants: dict[str, dict[str, Any]], read: dict[str, Any]) -> Result:
    folder = plan.data
    if folder is None or not (folder / "data.json").is_file():
        raise LabelwiseError(
            "training is measured on a prepared corpus: make one with `labelwise prepare` and name "
            "its folder with --data"
        )
    record = json.loads((folder / "data.json").read_text("utf-8"))
    result: Result = {
        "what": "Training BIGRU-LWAN on a GPU",
        "text": f"300 units a direction, {read['max_tokens']:,} tokens a document, dev scored "
        "after every epoch, "
        "data feeding included. The second epoch is measured. The first step includes starting "
        "Python, reading the corpus and compiling kernels. The last row is a training of its own "
        f"of {TO_QUALITY['epochs']} epochs.",
        "data": record["data"],
        "columns": [
            {"key": "variant", "name": ""},
            {"key": "epoch", "name": "an epoch", "as": "seconds"},
            {"key": "dev", "name": "scoring dev", "as": "seconds"},
            {"key": "first step", "name": "start to first step", "as": "seconds"},
            {"key": "memory", "name": "peak memory", "as": "bytes"},
            {"key": "to quality", "name": f"to dev RP@5 {MARK}", "as": "seconds"},
        ],
        "rows": [],
        "left out": [],
    }
    deadline = time.perf_counter() + plan.max_seconds
    jobs = dict(variants)
    jobs["to quality"] = {"settings": TO_QUALITY, "mark": MARK}
    order = list(jobs)
    for name in [order[0], order[-1], *order[1:-1]]:
        if time.perf_counter() > deadline:
            result["left out"].append(name)
            continue
        job = jobs[name]
        asked = {**job, "settings": read | job["settings"], "folder": str(folder)}
        row = {"variant": name, **run_apart(train, {**asked, "asked": time.time()})}
        result["rows"].append({key: value for key, value in row.items() if value is not None})
        plan.keep(result)
    return result


def train(asked: dict[str, Any]) -> dict[str, float | int | None]:
    """Seconds of the last epoch, of scoring dev, to the first step, and to the mark if given."""
    for kernel in asked.get("without", []):  # as where Triton cannot run
        module = {"gru": gru, "attention": label_attention}[kernel]
        module.runs_triton = lambda x: False  # type: ignore[attr-defined]
    folder = Path(asked["folder"])
    record = json.loads((folder / "data.json").read_text("utf-8"))
    method = BigruLwan(BigruLwanSettings(**record["settings"] | asked["settings"]))
    prepared, _ = read_prepared(folder)
    with tempfile.TemporaryDirectory() as run:
        method.run_dir = Path(run)
        before = time.time() - asked["asked"]
        method.fit_prepared(prepared)
        lines = [json.loads(line) for line in (method.run_dir / "log.jsonl").open()]
    epochs = [line for line in lines if line["event"] == "epoch"]
    last = epochs[-1]
    of_last = last["seconds"] - (epochs[-2]["seconds"] if len(epochs) > 1 else 0.0)
    mark = asked.get("mark")
    passed = [line["seconds"] for line in epochs if mark and line["dev_rp5"] >= mark]
    return {
        "epoch": of_last - last["dev_seconds"],
        "dev": last["dev_seconds"],
        "first step": before + last["first_step_seconds"],
        "memory": torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None,
        "dev RP@5": max(line["dev_rp5"] for line in epochs),
        "to quality": passed[0] if passed else None,
    }
