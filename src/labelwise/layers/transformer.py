"""The transformer encoders BERT and MPNet, over rows that lie packed one after another.

N tokens of all rows together: no padding is ever read, and a row's tokens see those of their own
row alone. The weights are those of ``transformers``, with queries, keys and values in one product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from labelwise.kernels import eight_bits
from labelwise.kernels.launching import autocast_dtype, moved
from labelwise.kernels.packed_attention import Rows, by_distance, packed_attention
from labelwise.layers.dropout import TokenDropout
from labelwise.layers.encoder_files import EncoderShape

FARTHEST = 128
"""The distance from which on MPNet tells no distances apart."""


class Transformer(nn.Module):
    """Word vectors in, encoded tokens out: (N, H) to (N, H)."""

    def __init__(self, shape: EncoderShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        self.positions = nn.Parameter(torch.zeros(shape.positions, shape.width))
        self.norm = nn.LayerNorm(shape.width, shape.epsilon)
        self.layers: Any = nn.ModuleList(_Layer(shape, dropout) for _ in range(shape.layers))
        self.dropout = TokenDropout(dropout)
        if shape.buckets:
            # Not learned: there are a few hundred of them, and gradients for each would slow down
            # all of attention.
            self.register_buffer("distances", torch.zeros(shape.buckets, shape.heads))

    def forward(self, x: Tensor, places: Tensor, rows: Rows) -> Tensor:
        """x (N, H) word vectors, places (N,) each token's place in its row."""
        if len(rows) > 1 and eight_bits.linear_asked_for(self.layers[0].read.weight):
            # A row at a time: what stands beside it then has no say in how it is rounded.
            alone = [Rows.of(rows.lengths[[at]], x.device) for at in range(len(rows))]
            sizes = rows.lengths.tolist()
            parts = zip(torch.split(x, sizes), torch.split(places, sizes), alone, strict=True)
            return torch.cat([self(*of_row) for of_row in parts])
        dtype = autocast_dtype(x) or x.dtype
        # Outside autocast, which would widen every norm: sums within it are float32 anyway.
        with torch.autocast(x.device.type, enabled=False):
            x = x + functional.embedding(places, self.positions)
            x = self.dropout(normed(x.to(dtype), self.norm))
            table = self.by_distance()
            bias = None if table is None else by_distance(table, int(rows.lengths.max()))
            for layer in self.layers:
                x = layer(x, rows, bias)
            return x

    def by_distance(self) -> Tensor | None:
        """What MPNet adds to the score of a token so far away, (heads, 2 FARTHEST + 1): from as far
        as it can be before to as far as it can be after."""
        if not self.shape.buckets:
            return None
        table: Tensor = self.get_buffer("distances")
        return table[_buckets(self.shape.buckets).to(table.device)].T.contiguous()


class _Layer(nn.Module):
    """Attention and a wide product, each added to what came in, and normed."""

    def __init__(self, shape: EncoderShape, dropout: float) -> None:
        super().__init__()
        self.heads = shape.heads
        self.read = nn.Linear(shape.width, 3 * shape.width)
        self.together = nn.Linear(shape.width, shape.width)
        self.norm_between = nn.LayerNorm(shape.width, shape.epsilon)
        self.widen = nn.Linear(shape.width, shape.inner)
        self.narrow = nn.Linear(shape.inner, shape.width)
        self.norm = nn.LayerNorm(shape.width, shape.epsilon)
        self.dropout = TokenDropout(dropout)

    def forward(self, x: Tensor, rows: Rows, bias: Tensor | None) -> Tensor:  # (N, H)
        a = packed_attention(product(x, self.read), rows, self.heads, bias)
        x = normed(x + self.dropout(product(a, self.together)), self.norm_between)
        y = product(functional.gelu(product(x, self.widen)), self.narrow)
        return normed(x + self.dropout(y), self.norm)


def product(x: Tensor, linear: nn.Linear) -> Tensor:
    """In the precision of x; for scoring on a CPU in 8 bits, where they are asked for."""
    if eight_bits.linear_asked_for(linear.weight):
        return eight_bits.linear(x, linear.weight, linear.bias)
    return functional.linear(x, linear.weight.to(x.dtype), linear.bias.to(x.dtype))


def normed(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    weight, bias = norm.weight.to(x.dtype), norm.bias.to(x.dtype)
    return functional.layer_norm(x, norm.normalized_shape, weight, bias, norm.eps)


def _buckets(buckets: int) -> Tensor:
    """The bucket of each distance from -FARTHEST to FARTHEST, as MPNet counts: half of them for
    tokens before and half for those after, the near ones alone, the far ones by logarithm."""
    distance = -torch.arange(-FARTHEST, FARTHEST + 1)  # MPNet counts from the token seen
    half = buckets // 2
    n, exact = distance.abs(), half // 2
    far = exact + (
        torch.log(n.float().clamp_min(1) / exact) / math.log(FARTHEST / exact) * (half - exact)
    ).to(torch.int64)
    bucket = torch.where(n < exact, n, far.clamp_max(half - 1))
    return bucket + torch.where(distance < 0, half, 0)


@dataclass(frozen=True, eq=False)
class PackedRows:
    """How the rows of a batch, padded, become packed ones between the tokens that open and close
    each; and how a document's tokens are found among them again.

    S rows of T tokens, padded; N packed tokens; D documents of up to M tokens.
    """

    rows: Rows
    places: Tensor  # (N,) a token's place in its row
    index: Tensor  # (N,) its place in the padded rows, S · T; -1 where it opens or closes a row
    opens: Tensor  # (N, 1) whether it opens a row
    into: Tensor  # (S · T,) the place of a padded token among the packed ones; -1 for padding
    documents: Tensor  # (D · M,) the packed tokens of each document; -1 for padding
    of_documents: Tensor  # (N,) the place of a packed token there; -1 where it is no word
    lengths: Tensor  # (D,) tokens of each document, on the CPU
    longest: int  # M

    @classmethod
    def of(
        cls,
        lengths: NDArray[np.int64],
        owner: NDArray[np.int64],
        position: NDArray[np.int64],
        documents: int,
        device: torch.device,
    ) -> PackedRows:
        """From the length of each row, the document it belongs to and its place among its rows."""
        longest_row = int(lengths.max())
        full = lengths + 2
        starts = np.cumsum(full) - full  # (S,)
        row = np.repeat(np.arange(len(lengths)), full)  # (N,)
        places = np.arange(len(row)) - starts[row]
        opens, closes = places == 0, places == full[row] - 1
        index = np.where(opens | closes, -1, row * longest_row + places - 1)
        inner = np.flatnonzero(index >= 0)
        into = np.full(len(lengths) * longest_row, -1)
        into[index[inner]] = inner

        sums = np.bincount(owner, lengths, documents).astype(np.int64)  # (D,)
        longest = int(sums.max())
        order = np.lexsort((position, owner))  # rows, document after document
        before = np.empty_like(lengths)
        before[order] = np.cumsum(lengths[order]) - lengths[order]
        before -= (np.cumsum(sums) - sums)[owner]  # tokens of the document before each row
        at = owner[row[inner]] * longest + before[row[inner]] + places[inner] - 1
        of_documents = np.full(len(row), -1)
        of_documents[inner] = at
        tokens = np.full(documents * longest, -1)
        tokens[at] = inner

        packed = [places, index, opens, of_documents]
        there = moved(torch.from_numpy(np.stack(packed)), device)
        return cls(
            rows=Rows.of(full, device),
            places=there[0],
            index=there[1],
            opens=there[2].bool()[:, None],
            into=moved(torch.from_numpy(into), device),
            documents=moved(torch.from_numpy(tokens), device),
            of_documents=there[3],
            lengths=torch.from_numpy(sums),
            longest=longest,
        )

    def pack(self, x: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """(S, T, E) word vectors, and those that open and close a row, to (N, E)."""
        words: Tensor = _Gathered.apply(x.flatten(0, 1), self.index, self.into)  # type: ignore[no-untyped-call]
        special = torch.where(self.opens, first, last)
        return torch.where(self.index[:, None] < 0, special, words)

    def by_document(self, h: Tensor) -> Tensor:
        """(N, H) to (D, M, H), zero at padding; without the tokens that open and close rows."""
        found: Tensor = _Gathered.apply(h, self.documents, self.of_documents)  # type: ignore[no-untyped-call]
        return found.view(len(self.lengths), self.longest, -1)

    def by_row(self, x: Tensor) -> Tensor:
        """What belongs to the tokens of documents, (D, M, any), by row: (S, T, any)."""
        at = self.of_documents[self.into.clamp_min(0)].masked_fill(self.into < 0, -1)  # (S · T,)
        found = x.flatten(0, 1)[at.clamp_min(0)] * (at >= 0)[:, None]
        return found.view(len(self.rows), -1, x.shape[2])


class _Gathered(torch.autograd.Function):
    """Rows of x in another order, zero where the index is -1. Each is taken at most once, and
    ``back`` says where to: so its gradient is gathered too, where PyTorch would add it up."""

    @staticmethod
    def forward(ctx: object, x: Tensor, index: Tensor, back: Tensor) -> Tensor:
        ctx.back = back  # type: ignore[attr-defined]
        return _gather(x, index)

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> tuple[Tensor, None, None]:
        return _gather(grad, ctx.back), None, None  # type: ignore[attr-defined]


def _gather(x: Tensor, index: Tensor) -> Tensor:
    return x.index_select(0, index.clamp_min(0)).masked_fill_((index < 0)[:, None], 0.0)
