"""Label-wise attention in plain PyTorch, a block of labels at a time.

A block is scored, summed and forgotten, and the backward pass computes it again, so that memory
stays bounded whatever the number of labels. This is the operator on a CPU, and what the fused
kernels are checked against.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK_ELEMENTS = {"cpu": 1 << 21, "cuda": 1 << 26}
"""Documents × tokens × labels scored at once: some MB that a CPU's cache can help with, or
256 MB of float32 on a GPU, where large products are what makes it busy."""

_WIDE_PRODUCTS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 8)
"""Whether this PyTorch can multiply bfloat16 into float32 (on CUDA alone)."""


def blocked_logits(
    h: Tensor, v: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor
) -> Tensor:
    """Σ_t a_lt (v_t · o_l) for every document and label, differentiable in all but the lengths."""
    logits: Tensor = _LabelAttention.apply(h, v, lengths, queries, outputs)  # type: ignore[no-untyped-call]
    return logits


def weights(h: Tensor, lengths: Tensor, queries: Tensor) -> Tensor:
    """a_lt, (documents, labels, tokens), zero at padding."""
    return _weights(h, _padding(h, lengths), queries)


class _LabelAttention(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Any, h: Tensor, v: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor
    ) -> Tensor:
        padding = _padding(h, lengths)
        logits = h.new_empty((len(h), len(queries)), dtype=_wide(h.dtype))
        for block in _blocks(h, len(queries)):
            a = _weights(h, padding, queries[block])  # (documents, block, tokens)
            logits[:, block] = a.mul_(_products(outputs[block], v)).sum(2)
        ctx.save_for_backward(h, v, lengths, queries, outputs, logits)
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, v, lengths, queries, outputs, logits = ctx.saved_tensors
        padding = _padding(h, lengths)
        grad_h = torch.zeros_like(h, dtype=grad.dtype)
        grad_v = torch.zeros_like(v, dtype=grad.dtype)
        grad_queries, grad_outputs = torch.empty_like(queries), torch.empty_like(outputs)
        for block in _blocks(h, len(queries)):
            a = _weights(h, padding, queries[block]).mul_(grad[:, block, None])
            # The derivative of softmax: a_lt (v_t·o_l − Σ_s a_ls v_s·o_l), the sum being the logit.
            ds = _products(outputs[block], v).to(grad.dtype).sub_(logits[:, block, None]).mul_(a)
            a, ds = a.to(h.dtype), ds.to(h.dtype)
            grad_h += ds.transpose(1, 2) @ queries[block]
            grad_v += a.transpose(1, 2) @ outputs[block]
            grad_queries[block] = (ds @ h).sum(0, dtype=grad.dtype)
            grad_outputs[block] = (a @ v).sum(0, dtype=grad.dtype)
        return grad_h.to(h.dtype), grad_v.to(v.dtype), None, grad_queries, grad_outputs


def _weights(h: Tensor, padding: Tensor, queries: Tensor) -> Tensor:
    # Tokens come last: the softmax then runs along the memory.
    scores = _products(queries, h).to(_wide(h.dtype))
    return scores.masked_fill_(padding, float("-inf")).softmax(2)


def _products(of_labels: Tensor, of_tokens: Tensor) -> Tensor:
    """(labels, width) and (documents, tokens, width) to (documents, labels, tokens)."""
    tokens = of_tokens.transpose(1, 2)
    if _WIDE_PRODUCTS and tokens.is_cuda and tokens.dtype in (torch.bfloat16, torch.float16):
        # The sums are float32 in the card anyway: rounding a score of 16 to bfloat16 would change
        # its weight by 6 %.
        return torch.bmm(of_labels.expand(len(tokens), -1, -1), tokens, out_dtype=torch.float32)
    return of_labels @ tokens


def _padding(h: Tensor, lengths: Tensor) -> Tensor:
    """True at padding: (documents, 1, tokens)."""
    return (torch.arange(h.shape[1], device=h.device) >= lengths[:, None])[:, None]


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _blocks(h: Tensor, labels: int) -> Iterator[slice]:
    budget = BLOCK_ELEMENTS.get(h.device.type, BLOCK_ELEMENTS["cpu"])
    size = max(16, budget // (h.shape[0] * h.shape[1]))
    for start in range(0, labels, size):
        yield slice(start, min(start + size, labels))
