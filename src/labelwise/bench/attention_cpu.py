"""Label-wise attention on a CPU, forward alone, as in tagging: curves over labels, tokens,
documents, beside plain materialised PyTorch in the same run.

Every point of every version is measured in a process of its own: its memory is the process's
high-water mark.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from labelwise.bench.attention_inputs import Sizes
from labelwise.bench.curves import OURS, PLAIN, curve_table
from labelwise.bench.machine import memory
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import run_module, threads
from labelwise.bench.repeats import spread
from labelwise.progress import track

CURVES: dict[str, tuple[Sizes, Sequence[int]]] = {
    "labels": (Sizes(1, 128, 300, 0), (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)),
    "tokens": (Sizes(1, 0, 600, 4_271), (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192)),
    "documents": (Sizes(0, 128, 600, 4_271), (1, 4, 16, 64, 256)),
}
"""The size that grows, the sizes that stay (0 stands for the one that grows), and its steps."""

REPEATS = 5
FLOOR = 32e6  # what PyTorch itself takes on its first products


def run(plan: Plan) -> Result:
    return measure(plan, CURVES)


def measure(plan: Plan, curves: Mapping[str, tuple[Sizes, Sequence[int]]]) -> Result:
    result: Result = {
        "what": "Label-wise attention on the CPU, forward, float32",
        "text": "Ours computes a block of labels at a time; plain PyTorch holds the attention of "
        "all labels. Memory is what the process held beyond the operands.",
        "repeats": plan.repeats or REPEATS,
        "threads": threads(),
        "tables": [],
    }
    for over, (fixed, steps) in curves.items():
        sizes = [dataclasses.replace(fixed, **{over: step}) for step in steps]
        points = [
            {over: getattr(size, over), **both(size, plan.repeats or REPEATS)}
            for size in track(sizes, f"over {over}")
        ]
        what = f"Over {over}: {fixed.but(over)}"
        table = curve_table(what, over, points, seconds=False, floor=FLOOR)
        result["tables"].append(table)
        plan.keep(result)
    return result


def both(sizes: Sizes, repeats: int, ask: Callable[[str, Any], Any] = run_module) -> dict[str, Any]:
    """A point of the curve: both versions, one after the other."""
    found: dict[str, Any] = {}
    for version in (OURS, PLAIN):
        if needed(sizes, version) > 0.7 * (memory() or float("inf")):
            found[f"{version} seconds"] = found[f"{version} bytes"] = "does not fit"
            continue
        request = {
            "version": version,
            "sizes": dataclasses.asdict(sizes),
            "repeats": repeats,
            "threads": threads(),
        }
        answer = ask("attention_point", request)
        found[f"{version} seconds"] = spread(answer["seconds"])
        found[f"{version} bytes"] = answer["bytes"]
    return found


def needed(sizes: Sizes, version: str) -> int:
    """About how many bytes a point takes: the operands and, materialised, scores and weights."""
    operands = sizes.width * (sizes.documents * sizes.tokens + 2 * sizes.labels)
    held = 3 * sizes.documents * sizes.tokens * sizes.labels if version == PLAIN else 0
    return 4 * (operands + held)
