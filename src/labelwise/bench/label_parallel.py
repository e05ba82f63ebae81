"""Label-wise attention for a million labels on one process and on two that share the labels."""

from __future__ import annotations

from typing import Any

from labelwise.bench.attention_inputs import Sizes
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import run_together, threads
from labelwise.progress import track

SIZES = Sizes(2, 128, 300, 1_000_000)
"""The largest point of the curve over labels, and a document for each of two processes."""

ALONE = "one process"


def run(plan: Plan) -> Result:
    return measure(plan, SIZES)


def measure(plan: Plan, sizes: Sizes) -> Result:
    rows = []
    for count, name in track([(1, ALONE), (2, "two processes")], "label-parallel"):
        rows.append({"": name, **step(sizes, count)})
        plan.keep(_result(sizes, rows))
    return _result(sizes, rows)


def step(sizes: Sizes, processes: int) -> dict[str, Any]:
    """What a step holds, where the largest of the processes counts, and the loss it finds."""
    request = {
        "sizes": [sizes.documents, sizes.tokens, sizes.width, sizes.labels],
        "threads": max(1, threads() // processes),
    }
    answers = run_together("label_parallel_point", request, processes)
    return {
        "bytes": max(one["bytes"] for one in answers),
        "loss": sum(one["loss"] for one in answers),
    }


def _result(sizes: Sizes, rows: list[dict[str, Any]]) -> Result:
    return {
        "what": "Labels shared by processes: a step of label-wise attention on the CPU",
        "text": f"Forward and backward, {sizes}, float32. Each process has one part of the labels "
        "and of the documents, and gathers the encoded documents of all (gloo). Memory is the most "
        "that a process held: its weights, their gradients, and PyTorch itself. The loss is the "
        "sum over all labels, the same but for the order of summing.",
        "columns": [
            "",
            {"key": "bytes", "name": "memory of a process", "as": "bytes"},
            {"key": "bytes", "name": "of that of one", "as": "ratio", "peer": ALONE},
            {"key": "loss", "as": "figure"},
        ],
        "rows": rows,
        "threads": threads(),
    }
