"""Run a benchmark, say where and with what it was measured, and keep what it found."""

from __future__ import annotations

import dataclasses
import time
import warnings
from pathlib import Path

from labelwise.bench import Plan, Result, find
from labelwise.bench.processes import threads
from labelwise.bench.results import busy_cores, machine, write_result
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import current_versions


def run_benchmark(name: str, plan: Plan) -> Path:
    """Measure, and write the result below ``plan.out``; its path."""
    benchmark = find(name)
    if benchmark.device == "gpu":
        import torch

        if not torch.cuda.is_available():
            raise LabelwiseError(f"the benchmark {name} needs a GPU, and PyTorch sees none here")
    load = warn_if_busy(name)
    started = time.perf_counter()

    def keep(result: Result) -> Path:
        record = {
            **result,
            "machine": {**machine(), "load": load},
            "versions": {**current_versions("triton"), **result.get("versions", {})},
            "seconds": round(time.perf_counter() - started, 1),
            "command": command(name, plan),
        }
        return write_result(plan.out, name, record)

    return keep(benchmark.load()(dataclasses.replace(plan, keep=keep)))


def warn_if_busy(name: str) -> float | None:
    """How many cores others keep busy; where that is half of them, say what it means.

    Programs that wait for each other's threads suffer most, so that not even ratios hold.
    """
    load = busy_cores()
    if load is not None and load > threads() / 2:
        warnings.warn(
            f"the machine is busy (load {load:g} on {threads()} cores): what {name} measures now "
            "says little, run it again when nothing else runs",
            stacklevel=2,
        )
    return load


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
    if plan.acts != Plan.acts:
        words.append(f"--acts {plan.acts}")
    return " ".join(words)
