"""Label-wise attention fused, for a GPU.

Forward: a program takes a block of labels and a document, and passes over the document's tokens
once, with an online softmax: of each label it keeps the highest score so far, the sum of the
weights, and the weighted sum of o_l · v_t, three numbers. The logarithm of the softmax's sum is
kept for the backward pass.

Backward: with a_lt = g_l · softmax_lt, g_l being the gradient of the logit, and
ds_lt = a_lt (o_l · v_t − logit_l), all gradients are matrix products:

    dh_t = Σ_l ds_lt q_l     dv_t = Σ_l a_lt o_l     dq_l = Σ_t ds_lt h_t     do_l = Σ_t a_lt v_t

Of the first documents, as many as a share of the card's memory holds, the kernel forward leaves
q_l · h_t and o_l · v_t behind, and ds and a take their place; of the others a kernel computes them
again, for as many documents (and labels, where they are very many) at a time as a bounded buffer
holds. cuBLAS multiplies. Only real tokens take part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad
from triton.tools.tensor_descriptor import TensorDescriptor

from labelwise.kernels import triton_attention as kernels
from labelwise.kernels.launching import moved, on
from labelwise.kernels.triton_attention import ALIGNED

BUFFER_ELEMENTS = 1 << 25
"""Labels × tokens whose ds and a are held at once: 128 MB in bfloat16."""

KEPT_SHARE = 1 / 32
"""Of the card's memory, for what the kernel forward may leave to the backward pass."""

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
        ctx.widths = h.shape[2], v.shape[2], h.shape[2], v.shape[2]
        ctx.kinds = h.dtype, v.dtype, queries.dtype, outputs.dtype
        ctx.same = v is h
        ctx.blocks = _blocks(dtype, lengths)
        ctx.packing = packing = _Packing.of(lengths, h.shape[1], h.device)
        rounds = ctx.blocks["PRECISION"] == "tf32"
        h = _ready(packing.pack(h), dtype, rounds)
        v = h if ctx.same else _ready(packing.pack(v), dtype, rounds)
        queries, outputs = (_ready(x, dtype, rounds) for x in (queries, outputs))
        logits = h.new_empty((len(lengths), len(queries)), dtype=torch.float32)
        sums = torch.empty_like(logits)
        programs = -(-len(queries) // ctx.blocks["BL"]) * len(lengths)
        ctx.kept = group = packing.within(_room(h, len(queries)) if learns else 0)
        # q · h of each label in a row, o · v in another; in float16, which is the finer one.
        left = h.new_empty((2, len(queries), group.stop), dtype=torch.float16)
        with on(h):
            kernels.forward[(programs,)](
                *_described(h, v, queries, outputs, ctx.blocks), packing.starts, packing.lengths,
                logits, sums, len(queries), left[0], left[1], group.documents, group.stop,
                W=h.shape[1], V=v.shape[1], SAME=ctx.same, KEEP=group.documents > 0,
                ALIGN=ALIGNED, **(_more_stages(ctx.blocks) if group.documents else ctx.blocks),
            )  # fmt: skip
        ctx.left = left
        ctx.save_for_backward(h, v, queries, outputs, logits, sums)
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, v, queries, outputs, logits, sums = ctx.saved_tensors
        packing = ctx.packing
        grad, scale = _scaled(grad.float().contiguous(), h.dtype)
        labels = len(queries)
        gradients = _Gradients(
            h, v, queries, outputs, (_out(ctx.kinds[0]), _out(ctx.kinds[1])),
            learned=ctx.needs_input_grad[3] or ctx.needs_input_grad[4],  # descriptors are not
        )  # fmt: skip
        kept: _Group = ctx.kept
        if kept.documents and ctx.left is not None:
            left, ctx.left = ctx.left, None  # it is overwritten: a second pass computes all again
            of_s, of_x = left
            ds, a = both = left.view(h.dtype)
            tiles = kept.documents * -(-kept.longest // KEPT_BLOCKS["BT"])
            with on(h):
                kernels.backward_kept[(-(-labels // KEPT_BLOCKS["BL"]) * tiles,)](
                    of_s, of_x, packing.starts, packing.lengths, logits, sums, grad, ds, a,
                    labels, tiles // kept.documents, kept.stop, ALIGN=ALIGNED, **KEPT_BLOCKS,
                )  # fmt: skip
            here = slice(0, kept.stop)
            with gradients.of_tokens(here, parts=1) as add:
                add(both.flatten(0, 1), slice(0, labels))
            del left, of_s, of_x, ds, a, both
        else:
            kept = packing.within(0)
        chunk = min(labels, max(1024, BUFFER_ELEMENTS // packing.longest))
        rows = max(packing.longest, BUFFER_ELEMENTS // chunk)
        buffer = h.new_empty(2 * chunk * min(rows, packing.rows - kept.stop))
        described = _described(h, v, queries, outputs, ctx.blocks)
        for group in packing.groups(rows, kept):
            columns = group.stop - group.start
            here = slice(group.start, group.stop)
            with gradients.of_tokens(here, parts=-(-labels // chunk)) as add:
                for start in range(0, labels, chunk):
                    some = slice(start, min(start + chunk, labels))
                    size = some.stop - start
                    both = buffer[: 2 * size * columns].view(2 * size, columns)
                    tiles = group.documents * -(-group.longest // ctx.blocks["BT"])
                    programs = -(-size // ctx.blocks["BL"]) * tiles
                    with on(h):
                        kernels.backward[(programs,)](
                            *described, packing.starts, packing.lengths, logits, sums, grad,
                            both[:size], both[size:], group.first, group.start, start, size, labels,
                            tiles // group.documents, columns, W=h.shape[1], V=v.shape[1],
                            SAME=ctx.same, ALIGN=ALIGNED, **_more_stages(ctx.blocks),
                        )  # fmt: skip
                    add(both, some)
                    del both
        del buffer  # before more memory is taken
        own_h, own_v, own_q, own_o = (
            None if x is None else (x if scale is None else x.mul_(scale))[..., :width].to(kind)
            for x, width, kind in zip(gradients.found(packing), ctx.widths, ctx.kinds, strict=True)
        )
        return own_h, own_v, None, own_q, own_o, None, None


class _Gradients:
    """What the products of ds and a, labels × tokens, add up to: by tokens and by labels."""

    def __init__(
        self,
        h: Tensor,
        v: Tensor,
        queries: Tensor,
        outputs: Tensor,
        kinds: tuple[torch.dtype, torch.dtype],
        *,
        learned: bool,
    ) -> None:
        self.h, self.v, self.queries, self.outputs = h, v, queries, outputs
        self.same = v is h
        self.of_h = h.new_empty(h.shape, dtype=kinds[0])
        self.of_v = self.of_h if self.same else v.new_empty(v.shape, dtype=kinds[1])
        self.stacked = torch.cat([queries, outputs]) if self.same else None
        # Of queries and outputs together where one product serves both.
        self.both = self.of_queries = self.of_outputs = None
        if learned and self.same:
            self.both = h.new_zeros((2 * len(queries), h.shape[1]), dtype=torch.float32)
            self.of_queries, self.of_outputs = self.both.tensor_split(2)
        elif learned:
            self.of_queries = torch.zeros_like(queries, dtype=torch.float32)
            self.of_outputs = torch.zeros_like(outputs, dtype=torch.float32)

    @contextmanager
    def of_tokens(self, here: slice, parts: int) -> Iterator[Callable[[Tensor, slice], None]]:
        """For these tokens what adds ds and a, one below the other, of some labels; all at last."""
        of_h = _Sum(self.of_h[here], single=parts == 1)
        of_v = of_h if self.same else _Sum(self.of_v[here], single=parts == 1)

        def add(both: Tensor, some: slice) -> None:
            ds, a = both.tensor_split(2)
            if self.stacked is None:
                of_h.add(ds.T, self.queries[some])
                of_v.add(a.T, self.outputs[some])
            elif parts == 1:
                of_h.add(both.T, self.stacked)
            else:
                of_h.add(both.T, torch.cat([self.queries[some], self.outputs[some]]))
            if self.both is not None and parts == 1:
                _add_product(self.both, both, self.h[here])
            elif self.of_queries is not None and self.of_outputs is not None:
                _add_product(self.of_queries[some], ds, self.h[here])
                _add_product(self.of_outputs[some], a, self.v[here])

        yield add
        of_h.finish()
        of_v.finish()

    def found(self, packing: _Packing) -> list[Tensor | None]:
        """Of h, v where it is another, queries and outputs where they learn."""
        of_v = None if self.same else packing.unpack(self.of_v)
        return [packing.unpack(self.of_h), of_v, self.of_queries, self.of_outputs]


@dataclass(frozen=True)
class _Group:
    """Documents whose ds and a are held together, and their rows among the packed ones."""

    first: int
    documents: int
    start: int
    stop: int
    longest: int


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

    @property
    def rows(self) -> int:
        return self.ends[-1]

    def pack(self, x: Tensor) -> Tensor:
        """(documents, tokens, width) to (rows, width), zero where a document is filled up."""
        if self.full:
            return x.flatten(0, 1)
        return self._moved(x, x.new_empty((self.rows, x.shape[2])), self.longest)

    def unpack(self, x: Tensor) -> Tensor:
        """(rows, width) to (documents, tokens, width), zero at padding."""
        shape = len(self.ends), self.tokens, x.shape[1]
        return x.view(shape) if self.full else self._moved(x, x.new_empty(shape), self.tokens)

    def _moved(self, x: Tensor, to: Tensor, rows: int) -> Tensor:
        """``to`` with the real tokens of ``x``, of no document more than so many rows."""
        blocks = -(-rows * x.shape[-1] // MOVED)
        with on(x):
            kernels.move[(blocks * len(self.ends),)](
                x, to, self.starts, self.lengths, self.tokens, blocks,
                W=x.shape[-1], PACK=x.ndim > to.ndim, ALIGN=ALIGNED, BLOCK=MOVED,
            )  # fmt: skip
        return to

    def within(self, rows: int) -> _Group:
        """The first documents, as many as have at most ``rows`` rows."""
        documents = bisect_right(self.ends, rows)
        ends = [0, *self.ends[:documents]]
        longest = max((stop - start for start, stop in pairwise(ends)), default=0)
        return _Group(0, documents, 0, ends[-1], longest)

    def groups(self, rows: int, before: _Group) -> Iterator[_Group]:
        """The documents behind these in order, together as long as they have so many rows."""
        first, start, longest = before.documents, before.stop, 0
        if first == len(self.ends):
            return
        for document, stop in enumerate(self.ends[first:], first):
            own = stop - (self.ends[document - 1] if document else 0)
            if stop - start > rows and document > first:
                end = self.ends[document - 1]
                yield _Group(first, document - first, start, end, longest)
                first, start, longest = document, end, 0
            longest = max(longest, own)
        yield _Group(first, len(self.ends) - first, start, self.ends[-1], longest)


class _Sum:
    """A sum of products that ends in ``to``: made there if there is but one, else in float32."""

    def __init__(self, to: Tensor, *, single: bool) -> None:
        self.to, self.single = to, single
        self.sum = to if single else torch.zeros_like(to, dtype=torch.float32)

    def add(self, a: Tensor, b: Tensor) -> None:
        if not self.single:
            _add_product(self.sum, a, b)
        elif self.to.dtype == a.dtype:
            torch.mm(a, b, out=self.to)
        else:
            _product(a, b, self.to)

    def finish(self) -> None:
        if not self.single:
            self.to.copy_(self.sum)


def _product(a: Tensor, b: Tensor, to: Tensor) -> None:
    if a.is_cuda:
        torch.mm(a, b, out_dtype=to.dtype, out=to)
    else:
        to.copy_(a.float() @ b.float())


def _add_product(to: Tensor, a: Tensor, b: Tensor) -> None:
    if a.is_cuda and a.dtype != torch.float32:
        torch.addmm(to, a, b, out_dtype=torch.float32, out=to)
    else:
        to.addmm_(a.float(), b.float())


def _out(kind: torch.dtype) -> torch.dtype:
    """In which precision a gradient is put together that is wanted in this one."""
    return torch.float32 if kind == torch.float64 else kind


def _blocks(dtype: torch.dtype, lengths: Tensor) -> dict[str, Any]:
    """Shapes of the blocks, found by measurement on an H200.

    Forward, 128 labels × 128 tokens in steps of 64 reach 493 TFLOP/s of its 790, two smaller blocks
    beside each other on a multiprocessor 396, and one loop over tokens and width in place of two
    432; backward, 355 with four stages and 265 with three.
    """
    if dtype == torch.float32:
        precision = "tf32" if torch.backends.cuda.matmul.allow_tf32 else "ieee"
        return {
            "BL": 64, "BT": 64, "BK": 32, "PRECISION": precision, "num_warps": 4, "num_stages": 3,
        }  # fmt: skip
    tokens = 64 if float(lengths.float().mean()) <= 64 else 128
    return {
        "BL": 128, "BT": tokens, "BK": 64, "PRECISION": "ieee", "num_warps": 8, "num_stages": 3,
    }  # fmt: skip


KEPT_BLOCKS = {"BL": 32, "BT": 128, "num_warps": 4}


def _room(h: Tensor, labels: int) -> int:
    """Tokens whose scores a share of the card's memory holds, where float16 is fine enough."""
    if h.dtype != torch.bfloat16:
        return 0
    memory = torch.cuda.get_device_properties(h.device).total_memory if h.is_cuda else 1 << 35
    return int(memory * KEPT_SHARE) // (2 * labels * torch.float16.itemsize)


def _more_stages(blocks: dict[str, Any]) -> dict[str, Any]:
    """Where a program writes what it computed, what is loaded ahead hides more of that."""
    return blocks if blocks["PRECISION"] != "ieee" else {**blocks, "num_stages": 4}


def _ready(x: Tensor, dtype: torch.dtype, rounds: bool) -> Tensor:
    """In the precision of the products, in rows of a multiple of 16 bytes, as descriptors want it.

    To the nearest tf32 number where these are used: the matrix units would cut off what is too
    long for them.
    """
    x = x.to(dtype)
    if fill := -x.shape[1] % (16 // x.itemsize):
        x = pad(x, (0, fill))
    x = x.contiguous()
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32) if rounds else x


def _described(
    h: Tensor, v: Tensor, queries: Tensor, outputs: Tensor, blocks: dict[str, Any]
) -> list[TensorDescriptor]:
    tokens, labels = [blocks["BT"], blocks["BK"]], [blocks["BL"], blocks["BK"]]
    shapes = (h, tokens), (v, tokens), (queries, labels), (outputs, labels)
    return [TensorDescriptor.from_tensor(x, shape) for x, shape in shapes]


def _scaled(grad: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    """The gradient as float16 can hold it, whose smallest number is 6e-8, and what undoes it."""
    if dtype != torch.float16:
        return grad, None
    highest = grad.abs().amax().clamp_min(1e-30)
    return grad / highest, highest
