"""Label-wise attention, the heart of the LWAN methods, in bounded memory.

Label l reads the documents with its own query and judges what it read with its own output:

    a_lt = softmax over the real tokens t of (h_t · q_l)
    logit_l = Σ_t a_lt (v_t · o_l) + b_l        with v_t = h_t unless values are given

Σ_t a_lt v_t is used only in the product with o_l, so that it (documents × labels × width) is never
made. Of the attention (documents × labels × tokens) as much is held as bounded memory allows; the
backward pass computes the rest again.
"""

from __future__ import annotations

import torch
from torch import Tensor

from labelwise.kernels import blocked
from labelwise.kernels.launching import autocast_dtype, moved, runs_triton

PLAIN_ELEMENTS = 30_000_000
"""Documents × tokens × labels up to which a GPU is quicker in plain PyTorch: what the fused kernels
save is then less than what it takes the host to launch them. Measured on an H200."""


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
    if runs_triton(h):
        if h.shape[0] * h.shape[1] * len(queries) <= PLAIN_ELEMENTS:
            return plain_logits(h, v, lengths, queries, outputs) + bias
        from labelwise.kernels.fused import fused_logits

        return fused_logits(h, v, lengths, queries, outputs, dtype=autocast_dtype(h)) + bias
    h, v, queries, outputs = _as_autocast(h, v, queries, outputs)
    return blocked.blocked_logits(h, v, lengths.to(h.device), queries, outputs) + bias


def plain_logits(h: Tensor, v: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor) -> Tensor:
    """The same as the formula says it, all at once: the quickest where it is little."""
    h, v, queries, outputs = _as_autocast(h, v, queries, outputs)
    scores = queries @ h.transpose(1, 2)  # (documents, labels, tokens)
    if int(lengths.min()) < h.shape[1]:
        there = moved(lengths.cpu(), h.device)
        padding = torch.arange(h.shape[1], device=h.device) >= there[:, None]
        scores = scores.masked_fill(padding[:, None], float("-inf"))
    read = scores.softmax(-1).to(v.dtype) @ v  # (documents, labels, width)
    return (read * outputs).sum(-1, dtype=blocked.wide(h.dtype))


def attention_weights(h: Tensor, lengths: Tensor, queries: Tensor) -> Tensor:
    """What the labels of these queries attend to: (documents, tokens, labels), zero at padding."""
    h, queries = _as_autocast(h, queries)
    return blocked.weights(h, lengths.to(h.device), queries).transpose(1, 2)


def _as_autocast(*tensors: Tensor) -> tuple[Tensor, ...]:
    """In autocast's precision where it is on: an encoder may have left some of them wider."""
    dtype = autocast_dtype(tensors[0])
    return tensors if dtype is None else tuple(x.to(dtype) for x in tensors)
