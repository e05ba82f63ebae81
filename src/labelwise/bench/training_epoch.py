"""One training of BIGRU-LWAN, timed: ``python -m labelwise.bench.training_epoch ASKED ANSWER``."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from labelwise.kernels import label_attention
from labelwise.layers import gru
from labelwise.methods.bigru_lwan import BigruLwan, BigruLwanSettings
from labelwise.training.prepared import read_prepared


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


if __name__ == "__main__":
    answer = train(json.loads(Path(sys.argv[1]).read_text()))
    Path(sys.argv[2]).write_text(json.dumps(answer))
