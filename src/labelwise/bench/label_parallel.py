"""Label-wise attention for a million labels on one process and on two that share the labels.

A process of them is ``python -m labelwise.bench.label_parallel REQUEST.json ANSWER.json``.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from labelwise.bench.attention import Sizes
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import run_together, threads
from labelwise.evaluation.runs import peak_memory
from labelwise.kernels.label_attention import label_attention
from labelwise.layers.label_parallel import LabelParallel, own_labels
from labelwise.progress import track
from labelwise.training.processes import Processes, are_several, together

SIZES = Sizes(2, 128, 300, 1_000_000)
"""The largest point of the curve over labels, and a document for each of two processes."""

ALONE = "one process"


def run(plan: Plan) -> Result:
    return benchmark(plan, SIZES)


def benchmark(plan: Plan, sizes: Sizes) -> Result:
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
    answers = run_together("label_parallel", request, processes)
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


AT_ONCE = 10_000
"""Labels drawn from one generator, so that each is the same whoever holds it."""


def measure_step(asked: dict[str, Any], processes: Processes) -> dict[str, Any]:
    """The loss over own labels of a step, forward and backward, and the most memory held."""
    torch.set_num_threads(asked["threads"])
    documents, tokens, width, labels = asked["sizes"]
    own = own_labels(labels, processes.rank, processes.size)
    read = own_labels(documents, processes.rank, processes.size)
    h = _drawn(0, documents, tokens, width)[read].mul_(0.5).requires_grad_()
    lengths = torch.full((len(h),), tokens)
    model = LabelParallel(width, torch.full((own.stop - own.start,), -5.0))
    with torch.no_grad():
        _fill(model.labels.queries, own, deviation=4.0, kind=1)
        _fill(model.labels.outputs, own, deviation=1.0, kind=2)
    logits = (
        model(h, lengths) if processes.size > 1 else label_attention(h, lengths, *model.labels())
    )
    loss = binary_cross_entropy_with_logits(logits, torch.zeros_like(logits), reduction="sum")
    (loss / documents).backward()
    return {"loss": float(loss) / documents, "bytes": peak_memory()}


def _fill(weight: Tensor, own: slice, *, deviation: float, kind: int) -> None:
    """Draw the rows of own labels, (own labels, width), a block at a time."""
    width = weight.shape[1]
    for first in range(own.start // AT_ONCE * AT_ONCE, own.stop, AT_ONCE):
        low, high = max(first, own.start), min(first + AT_ONCE, own.stop)
        block = _drawn(2 * first + kind, AT_ONCE, width)[low - first : high - first]
        weight[low - own.start : high - own.start] = block * (deviation / math.sqrt(width))


def _drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


if __name__ == "__main__":
    file, answer = map(Path, sys.argv[1:])
    told = json.loads(file.read_text())
    if are_several():
        with together("cpu") as found:
            made = measure_step(told, found)
    else:
        made = measure_step(told, Processes())
    answer.write_text(json.dumps(made))
