"""Label-wise attention for a GPU: products by cuBLAS, and what lies between them in two kernels.

Forward: products give q_l · h_t and o_l · v_t, labels × tokens, and a kernel passes over them once,
with an online softmax: of each label and document it keeps the highest score so far, the sum of
the weights, and the weighted sum of o_l · v_t, three numbers. The logarithm of the softmax's sum is
kept for the backward pass.

Backward: with a_lt = g_l · softmax_lt, g_l being the gradient of the logit, and
ds_lt = a_lt (o_l · v_t − logit_l), which another kernel puts in the place of the two, all
gradients are matrix products:

    dh_t = Σ_l ds_lt q_l     dv_t = Σ_l a_lt o_l     dq_l = Σ_t ds_lt h_t     do_l = Σ_t a_lt v_t

Of the first documents, as many as a share of the card's memory holds, q_l · h_t and o_l · v_t stay
until then; of the others they are made again, for as many documents (and labels, where they are
very many) at a time as a bounded buffer holds. Only real tokens take part.

Where the operands are in bfloat16, those two products are made and held in float16, whose rounding
is eight times finer; what is beyond its range counts as its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from labelwise.kernels import triton_attention as kernels
from labelwise.kernels.launching import moved, on
from labelwise.kernels.triton_attention import ALIGNED, HIGHEST

BUFFER_ELEMENTS = 1 << 25
"""Labels × tokens whose products are held at once where they do not stay: 128 MB in float16."""

KEPT_SHARE = 1 / 32
"""Of the card's memory, for products that stay until the backward pass."""

READ: dict[str, Any] = {"BL": 8, "BT": 128, "num_warps": 2}
DIFFERENTIATE: dict[str, Any] = {"BL": 16, "BT": 256, "num_warps": 8}
"""How many labels and tokens a program takes, and how many warps."""

MOVED = 4096
"""Numbers that a program moves between padded documents and packed ones."""


def fused_logits(
    h: Tensor,
    v: Tensor,
    lengths: Tensor,
    queries: Tensor,
    outputs: Tensor,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Σ_t a_lt (v_t · o_l) for every document and label, differentiable in all but the lengths.

    The products are made in ``dtype`` (that of h, unless given), the sums in float32. Where v is h
    the two are read once. Lengths on the CPU spare the host a wait for the GPU.
    """
    with torch.autocast(h.device.type, enabled=False):  # it would round what is in float16
        logits: Tensor = _Fused.apply(  # type: ignore[no-untyped-call]
            h, v, lengths.cpu(), queries, outputs, dtype or h.dtype, torch.is_grad_enabled()
        )
    return logits


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Any,
        h: Tensor,
        v: Tensor,
        lengths: Tensor,
        queries: Tensor,
        outputs: Tensor,
        dtype: torch.dtype,
        learns: bool,
    ) -> Tensor:
        labels, same = len(queries), v is h
        packing = _Packing.of(lengths, h.shape[1], h.device)
        pieces = _Pieces.of(packing, labels, _room(h, labels, dtype) if learns else 0)
        with on(h):
            tokens = [packing.pack(x, dtype) for x in ([h] if same else [h, v])]
            weights = _weights(queries, outputs, dtype, pieces.chunks, stacked=same)
            sides = [_Side(x, own) for (x, _), own in zip(tokens, weights, strict=True)]
            fine = [
                _Side(x, [_fine(some) for some in own])
                for (_, x), own in zip(tokens, weights, strict=True)
            ]
            left = pieces.room(fine[0].rows)
            logits = h.new_empty((len(lengths), labels), dtype=torch.float32)
            sums = torch.empty_like(logits)
            for group, at, both in pieces.buffers(fine[0].rows, left):
                _multiply(fine, group, at, both)
                s, x = both.tensor_split(2)
                kernels.read[(-(-len(s) // READ["BL"]) * group.documents,)](
                    s, x, packing.starts, packing.lengths, logits, sums, group.first, group.start,
                    pieces.chunks[at].start, len(s), labels, s.shape[1],
                    NARROW=s.dtype == torch.float16, ALIGN=ALIGNED, **READ,
                )  # fmt: skip
        ctx.pieces, ctx.left = pieces, left
        ctx.like = [(x.dtype, x.shape[-1]) for x in (h, v, queries, outputs)]
        ctx.save_for_backward(logits, sums, *(x for one in sides for x in (one.rows, *one.weights)))
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        logits, sums, *saved = ctx.saved_tensors
        pieces, left, ctx.left = ctx.pieces, ctx.left, None
        if left is None:  # the pass before this one has put ds and a in its place
            pieces, left = _Pieces.of(pieces.packing, pieces.labels, 0), []
        packing, count, dtype = pieces.packing, 1 + len(pieces.chunks), saved[0].dtype
        sides = [_Side(saved[at], saved[at + 1 : at + count]) for at in range(0, len(saved), count)]
        learned = ctx.needs_input_grad[3] or ctx.needs_input_grad[4]  # descriptors are not
        grad, scale = _scaled(grad.float().contiguous(), dtype)
        with on(grad):
            fine = [side.fine() for side in sides] if pieces.others else sides
            found = [
                side.empty(_out(kind) if count == 2 else torch.float32)
                for side, (kind, _) in zip(sides, ctx.like, strict=False)
            ]
            for group, at, both in pieces.buffers(fine[0].rows, left):
                if group is not pieces.kept:
                    _multiply(fine, group, at, both)
                s, x = both.tensor_split(2)
                ds, a = both.view(dtype).tensor_split(2)  # the same memory
                tiles = -(-group.longest // DIFFERENTIATE["BT"])
                programs = -(-len(s) // DIFFERENTIATE["BL"]) * tiles * group.documents
                kernels.differentiate[(programs,)](
                    s, x, packing.starts, packing.lengths, logits, sums, grad, ds, a,
                    group.first, group.start, pieces.chunks[at].start, len(s), pieces.labels,
                    s.shape[1], tiles, NARROW=s.dtype == torch.float16, ALIGN=ALIGNED,
                    **DIFFERENTIATE,
                )  # fmt: skip
                parts = both.view(dtype).tensor_split(len(sides))
                for part, side, to in zip(parts, sides, found, strict=True):
                    _add(to.rows[group.rows], part.T, side.weights[at], first=at == 0)
                    if learned:
                        _add(to.weights[at], part, side.rows[group.rows], first=group.start == 0)
            del left, both, s, x, ds, a, parts, part, fine  # before more memory is taken
            of_tokens = [
                packing.unpack(found[at].rows, ctx.like[at][1]) for at in range(len(sides))
            ]
        of_labels = [_joined(x) for x in _apart(found)] if learned else [None, None]
        of_h, of_v = of_tokens if len(found) == 2 else (of_tokens[0], None)
        own_h, own_v, own_q, own_o = (
            None if x is None else (x if scale is None else x.mul_(scale))[..., :width].to(kind)
            for x, (kind, width) in zip((of_h, of_v, *of_labels), ctx.like, strict=True)
        )
        return own_h, own_v, None, own_q, own_o, None, None


@dataclass(frozen=True, eq=False)
class _Side:
    """Packed tokens and what they are multiplied by, a matrix for each chunk of labels.

    Where v is h there is one side, whose matrices have the queries of a chunk above its outputs;
    otherwise there are h with the queries and v with the outputs.
    """

    rows: Tensor  # (rows, width)
    weights: Sequence[Tensor]

    def fine(self) -> _Side:
        return _Side(_fine(self.rows), [_fine(x) for x in self.weights])

    def empty(self, kind: torch.dtype) -> _Side:
        """For the gradients; those of tokens in this precision."""
        own = [torch.empty_like(x, dtype=torch.float32) for x in self.weights]
        return _Side(torch.empty_like(self.rows, dtype=kind), own)


@dataclass(frozen=True)
class _Group:
    """Documents whose products are held together, and their rows among the packed ones."""

    first: int
    documents: int
    start: int
    stop: int
    longest: int

    @classmethod
    def of(cls, ends: list[int], first: int, stop: int) -> _Group:
        """The documents from the first on, of all that end at these rows."""
        bounds = [ends[first - 1] if first else 0, *ends[first:stop]]
        longest = max((after - before for before, after in pairwise(bounds)), default=0)
        return cls(first, stop - first, bounds[0], bounds[-1], longest)

    @property
    def rows(self) -> slice:
        return slice(self.start, self.stop)


@dataclass(frozen=True, eq=False)
class _Packing:
    """Where the tokens of padded documents go when only real ones are kept."""

    starts: Tensor  # (documents,) the first row of each
    lengths: Tensor  # (documents,)
    ends: list[int]  # on the host
    longest: int  # rows of the longest document
    tokens: int  # of a padded document
    full: bool  # there is no padding, nor is there need of any

    @classmethod
    def of(cls, lengths: Tensor, tokens: int, device: torch.device) -> _Packing:
        aligned = (lengths.long() + ALIGNED - 1) // ALIGNED * ALIGNED
        ends = aligned.cumsum(0)
        starts, there = moved(torch.stack([ends - aligned, lengths]).int(), device)
        return cls(
            starts=starts,
            lengths=there,
            ends=ends.tolist(),
            longest=int(aligned.max()),
            tokens=tokens,
            full=int(lengths.min()) == tokens and tokens % ALIGNED == 0,
        )

    def pack(self, x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """(documents, tokens, width) to (rows, width), as it is and fine; zero where filled up."""
        x, width = x.contiguous(), _filled(x.shape[2], dtype)
        as_it_is = self.full and x.dtype == dtype and x.shape[2] == width
        rows = x.flatten(0, 1) if as_it_is else x.new_empty((self.ends[-1], width), dtype=dtype)
        held = _held(dtype)
        fine = rows if held == dtype else rows.new_empty(rows.shape, dtype=held)
        if not as_it_is or fine is not rows:
            blocks = -(-self.longest * width // MOVED)
            kernels.pack[(blocks * len(self.ends),)](
                x, rows, fine, self.starts, self.lengths, self.tokens, blocks, W=x.shape[2],
                TO=width, COPY=not as_it_is, FINE=fine is not rows, ALIGN=ALIGNED, BLOCK=MOVED,
            )  # fmt: skip
        rounded = _rounded(rows)
        return rounded, rounded if fine is rows else fine

    def unpack(self, x: Tensor, width: int) -> Tensor:
        """(rows, any width) to (documents, tokens, width), zero at padding."""
        shape = len(self.ends), self.tokens, width
        if self.full and x.shape[1] == width:
            return x.view(shape)
        to = x.new_empty(shape)
        blocks = -(-self.tokens * width // MOVED)
        kernels.unpack[(blocks * len(self.ends),)](
            x, to, self.starts, self.lengths, self.tokens, blocks, W=width, FROM=x.shape[1],
            ALIGN=ALIGNED, BLOCK=MOVED,
        )  # fmt: skip
        return to


@dataclass(frozen=True, eq=False)
class _Pieces:
    """What is multiplied at once: groups of documents, and chunks of labels."""

    packing: _Packing
    labels: int
    chunks: list[slice]
    kept: _Group  # whose products stay; there may be no document in it
    others: list[_Group]

    @classmethod
    def of(cls, packing: _Packing, labels: int, room: int) -> _Pieces:
        """As many documents are kept as have at most ``room`` rows."""
        chunk = min(labels, max(1024, BUFFER_ELEMENTS // packing.longest))
        chunks = [slice(at, min(at + chunk, labels)) for at in range(0, labels, chunk)]
        rows = max(packing.longest, BUFFER_ELEMENTS // chunk)
        ends = packing.ends
        first = kept = bisect_right(ends, room)
        others = []
        while first < len(ends):
            stop = max(first + 1, bisect_right(ends, rows + (ends[first - 1] if first else 0)))
            others.append(_Group.of(ends, first, stop))
            first = stop
        return cls(packing, labels, chunks, _Group.of(ends, 0, kept), others)

    def room(self, like: Tensor) -> list[Tensor]:
        """For the products that stay: of each chunk (twice its labels, rows)."""
        return [like.new_empty((2 * (x.stop - x.start), self.kept.stop)) for x in self.chunks]

    def buffers(self, like: Tensor, left: list[Tensor]) -> Iterator[tuple[_Group, int, Tensor]]:
        """Every group and chunk, and where its products are; those that do not stay share it."""
        if self.kept.documents:
            yield from ((self.kept, at, both) for at, both in enumerate(left))
        rows = max((group.stop - group.start for group in self.others), default=0)
        buffer = like.new_empty(2 * self.chunks[0].stop * rows)
        for group in self.others:
            for at, some in enumerate(self.chunks):
                shape = 2 * (some.stop - some.start), group.stop - group.start
                yield group, at, buffer[: shape[0] * shape[1]].view(shape)


def _room(h: Tensor, labels: int, dtype: torch.dtype) -> int:
    """Tokens whose products a share of the card's memory holds."""
    memory = torch.cuda.get_device_properties(h.device).total_memory if h.is_cuda else 1 << 35
    return int(memory * KEPT_SHARE) // (2 * labels * _held(dtype).itemsize)


def _weights(
    queries: Tensor, outputs: Tensor, dtype: torch.dtype, chunks: list[slice], *, stacked: bool
) -> list[list[Tensor]]:
    """Of each side a matrix for each chunk."""
    queries, outputs = _ready(queries, dtype), _ready(outputs, dtype)
    if stacked:
        return [[torch.cat([queries[some], outputs[some]]) for some in chunks]]
    return [[queries[some] for some in chunks], [outputs[some] for some in chunks]]


def _apart(found: list[_Side]) -> tuple[list[Tensor], list[Tensor]]:
    """What belongs to the queries and to the outputs of each chunk."""
    if len(found) == 2:
        return list(found[0].weights), list(found[1].weights)
    halves = [x.tensor_split(2) for x in found[0].weights]
    return [q for q, _ in halves], [o for _, o in halves]


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _multiply(sides: list[_Side], group: _Group, chunk: int, to: Tensor) -> None:
    """q · h of a chunk of labels and a group of documents, and below it o · v."""
    for side, part in zip(sides, to.tensor_split(len(sides)), strict=True):
        torch.mm(side.weights[chunk], side.rows[group.rows].T, out=part)


def _add(to: Tensor, a: Tensor, b: Tensor, *, first: bool) -> None:
    """The first product is put there, others are added, in float32."""
    if not a.is_cuda:
        product = a.float() @ b.float()
        to.copy_(product if first else to + product)
    elif first and to.dtype == a.dtype:
        torch.mm(a, b, out=to)
    elif first:
        torch.mm(a, b, out_dtype=to.dtype, out=to)
    elif to.dtype == a.dtype:
        to.addmm_(a, b)
    else:
        torch.addmm(to, a, b, out_dtype=to.dtype, out=to)


def _out(kind: torch.dtype) -> torch.dtype:
    """In which precision a gradient is put together that is wanted in this one."""
    return torch.float32 if kind == torch.float64 else kind


def _held(dtype: torch.dtype) -> torch.dtype:
    """In which precision the products of operands in this one are held."""
    return torch.float16 if dtype == torch.bfloat16 else dtype


def _fine(x: Tensor) -> Tensor:
    """In the precision that the products are held in."""
    return x.clamp(-HIGHEST, HIGHEST).half() if x.dtype == torch.bfloat16 else x


def _filled(width: int, dtype: torch.dtype) -> int:
    """The width of rows of a multiple of 16 bytes, with which products are quickest."""
    return width + -width % (16 // dtype.itemsize)


def _ready(x: Tensor, dtype: torch.dtype) -> Tensor:
    """In the precision of the products, in filled rows."""
    x = x.to(dtype)
    if fill := _filled(x.shape[1], dtype) - x.shape[1]:
        x = pad(x, (0, fill))
    return _rounded(x.contiguous())


def _rounded(x: Tensor) -> Tensor:
    """To the nearest tf32 number where these are used: the matrix units would cut off the rest."""
    if x.dtype != torch.float32 or not x.is_cuda or not torch.backends.cuda.matmul.allow_tf32:
        return x
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def _scaled(grad: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    """The gradient as float16 can hold it, whose smallest number is 6e-8, and what undoes it."""
    if dtype != torch.float16:
        return grad, None
    highest = grad.abs().amax().clamp_min(1e-30)
    return grad / highest, highest
