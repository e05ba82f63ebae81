"""Attention among the tokens of rows that lie packed one after another, without padding.

For the tokens t and s of one row and a head of width d:

    a_ts = softmax over s of (q_t · k_s / √d + bias by the distance s - t)      out_t = Σ_s a_ts v_s

Queries, keys and values stand side by side in one array, as one product makes them. On a GPU the
fused kernels do it; elsewhere PyTorch's own attention, rows of like length together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from labelwise.kernels.launching import moved, runs_triton

QUERIES = 128
"""Tokens of a row whose attention one program of the GPU finds."""

FUSED_WIDTHS = (16, 32, 64, 128)
"""Widths of a head that the kernels can do."""

GROUP_TOKENS = 1 << 13
"""Tokens, padding counted in, that PyTorch's attention is given at once."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the rows lie among N tokens."""

    lengths: NDArray[np.int64]  # (S,) on the host
    blocks: Tensor  # (blocks, 3) first token, tokens and first query of each block of queries

    @classmethod
    def of(cls, lengths: NDArray[np.int64], device: torch.device) -> Rows:
        starts = np.cumsum(lengths) - lengths
        counts = -(-lengths // QUERIES)
        row = np.repeat(np.arange(len(lengths)), counts)
        first = (np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)) * QUERIES
        blocks = np.stack([starts[row], lengths[row], first], 1).astype(np.int32)
        return cls(lengths, moved(torch.from_numpy(blocks), device))

    def __len__(self) -> int:
        return len(self.lengths)


def packed_attention(qkv: Tensor, rows: Rows, heads: int, bias: Tensor | None = None) -> Tensor:
    """qkv (N, 3 · heads · d), bias (heads, T, T) of ``by_distance`` or None, to (N, heads · d).

    The bias has no gradient.
    """
    if runs_triton(qkv) and qkv.shape[1] // (3 * heads) in FUSED_WIDTHS:
        from labelwise.kernels.fused_packed import fused_packed_attention

        return fused_packed_attention(qkv, rows, heads, bias)
    return plain_packed_attention(qkv, rows, heads, bias)


def plain_packed_attention(qkv: Tensor, rows: Rows, heads: int, bias: Tensor | None) -> Tensor:
    """The same in PyTorch, some rows at a time, padded to the longest of them.

    Rows are split from one array and not sliced one by one: in the backward pass the gradient of
    each slice would be as large as the array.
    """
    parts = torch.split(qkv, rows.lengths.tolist())  # (t, 3 · H) each
    found: list[Tensor] = []
    order: list[int] = []
    for group in _groups(rows):
        lengths = torch.from_numpy(rows.lengths[group]).to(qkv.device)
        longest = int(lengths.max())
        padded = torch.stack(
            [pad(parts[row], (0, 0, 0, longest - len(parts[row]))) for row in group]
        )  # (rows, T, 3 · H)
        q, k, v = padded.view(len(group), longest, 3, heads, -1).permute(2, 0, 3, 1, 4)
        real = torch.arange(longest, device=qkv.device) < lengths[:, None]  # (rows, T)
        mask = None  # (heads, T, T)
        if bias is not None:
            mask = bias[:, :longest, :longest].to(q.dtype)
        is_full = len(group) * longest == int(lengths.sum())
        if not is_full:
            nothing = q.new_zeros(()) if mask is None else mask
            there = real[:, None, None]  # (rows, 1, 1, T)
            mask = torch.where(there, nothing, float("-inf"))  # (rows, 1 or heads, 1 or T, T)
        out = scaled_dot_product_attention(q, k, v, attn_mask=mask)  # (rows, heads, T, d)
        out = out.transpose(1, 2).flatten(2)  # (rows, T, H)
        found.append(out.flatten(0, 1) if is_full else out[real])
        order += group.tolist()
    by_row = torch.split(torch.cat(found), rows.lengths[order].tolist())
    return torch.cat([by_row[at] for at in np.argsort(order)])


def by_distance(table: Tensor, longest: int) -> Tensor:
    """What the distance of two tokens adds to their score, for each pair of them in a row: (heads,
    2 reach + 1), from as far as it can be before to as far as it can be after, to (heads, T, T).

    T is the longest row and what fills its last block: the kernels read whole blocks, and faster
    than they would look every pair up. A distance beyond the reach counts as the reach.
    """
    reach = table.shape[1] // 2
    at = torch.arange(-(-longest // QUERIES) * QUERIES, device=table.device)
    distance = (at[None, :] - at[:, None]).clamp(-reach, reach)
    return table[:, distance + reach]


def _groups(rows: Rows) -> Iterator[NDArray[np.int64]]:
    """Rows of like length, the longest first, within the budget, padding counted in."""
    order = np.argsort(-rows.lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, GROUP_TOKENS // int(rows.lengths[order[start]]))
        yield order[start : start + size]
        start += size
