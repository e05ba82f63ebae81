"""Label-wise attention on a CPU, forward alone, as in tagging, beside plain materialised PyTorch.

The memory of every version at every point is the high-water mark of a process of its own,
``python -m labelwise.bench.attention_cpu REQUEST.json ANSWER.json``. Where others are to be timed
beside it, all take turns in that process, so that what slows the machine down meets all alike.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from labelwise.bench.attention import (
    Inputs,
    Sizes,
    Version,
    labelwise,
    make_inputs,
    outputs_first,
    plain,
)
from labelwise.bench.curves import OURS, OUTPUTS_FIRST, PLAIN, curve_table
from labelwise.bench.facts import memory
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import run_module, threads
from labelwise.bench.results import spread, taking_turns
from labelwise.evaluation.runs import peak_memory
from labelwise.progress import track

Curves = Mapping[str, tuple[Sizes, Sequence[int]]]

CURVES: Curves = {
    "labels": (Sizes(1, 128, 300, 0), (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)),
    "tokens": (Sizes(1, 0, 600, 4_271), (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192)),
    "documents": (Sizes(0, 128, 600, 4_271), (1, 4, 16, 64, 256)),
}
"""The size that grows, the sizes that stay (0 stands for the one that grows), and its steps."""

BATCH = Sizes(8, 729, 600, 4_271)
"""A batch of EURLEX57K's mean length, as BIGRU-LWAN reads it."""

REPEATS = 3  # of a slow point; a quick one is repeated for a second
FLOOR = 32e6  # what PyTorch itself takes on its first products


def run(plan: Plan) -> Result:
    return benchmark(plan, BATCH, CURVES)


def benchmark(plan: Plan, batch: Sizes, curves: Curves) -> Result:
    repeats = plan.repeats or REPEATS
    result: Result = {
        "what": "Label-wise attention on the CPU, forward",
        "text": "Ours computes a block of labels at a time; plain PyTorch holds the attention of "
        "all labels. Memory is what the process held beyond the operands.",
        "threads": threads(),
        "tables": [batch_table(batch, repeats)],
    }
    for over, (fixed, steps) in curves.items():
        points = []
        for step in track(steps, f"over {over}"):
            sizes = dataclasses.replace(fixed, **{over: step})
            found = point((OURS, PLAIN), sizes, repeats)
            costs = {f"{name} {key}": cost for name in found for key, cost in found[name].items()}
            points.append({over: step, **costs})
        what = f"Over {over}: {fixed.but(over)}, float32"
        result["tables"].append(curve_table(what, over, points, seconds=False, floor=FLOOR))
        plan.keep(result)
    return result


def batch_table(batch: Sizes, repeats: int) -> dict[str, Any]:
    """Each version in each precision, at the sizes of real work."""
    rows = []
    for dtype in track(("float32", "bfloat16"), "a batch"):
        found = point((PLAIN, OUTPUTS_FIRST, OURS), batch, repeats, dtype)
        rows += [{"": f"{version}, {dtype}", **costs} for version, costs in found.items()]
    return {
        "what": f"A batch: {batch}",
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "ratio", "peer": f"{PLAIN}, float32"},
            {"key": "bytes", "name": "extra memory", "as": "bytes"},
        ],
        "rows": rows,
    }


def point(
    versions: Sequence[str], sizes: Sizes, repeats: int, dtype: str = "float32"
) -> dict[str, dict[str, Any]]:
    """What each version takes at these sizes: ``seconds`` and extra ``bytes``.

    The memory of each is measured in a process of its own; the first of these times them all.
    """
    limit = 0.7 * (memory() or float("inf"))
    fitting = [version for version in versions if needed(sizes, version) < limit]
    found: dict[str, dict[str, Any]] = {
        version: dict.fromkeys(("seconds", "bytes"), "does not fit") for version in versions
    }
    for version in fitting:
        request = {
            "version": version,
            "timed": fitting if version == fitting[0] else [],
            "sizes": dataclasses.asdict(sizes),
            "dtype": dtype,
            "repeats": repeats,
            "threads": threads(),
        }
        answer = run_module("attention_cpu", request)
        found[version]["bytes"] = answer["bytes"]
        for name, seconds in answer["seconds"].items():
            found[name]["seconds"] = spread(seconds)
    return found


def needed(sizes: Sizes, version: str) -> int:
    """About how many bytes a point takes: the operands and, materialised, what stands between."""
    operands = sizes.width * (sizes.documents * sizes.tokens + 2 * sizes.labels)
    between = sizes.documents * sizes.labels * (3 * sizes.tokens + 2 * sizes.width)
    return 4 * (operands + (0 if version == OURS else between))


VERSIONS: dict[str, Version] = {OURS: labelwise, PLAIN: plain, OUTPUTS_FIRST: outputs_first}

ENOUGH = 1.0
"""Seconds of a version after which a point that is quick has been repeated often enough."""


def measure_point(request: dict[str, Any]) -> dict[str, Any]:
    """Bytes that the version's pass held beyond the operands; seconds of each pass, by version."""
    torch.set_num_threads(request["threads"])
    inputs = make_inputs(Sizes(**request["sizes"]), getattr(torch, request["dtype"]))
    timed = {name: partial(_seconds, VERSIONS[name], inputs) for name in request["timed"]}
    with torch.inference_mode():
        # The high-water mark stands at the operands now; the first pass, not timed, raises it.
        before = peak_memory() or 0
        VERSIONS[request["version"]](inputs)
        extra = (peak_memory() or 0) - before
        slowest = max((seconds() for seconds in timed.values()), default=ENOUGH)
        repeats = max(request["repeats"], min(50, int(ENOUGH / slowest)))
        found = taking_turns(timed, repeats)
    return {"bytes": extra, "seconds": found}


def _seconds(version: Version, inputs: Inputs) -> float:
    started = time.perf_counter()
    version(inputs)
    return time.perf_counter() - started


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(measure_point(json.loads(asked.read_text()))))
