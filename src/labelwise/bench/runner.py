"""Run a benchmark, say where and with what it was measured, and keep what it found."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

from labelwise.bench import find
from labelwise.bench.machine import machine
from labelwise.bench.plan import Plan, Result
from labelwise.bench.results import write_result
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import current_versions


def run_benchmark(name: str, plan: Plan, command: str) -> Path:
    """Measure, and write the result below ``plan.out``; its path."""
    benchmark = find(name)
    if benchmark.device == "gpu":
        import torch

        if not torch.cuda.is_available():
            raise LabelwiseError(f"the benchmark {name} needs a GPU, and PyTorch sees none here")
    started = time.perf_counter()

    def keep(result: Result) -> Path:
        record = {
            **result,
            "machine": machine(),
            "versions": {**current_versions("triton"), **result.get("versions", {})},
            "seconds": round(time.perf_counter() - started, 1),
            "command": command,
        }
        return write_result(plan.out, name, record)

    return keep(benchmark.load()(dataclasses.replace(plan, keep=keep)))
