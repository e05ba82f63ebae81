"""Attention of packed rows, fused for a GPU: no weight is ever stored, and no padding read.

Forward: a program takes a block of queries of one row and one head, and passes over the row's
tokens once, with an online softmax. Backward: one kernel for the gradients of the queries, one for
those of keys and values; each computes the weights again from the logarithm of the softmax's sum.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from labelwise.kernels import triton_packed as kernels
from labelwise.kernels.launching import on
from labelwise.kernels.packed_attention import QUERIES, Rows


def fused_packed_attention(qkv: Tensor, rows: Rows, heads: int, bias: Tensor | None) -> Tensor:
    """As ``packed_attention``, with the fused kernels."""
    out: Tensor = _Attention.apply(qkv, rows, heads, bias)  # type: ignore[no-untyped-call]
    return out


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, rows: Rows, heads: int, bias: Tensor | None) -> Tensor:
        qkv = qkv.contiguous()
        tokens, width = len(qkv), qkv.shape[1] // 3
        out = qkv.new_empty((tokens, width))
        sums = qkv.new_empty((heads, tokens), dtype=torch.float32)
        side, pairs = 0, sums  # of no use without a bias
        if bias is not None:
            side = bias.shape[1]
            # In half precision, whose rounding is finer than that of the scores in bfloat16.
            pairs = bias.to(torch.float32 if qkv.itemsize == 4 else torch.float16).contiguous()
        options = {
            "HEADS": heads,
            "D": width // heads,
            "BIASED": bias is not None,
            "PRECISION": "ieee",
        }
        with on(qkv):
            kernels.forward[len(rows.blocks), heads](
                qkv, out, sums, rows.blocks, pairs, side, tokens, (width // heads) ** -0.5,
                BM=QUERIES, BN=64, num_warps=4 if width <= 32 * heads else 8, num_stages=3,
                **options,
            )  # fmt: skip
        ctx.save_for_backward(qkv, out, sums, rows.blocks, pairs)
        ctx.side, ctx.options = side, options
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        qkv, out, sums, blocks, pairs = ctx.saved_tensors
        grad = grad.contiguous()
        gradients = torch.empty_like(qkv)
        means = torch.empty_like(sums)  # Σ out · grad of each token and head
        width, heads = ctx.options["D"], ctx.options["HEADS"]
        given = qkv, out, grad, gradients, sums, means, blocks
        turned = pairs.transpose(1, 2).contiguous() if ctx.options["BIASED"] else pairs
        with on(qkv):
            kernels.backward_queries[len(blocks), heads](
                *given, pairs, ctx.side, len(qkv), width**-0.5,
                BM=QUERIES, BN=64, num_warps=4, num_stages=3, **ctx.options,
            )  # fmt: skip
            kernels.backward_keys[len(blocks), heads](
                *given, turned, ctx.side, len(qkv), width**-0.5, BM=32, BN=QUERIES,
                num_warps=4 if width <= 64 else 8, num_stages=3, **ctx.options,
            )  # fmt: skip
        return gradients, None, None, None
