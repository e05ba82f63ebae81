"""Label-wise attention in plain PyTorch, some rows and a block of labels at a time.

A block is scored, summed and forgotten, and the backward pass computes it again, so that memory
stays bounded whatever the number of labels. Short rows are read as one long row of tokens, cut to
the longest of them, so that hardly any padding is computed; a long row is read in pieces, which its
attention puts together. This is the operator on a CPU, and what the fused kernels are checked
against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from labelwise.kernels import eight_bits
from labelwise.kernels.cores import on_cores

GROUP_TOKENS = {"cpu": 1 << 10, "cuda": 1 << 16}
"""Tokens that are read together: a piece of one long row, or several short ones."""

BLOCK_ELEMENTS = {"cpu": 1 << 18, "cuda": 1 << 26}
"""Labels × tokens that are scored at once: 1 MB of float32, which stays in a CPU's cache from the
product to the sum, or 256 MB on a GPU, where large products are what makes it busy."""

LEAST_LABELS = 16
"""Of a block: fewer are not worth a product of their own."""

SHARED_BY_PYTORCH = 1 << 22
"""Labels × tokens up to which PyTorch shares each product among its threads: these wait for work
with their cores busy, and cores of our own would wait for them, as long as such a product takes."""

EVENLY = 4
"""Blocks on a CPU are a multiple of so many, so that two cores or four have the same to do and none
waits for the others at the end."""

_WIDE_PRODUCTS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 8)
"""Whether this PyTorch can multiply bfloat16 into float32 (on CUDA alone)."""


def blocked_logits(
    h: Tensor, v: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor
) -> Tensor:
    """Σ_t a_lt (v_t · o_l) for every document and label, differentiable in all but the lengths."""
    if eight_bits.asked_for(queries):
        return _logits_in_8_bits(h, v, lengths, queries, outputs)
    logits: Tensor = _LabelAttention.apply(h, v, lengths, queries, outputs)  # type: ignore[no-untyped-call]
    return logits


def weights(h: Tensor, lengths: Tensor, queries: Tensor) -> Tensor:
    """a_lt, (documents, labels, tokens), zero at padding."""
    padding = torch.arange(h.shape[1], device=h.device) >= lengths[:, None]  # (documents, tokens)
    scores = (queries @ h.transpose(1, 2)).to(wide(h.dtype))
    return scores.masked_fill_(padding[:, None], float("-inf")).softmax(2)


@dataclass(frozen=True)
class _Group:
    """Rows one after another that are read together, as long as the longest of them; or a piece
    of a row."""

    rows: slice
    longest: int
    padding: Tensor | None  # (rows, longest), True at padding; None where there is none
    first: int = 0
    piece: bool = False

    def pieces(self, most: int) -> list[_Group]:
        """The row in pieces of about the same size; short rows as they are."""
        if self.longest <= most:
            return [self]
        count = -(-self.longest // most)
        cuts = [self.longest * at // count for at in range(count + 1)]
        return [
            replace(self, first=first, longest=end - first, piece=True)
            for first, end in pairwise(cuts)
        ]

    def tokens(self, x: Tensor) -> Tensor:  # (documents, tokens, width) to (rows · longest, width)
        return x[self.rows, self.first : self.first + self.longest].flatten(0, 1)

    def apart(self, products: Tensor) -> Tensor:  # (labels, rows · longest) to (…, rows, longest)
        return products.view(len(products), -1, self.longest)

    def softmax(self, scores: Tensor) -> Tensor:  # (labels, rows, longest)
        if self.padding is not None:
            scores.masked_fill_(self.padding, float("-inf"))
        return scores.softmax(2)

    def attention(self, scores: Tensor) -> tuple[Tensor, Tensor | None]:
        """Its softmax and, for a piece, the logarithm of what that divided by: it says how much
        of the row's attention the piece has."""
        if not self.piece:
            return self.softmax(scores), None
        highest = scores.amax(2)
        a = scores.softmax(2)
        return a, highest - a.amax(2).log()


def _groups(h: Tensor, lengths: Tensor) -> Iterator[_Group]:
    budget = _budget(GROUP_TOKENS, h)
    lengths_here = lengths.tolist()
    first = longest = 0
    for row, length in enumerate([*lengths_here, 0]):
        rows = row + 1 - first
        if row == len(h) or (rows > 1 and rows * max(longest, length) > budget):
            inside = lengths[first:row, None]
            real = torch.arange(longest, device=h.device) < inside
            ragged = min(lengths_here[first:row]) < longest
            yield _Group(slice(first, row), longest, ~real if ragged else None)
            first, longest = row, 0
        longest = max(longest, length)


def _blocks(x: Tensor, labels: int) -> Iterator[slice]:
    """Labels in blocks of about the same size, whatever the number of cores: a document's scores
    are the same to the last bit wherever they are computed."""
    count = -(-labels // max(LEAST_LABELS, _budget(BLOCK_ELEMENTS, x) // len(x)))
    if not x.is_cuda:
        count = min(-(-count // EVENLY) * EVENLY, -(-labels // LEAST_LABELS))
    cuts = [labels * at // count for at in range(count + 1)]
    return (slice(start, end) for start, end in pairwise(cuts))


def _budget(budgets: dict[str, int], x: Tensor) -> int:
    return budgets.get(x.device.type, budgets["cpu"])


class _LabelAttention(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Any, h: Tensor, v: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor
    ) -> Tensor:
        logits = h.new_empty((len(h), len(queries)), dtype=wide(h.dtype))
        for group in _groups(h, lengths):
            found = []
            for part in group.pieces(_budget(GROUP_TOKENS, h)):
                x = part.tokens(h)
                y = x if v is h else part.tokens(v)
                found.append(_attend(part, x, y, queries, outputs))
            logits[group.rows] = _together(found)
        ctx.save_for_backward(h, v, lengths, queries, outputs, logits)
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, v, lengths, queries, outputs, logits = ctx.saved_tensors
        grad_h, grad_v, grad_queries, grad_outputs = (
            torch.zeros_like(x, dtype=grad.dtype) for x in (h, v, queries, outputs)
        )
        for group in _groups(h, lengths):
            x, y = group.tokens(h), group.tokens(v)
            grad_x, grad_y = (torch.zeros_like(t, dtype=grad.dtype) for t in (x, y))
            for block in _blocks(x, len(queries)):
                a = _weights(group, x, queries[block])
                a *= grad[group.rows, block].T[:, :, None]
                # The derivative of softmax: a_lt (v_t·o_l − Σ_s a_ls v_s·o_l), the sum being the
                # logit.
                ds = group.apart(_products(outputs[block], y)).to(grad.dtype)
                ds = ds.sub_(logits[group.rows, block].T[:, :, None]).mul_(a)
                a, ds = a.flatten(1).to(h.dtype), ds.flatten(1).to(h.dtype)
                grad_x += ds.T @ queries[block]
                grad_y += a.T @ outputs[block]
                grad_queries[block] += ds @ x
                grad_outputs[block] += a @ y
            grad_h[group.rows, : group.longest] = grad_x.view(-1, group.longest, h.shape[2])
            grad_v[group.rows, : group.longest] = grad_y.view(-1, group.longest, v.shape[2])
        return (
            grad_h.to(h.dtype),
            grad_v.to(v.dtype),
            None,
            grad_queries.to(queries.dtype),
            grad_outputs.to(outputs.dtype),
        )


def _attend(group: _Group, x: Tensor, y: Tensor, queries: Tensor, outputs: Tensor) -> Tensor:
    def attend(block: slice) -> Tensor:
        a, share = group.attention(_scores(group, x, queries[block]))
        a *= group.apart(_products(outputs[block], y))
        return _with_share(a.sum(2), share)

    return _in_blocks(attend, x, len(queries))


def _with_share(logits: Tensor, share: Tensor | None) -> Tensor:
    """(block, rows) to (block, rows, 1 or 2)."""
    return logits[:, :, None] if share is None else torch.stack((logits, share), 2)


def _in_blocks(attend: Callable[[slice], Tensor], x: Tensor, labels: int) -> Tensor:
    """What ``attend`` finds for the labels of each block, put together: (labels, rows, 1 or 2)."""
    share = map if x.is_cuda or labels * len(x) <= SHARED_BY_PYTORCH else on_cores
    return torch.cat(list(share(attend, _blocks(x, labels))))


def _together(found: Sequence[Tensor]) -> Tensor:
    """The logits (rows, labels) from those of the pieces, each counting as its share."""
    if len(found) == 1:
        return found[0][:, :, 0].T
    logits, shares = torch.stack(list(found)).unbind(3)  # (pieces, labels, rows)
    return (shares.softmax(0) * logits).sum(0).T


def _weights(group: _Group, x: Tensor, queries: Tensor) -> Tensor:
    return group.softmax(_scores(group, x, queries))


def _scores(group: _Group, x: Tensor, queries: Tensor) -> Tensor:
    # Tokens come last: the softmax then runs along the memory.
    return group.apart(_products(queries, x).to(wide(x.dtype)))


def _products(of_labels: Tensor, of_tokens: Tensor) -> Tensor:
    """(labels, width) and (tokens, width) to (labels, tokens)."""
    if _WIDE_PRODUCTS and of_tokens.is_cuda and of_tokens.dtype in (torch.bfloat16, torch.float16):
        # The sums are float32 in the card anyway: rounding a score of 16 to bfloat16 would change
        # its weight by 6 %.
        return torch.mm(of_labels, of_tokens.T, out_dtype=torch.float32)
    return of_labels @ of_tokens.T


def wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _logits_in_8_bits(
    h: Tensor, v: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor
) -> Tensor:
    """The same for scoring: queries, outputs and each document as whole numbers with a scale."""
    logits = h.new_empty((len(h), len(queries)))
    q, o = eight_bits.rounded_weight(queries), eight_bits.rounded_weight(outputs)
    for group in _groups(h, lengths):
        x = _documents_in_8_bits(group, h)
        y = x if v is h else _documents_in_8_bits(group, v)
        found = []
        for part in group.pieces(_budget(GROUP_TOKENS, h)):
            some = slice(None) if not part.piece else slice(part.first, part.first + part.longest)
            found.append(_attend_in_8_bits(part, (x[0][some], x[1]), (y[0][some], y[1]), q, o))
        logits[group.rows] = _together(found)
    return logits


Scaled = tuple[Tensor, Tensor]
"""Whole numbers, and their scales."""


def _documents_in_8_bits(group: _Group, x: Tensor) -> Scaled:
    """(rows · longest, width) and (rows,): one scale a document, and none of it from padding, so
    that batch mates do not matter."""
    rows = x[group.rows, : group.longest]
    if group.padding is not None:
        rows = rows.masked_fill(group.padding[:, :, None], 0)
    whole, scale = eight_bits.rounded(rows.flatten(1))
    return whole.view(-1, x.shape[2]), scale[:, 0]


def _attend_in_8_bits(group: _Group, x: Scaled, y: Scaled, q: Scaled, o: Scaled) -> Tensor:
    def attend(block: slice) -> Tensor:
        scores = group.apart(eight_bits.product(q[0][block], x[0]))
        a, share = group.attention(scores * (q[1][block] * x[1])[:, :, None])
        a *= group.apart(eight_bits.product(o[0][block], y[0]))
        return _with_share(a.sum(2) * (o[1][block] * y[1]), share)

    return _in_blocks(attend, x[0], len(q[0]))
