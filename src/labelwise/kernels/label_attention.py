"""Label-wise attention in plain PyTorch, in blocks of labels, so that memory stays bounded.

Label l reads the documents with its own query and judges what it read with its own output:

    a_lt = softmax over the real tokens t of (h_t · q_l)
    logit_l = Σ_t a_lt (v_t · o_l) + b_l        with v_t = h_t unless values are given

Σ_t a_lt v_t is used only in the product with o_l, so neither it (documents × labels × width) nor
the attention (documents × labels × tokens) is ever held whole: a block of labels is scored, summed
and forgotten, and the backward pass computes it again.
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


def label_attention(
    h: Tensor,
    lengths: Tensor,
    queries: Tensor,
    outputs: Tensor,
    bias: Tensor,
    *,
    values: Tensor | None = None,
) -> Tensor:
    """The logits of all labels, documents × labels, in float32 (float64 where h is).

    ``h`` (documents, tokens, width) is what is attended to, ``lengths`` (documents,) how many of
    its tokens are real, at least one. ``queries`` (labels, width) and ``outputs`` (labels, width)
    belong to the labels; ``bias`` is one a label, or one for all. ``values`` (documents, tokens,
    any width) stands in for h in the weighted sum, where the two differ; the outputs then have its
    width. Under autocast the products are made in autocast's precision, the sums in float32.
    """
    v = h if values is None else values
    h, v, queries, outputs = _as_autocast(h, v, queries, outputs)
    logits: Tensor = _LabelAttention.apply(  # type: ignore[no-untyped-call]
        h, v, lengths.to(h.device), queries, outputs
    )
    return logits + bias


def attention_weights(h: Tensor, lengths: Tensor, queries: Tensor) -> Tensor:
    """What the labels of these queries attend to: (documents, tokens, labels), zero at padding."""
    h, queries = _as_autocast(h, queries)
    return _weights(h, _padding(h, lengths.to(h.device)), queries).transpose(1, 2)


def _as_autocast(*tensors: Tensor) -> tuple[Tensor, ...]:
    """In autocast's precision where it is on: an encoder may have left some of them wider."""
    device = tensors[0].device.type
    if not torch.is_autocast_enabled(device):
        return tensors
    return tuple(x.to(torch.get_autocast_dtype(device)) for x in tensors)


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
