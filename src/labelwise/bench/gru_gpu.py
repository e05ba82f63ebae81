"""A bidirectional GRU on a card, forward and backward: ours beside cuDNN's and beside plain steps.

All read the same documents, as long as those of EURLEX57K, from word vectors to states, and give
the gradients of both. How far each lies from float64 is told beside its time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from labelwise.bench import Plan, Result, cuda
from labelwise.bench.attention import ragged_lengths
from labelwise.bench.results import spread
from labelwise.layers.gru import padded, read
from labelwise.layers.masking import is_real
from labelwise.progress import track

OURS = "labelwise"
CUDNN = "cuDNN, padded rows, float32"
REPEATS = 20


@dataclass(frozen=True)
class Sizes:
    documents: tuple[int, ...] = (16, 128, 450)
    longest: int = 1_200  # tokens: what the methods read
    width: int = 300
    units: int = 300


Reading = Callable[[nn.GRU, Tensor, Tensor], Tensor]
"""The states (documents, tokens, 2 units) of the tokens, zero at padding."""


def ours(gru: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
    """As the methods read under autocast."""
    with torch.autocast(x.device.type, torch.bfloat16):
        return read(gru, x, lengths)


def packed(gru: nn.GRU, x: Tensor, lengths: Tensor, *, half: bool = False) -> Tensor:
    """torch.nn.GRU as it is commonly used; in half precision by autocast, which gives float16."""
    rows = pack_padded_sequence(x, lengths, batch_first=True)
    with torch.autocast(x.device.type, torch.float16, enabled=half):
        return pad_packed_sequence(gru(rows)[0], batch_first=True)[0]


def stepped(gru: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
    """The formulas of a GRU, a step after the other, in plain PyTorch."""
    real = is_real(lengths.to(x.device), x.shape[1]).to(x.dtype)[:, :, None]  # (D, T, 1)
    weights = list(gru.parameters())
    sides = []
    for turned, (of_words, of_states, b_words, b_states) in enumerate((weights[:4], weights[4:])):
        words = (x @ of_words.T + b_words).unbind(1)
        state = x.new_zeros((len(x), gru.hidden_size))
        states: list[Tensor] = [state] * x.shape[1]
        order = range(x.shape[1])
        for t in reversed(order) if turned else order:
            r, z, n = words[t].chunk(3, 1)
            r_, z_, n_ = (state @ of_states.T + b_states).chunk(3, 1)
            z = (z + z_).sigmoid()
            new = (n + (r + r_).sigmoid() * n_).tanh()
            state = (z * state + (1 - z) * new) * real[:, t]
            states[t] = state
        sides.append(torch.stack(states, 1))
    return torch.cat(sides, 2)


READINGS: dict[str, Reading] = {
    CUDNN: padded,
    "cuDNN, packed rows, float32": packed,
    "cuDNN, packed rows, float16": partial(packed, half=True),
    "plain PyTorch, step by step, float32": stepped,
    OURS: ours,
}


def run(plan: Plan) -> Result:
    return benchmark(plan, Sizes(), "cuda")


def benchmark(plan: Plan, sizes: Sizes, device: str) -> Result:
    result: Result = {
        "what": "A bidirectional GRU on a GPU, forward and backward",
        "text": f"{sizes.units} units a direction over word vectors of {sizes.width} numbers, "
        "documents as long as those of EURLEX57K and cut at "
        f"{sizes.longest:,} tokens. Errors are relative to float64: of states, and the largest of "
        "the gradients of words and weights.",
        "tables": [],
    }
    for documents in track(sizes.documents, "gru"):
        result["tables"].append(table(plan, sizes, documents, device))
        plan.keep(result)
    return result


@dataclass(frozen=True, eq=False)
class Read:
    """What all readings are given, and what is right."""

    gru: nn.GRU
    x: Tensor  # (documents, tokens, width)
    lengths: Tensor
    grad: Tensor  # (documents, tokens, 2 units): where the backward pass starts from
    right: list[Tensor]


def table(plan: Plan, sizes: Sizes, documents: int, device: str) -> dict[str, Any]:
    lengths = torch.tensor(sorted(ragged_lengths(documents, sizes.longest), reverse=True))
    torch.manual_seed(0)
    gru = nn.GRU(sizes.width, sizes.units, batch_first=True, bidirectional=True).to(device)
    shape = documents, int(lengths.max())
    x = torch.randn(*shape, sizes.width, device=device).mul_(0.4)
    grad = torch.randn(*shape, 2 * sizes.units, device=device)
    right = found(padded if device != "cpu" else packed, gru.double(), x.double(), lengths, grad)
    what = Read(gru.float(), x, lengths, grad, right)
    return {
        "what": f"{documents} documents, {int(lengths.sum()):,} tokens",
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "seconds"},
            {"key": "seconds", "name": "times as fast", "as": "times", "peer": CUDNN},
            {"key": "bytes", "name": "extra memory", "as": "bytes"},
            {"key": "error of states", "as": "error"},
            {"key": "error of gradients", "as": "error"},
        ],
        "rows": [
            {"": name, **row(reading, what, plan.repeats or REPEATS, device)}
            for name, reading in READINGS.items()
        ],
    }


def row(reading: Reading, what: Read, repeats: int, device: str) -> dict[str, Any]:
    cuda.free(device)
    step = partial(found, reading, what.gru, what.x, what.lengths, what.grad)
    errors = [
        float((a.double() - b).norm() / b.norm()) for a, b in zip(step(), what.right, strict=True)
    ]
    seconds = cuda.seconds(step, repeats=repeats, device=device, warm_up=1)
    return {
        "seconds": spread(seconds),
        "bytes": cuda.extra_memory(step, device),
        "error of states": errors[0],
        "error of gradients": max(errors[1:]),
    }


def found(reading: Reading, gru: nn.GRU, x: Tensor, lengths: Tensor, grad: Tensor) -> list[Tensor]:
    """The states, and the gradients of words and weights."""
    x = x.detach().requires_grad_()
    states = reading(gru, x, lengths)
    wanted = [x, *gru.parameters()]
    return [states.detach(), *torch.autograd.grad(states, wanted, grad.to(states.dtype))]
