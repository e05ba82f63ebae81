"""A training step with very many labels: all that it holds, weights and Adam's state included."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from labelwise.bench import cuda
from labelwise.bench.attention_inputs import Sizes, make_inputs
from labelwise.bench.attention_versions import Version, labelwise, plain
from labelwise.bench.curves import OURS, PLAIN
from labelwise.bench.repeats import spread

GOLD = 5  # labels of a document


def training_table(what: str, sizes: Sizes, repeats: int, device: str) -> dict[str, Any]:
    """Ours and the plain version, one after the other."""
    rows = [
        {"": name, **training_step(version, sizes, repeats, device)}
        for name, version in {OURS: labelwise, PLAIN: plain}.items()
    ]
    return {
        "what": what,
        "text": "Weights in float32, products in bfloat16 by autocast, binary cross-entropy over "
        "all labels, Adam. Memory is all that the step holds: operands, weights, gradients and "
        "Adam's state.",
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "seconds"},
            {"key": "bytes", "name": "memory in all", "as": "bytes"},
        ],
        "rows": rows,
    }


def training_step(version: Version, sizes: Sizes, repeats: int, device: str) -> dict[str, Any]:
    cuda.free(device)
    try:
        x = make_inputs(sizes, device=device)
        adam = torch.optim.Adam([x.queries, x.outputs, x.bias])
        targets = torch.zeros_like(x.grad)
        targets[:, :: max(1, sizes.labels // GOLD)] = 1

        def step() -> None:
            with torch.autocast(device, torch.bfloat16):
                logits = version(x)
            binary_cross_entropy_with_logits(logits.float(), targets).backward()  # type: ignore[no-untyped-call]
            adam.step()
            adam.zero_grad()
            x.h.grad = None

        seconds = cuda.seconds(step, repeats=repeats, device=device)
        return {"seconds": spread(seconds), "bytes": cuda.total_memory(step, device)}
    except torch.OutOfMemoryError:
        return {"seconds": cuda.OUT_OF_MEMORY, "bytes": cuda.OUT_OF_MEMORY}
