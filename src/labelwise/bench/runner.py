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


def run_benchmark(name: str, plan: Plan) -> Path:
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
            "command": command(name, plan),
        }
        return write_result(plan.out, name, record)

    return keep(benchmark.load()(dataclasses.replace(plan, keep=keep)))


def command(name: str, plan: Plan) -> str:
    """What gives such a result again; folders are the machine's own, and data have a fingerprint.

    >>> command("svm", Plan(repeats=3))
    'labelwise bench svm --repeats 3'
    """
    words = ["labelwise bench", name]
    if plan.repeats is not None:
        words.append(f"--repeats {plan.repeats}")
    if plan.max_seconds != Plan.max_seconds:
        words.append(f"--max-seconds {plan.max_seconds:g}")
    return " ".join(words)
