"""Label-wise attention on a CPU, forward alone, as in tagging, beside plain materialised PyTorch.

Every point of every version is measured in a process of its own: its memory is the process's
high-water mark.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from labelwise.bench.attention_inputs import Sizes
from labelwise.bench.curves import OURS, OUTPUTS_FIRST, PLAIN, curve_table
from labelwise.bench.machine import memory
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import run_module, threads
from labelwise.bench.repeats import spread
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

REPEATS = 5
FLOOR = 32e6  # what PyTorch itself takes on its first products


def run(plan: Plan) -> Result:
    return measure(plan, BATCH, CURVES)


def measure(plan: Plan, batch: Sizes, curves: Curves) -> Result:
    repeats = plan.repeats or REPEATS
    result: Result = {
        "what": "Label-wise attention on the CPU, forward",
        "text": "Ours computes a block of labels at a time; plain PyTorch holds the attention of "
        "all labels. Memory is what the process held beyond the operands.",
        "repeats": repeats,
        "threads": threads(),
        "tables": [batch_table(batch, repeats)],
    }
    for over, (fixed, steps) in curves.items():
        points = []
        for step in track(steps, f"over {over}"):
            sizes = dataclasses.replace(fixed, **{over: step})
            points.append({over: step})
            for version in (OURS, PLAIN):
                found = point(version, sizes, repeats)
                points[-1].update({f"{version} {key}": value for key, value in found.items()})
        what = f"Over {over}: {fixed.but(over)}, float32"
        result["tables"].append(curve_table(what, over, points, seconds=False, floor=FLOOR))
        plan.keep(result)
    return result


def batch_table(batch: Sizes, repeats: int) -> dict[str, Any]:
    """Each version in each precision, at the sizes of real work."""
    rows = []
    for version, dtype in track(
        [
            (PLAIN, "float32"),
            (OUTPUTS_FIRST, "float32"),
            (OURS, "float32"),
            (PLAIN, "bfloat16"),
            (OURS, "bfloat16"),
        ],
        "a batch",
    ):
        rows.append({"": f"{version}, {dtype}", **point(version, batch, repeats, dtype)})
    return {
        "what": f"A batch: {batch}",
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "ratio", "peer": f"{PLAIN}, float32"},
            {"key": "bytes", "name": "extra memory", "as": "bytes"},
        ],
        "rows": rows,
    }


def point(version: str, sizes: Sizes, repeats: int, dtype: str = "float32") -> dict[str, Any]:
    """Time and extra memory of one version at these sizes, measured in a process of its own."""
    if needed(sizes, version) > 0.7 * (memory() or float("inf")):
        return {"seconds": "does not fit", "bytes": "does not fit"}
    request = {
        "version": version,
        "sizes": dataclasses.asdict(sizes),
        "dtype": dtype,
        "repeats": repeats,
        "threads": threads(),
    }
    answer = run_module("attention_point", request)
    return {"seconds": spread(answer["seconds"]), "bytes": answer["bytes"]}


def needed(sizes: Sizes, version: str) -> int:
    """About how many bytes a point takes: the operands and, materialised, scores and weights."""
    operands = sizes.width * (sizes.documents * sizes.tokens + 2 * sizes.labels)
    held = 0 if version == OURS else 3 * sizes.documents * sizes.tokens * sizes.labels
    return 4 * (operands + held)
