"""How far a version's logits and gradients lie from those of float64."""

from __future__ import annotations

import torch
from torch import Tensor

from labelwise.bench.attention_inputs import Inputs
from labelwise.bench.attention_versions import Version, plain

GRADIENTS = ("h", "queries", "outputs", "bias")


def values_and_gradients(version: Version, x: Inputs) -> list[Tensor]:
    """The logits, and the gradients of all that is learned: one step forward and backward."""
    logits = version(x)
    return [logits.detach(), *torch.autograd.grad(logits, x.learned, x.grad.to(logits.dtype))]


def reference(x: Inputs) -> list[Tensor]:
    """Values and gradients of the same numbers in float64, by the plain version.

    A few documents at a time: in float64 all of them would take more memory than a card has left.
    The gradients of what belongs to the labels add up over documents.
    """
    wide = x.to(torch.float64)
    found: list[list[Tensor]] = []
    for at in range(0, len(wide.h), 8):
        part = slice(at, at + 8)
        some = Inputs(
            wide.h[part].detach().requires_grad_(),
            wide.queries,
            wide.outputs,
            wide.bias,
            wide.lengths[part],
            wide.device_lengths[part],
            wide.grad[part],
        )
        found.append(values_and_gradients(plain, some))
    logits, of_h, *of_labels = zip(*found, strict=True)
    return [torch.cat(logits), torch.cat(of_h), *(torch.stack(g).sum(0) for g in of_labels)]


def relative_errors(found: list[Tensor], right: list[Tensor]) -> dict[str, float]:
    """|x − right| / |right| of logits and of each gradient, and the largest of the latter."""
    errors = {
        name: float((x.double() - y).norm() / y.norm())
        for name, x, y in zip(("logits", *GRADIENTS), found, right, strict=True)
    }
    return {
        "error of logits": errors["logits"],
        "error of gradients": max(errors[name] for name in GRADIENTS),
        **{f"error of gradient of {name}": errors[name] for name in GRADIENTS},
    }
