"""Training BIGRU-LWAN on a card, from a prepared corpus: seconds an epoch, and to a quality.

Each variant trains in a process of its own, as a user's training would: its first epoch warms up
(kernels are compiled in its first step), its second is measured. One training more says after how
many seconds its dev RP@5 passed the mark.
"""

from __future__ import annotations

import json
import time
from typing import Any

from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import run_module
from labelwise.errors import LabelwiseError

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
    return measure(plan, VARIANTS, READ)


def measure(plan: Plan, variants: dict[str, dict[str, Any]], read: dict[str, Any]) -> Result:
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
        row = {"variant": name, **run_module("training_epoch", {**asked, "asked": time.time()})}
        result["rows"].append({key: value for key, value in row.items() if value is not None})
        plan.keep(result)
    return result
