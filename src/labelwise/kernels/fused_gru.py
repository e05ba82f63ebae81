"""A bidirectional GRU over rows of unlike lengths, for a GPU in half precision.

cuDNN reads all rows to the length of the longest, and a step costs it some thirty microseconds
however few the rows. Here a program reads some rows of like length to their own end, and the
products with words, which need no recurrence, are made for all tokens at once before it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from labelwise.kernels import triton_gru as kernels
from labelwise.kernels.launching import moved, on

BLOCKS = {"BD": 16, "BU": 64, "BK": 64, "num_warps": 4, "num_stages": 4}
"""Rows, units and products of a block, found by measurement on an H200."""


def bigru(x: Tensor, lengths: Tensor, weights: list[Tensor], dtype: torch.dtype) -> Tensor:
    """x (rows, tokens, width) to (rows, tokens, 2 units) in ``dtype``, zero at padding.

    ``lengths`` (rows,) lie on the CPU, best by falling length: rows that are read together then
    end together. ``weights`` are those of torch.nn.GRU, in its order: of the words, recurrent, and
    the biases of both, first from the left, then from the right.
    """
    y: Tensor = _BiGRU.apply(x, lengths, dtype, *weights)  # type: ignore[no-untyped-call]
    return y


class _BiGRU(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, lengths: Tensor, dtype: torch.dtype, *weights: Tensor
    ) -> Tensor:
        ctx.kinds = x.dtype, [w.dtype for w in weights]
        ctx.units = weights[1].shape[1]
        rows, tokens, width = x.shape
        total = int(lengths.sum())
        starts, there = moved(torch.stack([lengths.cumsum(0) - lengths, lengths]), x.device)
        row = torch.arange(rows, device=x.device).repeat_interleave(there, output_size=total)
        token = torch.arange(total, device=x.device) - starts[row]
        places = row * tokens + token  # of the real tokens among all
        words = x.reshape(-1, width).index_select(0, places).to(dtype)  # (total, width)
        of_words, of_states, bias = _filled(weights, ctx.units, dtype)
        gates = torch.addmm(bias.flatten(), words, of_words.flatten(0, 2).T)  # (total, 2 × 4 × U)
        units = of_states.shape[-1]  # with those that fill up
        packed = x.new_empty((total, 2, units), dtype=dtype)
        state = x.new_zeros((rows, 2, units), dtype=torch.float32)
        with on(x):
            kernels.forward[_grid(rows)](
                gates, packed, state, of_states, starts, there, rows, U=units, **BLOCKS
            )
        ctx.save_for_backward(words, gates, packed, of_words, of_states, starts, there, places)
        ctx.shape = rows, tokens
        y = x.new_zeros((rows * tokens, 2, ctx.units), dtype=dtype)
        return y.index_copy_(0, places, packed[:, :, : ctx.units]).view(rows, tokens, -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        words, gates, packed, of_words, of_states, starts, lengths, places = ctx.saved_tensors
        rows, tokens = ctx.shape
        total, _, units = packed.shape
        real = ctx.units
        of_gates = torch.empty_like(gates)
        grad = grad.to(packed.dtype).reshape(rows * tokens, 2, real).index_select(0, places)
        grad = pad(grad, (0, units - real))
        state = grad.new_zeros((rows, 2, units), dtype=torch.float32)
        with on(grad):
            kernels.backward[_grid(rows)](
                gates, of_gates, packed, grad, state, of_states.transpose(2, 3).contiguous(),
                starts, lengths, rows, U=units, **BLOCKS,
            )  # fmt: skip
        kind, kinds = ctx.kinds
        grad_x = None
        if ctx.needs_input_grad[0]:
            of_tokens = of_gates @ of_words.flatten(0, 2)  # (total, width)
            grad_x = of_tokens.new_zeros((rows * tokens, of_tokens.shape[1]))
            grad_x = grad_x.index_copy_(0, places, of_tokens).view(rows, tokens, -1).to(kind)
        by_side = of_gates.view(total, 2, 4 * units)
        found: list[Tensor] = []
        for side, before in enumerate(_states_before(packed, starts)):
            own = by_side[:, side]
            of_word = (own.T @ words).view(4, units, -1)[:3, :real]
            of_state = (own.T @ before).view(4, units, units)[[0, 1, 3], :real, :real]
            bias = own.sum(0, dtype=torch.float32).view(4, units)[:, :real]
            found += [of_word, of_state, bias[:3], bias[[0, 1, 3]]]
        matrices = (g.reshape(-1, g.shape[2]) if g.dim() == 3 else g.flatten() for g in found)
        return grad_x, None, None, *(g.to(k) for g, k in zip(matrices, kinds, strict=True))


def _filled(
    weights: tuple[Tensor, ...], units: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor]:
    """The weights of words (2, 4, U, width) and states (2, 3, U, U) and the biases (2, 4, U).

    The gates are reset, update, new, and the part of the new gate that the reset gate multiplies,
    to which words add nothing but its bias. U is filled up with zeros so that no block ends early;
    units of zeros stay zero.
    """
    size = max(BLOCKS["BU"], BLOCKS["BK"])
    filled = -(-units // size) * size
    of_words = weights[0].new_zeros((2, 4, filled, weights[0].shape[1]), dtype=dtype)
    of_states = weights[0].new_zeros((2, 3, filled, filled), dtype=dtype)
    bias = weights[0].new_zeros((2, 4, filled), dtype=dtype)
    for side, (words, states, b_words, b_states) in enumerate((weights[:4], weights[4:])):
        of_words[side, :3, :units] = words.view(3, units, -1)
        of_states[side, :, :units, :units] = states.view(3, units, units)
        bias[side, :3, :units] = b_words.view(3, units)
        bias[side, :2, :units] += b_states.view(3, units)[:2].to(dtype)
        bias[side, 3, :units] = b_states.view(3, units)[2]
    return of_words, of_states, bias


def _states_before(packed: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
    """The state from which each token was read, from the left and from the right."""
    left, right = torch.zeros_like(packed[:, 0]), torch.zeros_like(packed[:, 1])
    left[1:] = packed[:-1, 0]
    left[starts] = 0.0
    right[:-1] = packed[1:, 1]
    right[starts[1:] - 1] = 0.0
    return left, right


def _grid(rows: int) -> tuple[int, int]:
    return -(-rows // BLOCKS["BD"]), 2
