"""One process of those that share labels: ``python -m ...label_parallel_point ASKED ANSWER``."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from labelwise.evaluation.runs import peak_memory
from labelwise.kernels.label_attention import label_attention
from labelwise.layers.label_parallel import LabelParallel, own_labels
from labelwise.training.processes import Processes, are_several, together

AT_ONCE = 10_000
"""Labels drawn from one generator, so that each is the same whoever holds it."""


def measure(asked: dict[str, Any], processes: Processes) -> dict[str, Any]:
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
            made = measure(told, found)
    else:
        made = measure(told, Processes())
    answer.write_text(json.dumps(made))
