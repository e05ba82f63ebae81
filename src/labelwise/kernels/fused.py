"""Label-wise attention fused, for a GPU.

Forward: a program takes a block of labels and a document, and passes over the document's tokens
once, with an online softmax: of each label it keeps the highest score so far, the sum of the
weights, and the weighted sum of o_l · v_t, three numbers. The logarithm of the softmax's sum is
kept for the backward pass.

Backward: with a_lt = g_l · softmax_lt, g_l being the gradient of the logit, and
ds_lt = a_lt (o_l · v_t − logit_l), all gradients are matrix products:

    dh_t = Σ_l ds_lt q_l     dv_t = Σ_l a_lt o_l     dq_l = Σ_t ds_lt h_t     do_l = Σ_t a_lt v_t

A kernel computes ds and a again, for as many documents (and labels, where they are very many) at a
time as a bounded buffer holds, and cuBLAS multiplies. Only real tokens take part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
        h, v, lengths.cpu(), queries, outputs, dtype or h.dtype
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
        with on(h):
            kernels.forward[(programs,)](
                *_described(h, v, queries, outputs, ctx.blocks), packing.starts, packing.lengths,
                logits, sums, len(queries), W=h.shape[1], V=v.shape[1], SAME=ctx.same, **ctx.blocks,
            )  # fmt: skip
        ctx.save_for_backward(h, v, queries, outputs, logits, sums)
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, v, queries, outputs, logits, sums = ctx.saved_tensors
        packing, same = ctx.packing, ctx.same
        grad, scale = _scaled(grad.float().contiguous(), h.dtype)
        labels = len(queries)
        chunk = min(labels, max(1024, BUFFER_ELEMENTS // packing.longest))
        rows = max(packing.longest, BUFFER_ELEMENTS // chunk)
        buffer = h.new_empty(2 * chunk * min(rows, packing.rows))
        described = _described(h, v, queries, outputs, ctx.blocks)
        grad_h = h.new_empty(h.shape, dtype=_out(ctx.kinds[0]))
        grad_v = grad_h if same else h.new_empty(v.shape, dtype=_out(ctx.kinds[1]))
        single = labels == chunk
        stacked = torch.cat([queries, outputs]) if same and single else None
        learned = ctx.needs_input_grad[3] or ctx.needs_input_grad[4]  # descriptors are not
        grad_q = grad_o = grad_both = None
        if learned and same:  # one product then serves both
            grad_both = h.new_zeros((2 * labels, h.shape[1]), dtype=torch.float32)
            grad_q, grad_o = grad_both[:labels], grad_both[labels:]
        elif learned:
            grad_q = torch.zeros_like(queries, dtype=torch.float32)
            grad_o = torch.zeros_like(outputs, dtype=torch.float32)
        for group in packing.groups(rows):
            here = slice(group.start, group.stop)
            columns = group.stop - group.start
            of_h = _Sum(grad_h[here], single=single)
            of_v = of_h if same else _Sum(grad_v[here], single=single)
            for start in range(0, labels, chunk):
                some = slice(start, min(start + chunk, labels))
                size = some.stop - start
                both = buffer[: 2 * size * columns].view(2 * size, columns)
                ds, a = both[:size], both[size:]
                tiles = group.documents * -(-group.longest // ctx.blocks["BT"])
                programs = -(-size // ctx.blocks["BL"]) * tiles
                with on(h):
                    kernels.backward[(programs,)](
                        *described, packing.starts, packing.lengths, logits, sums, grad, ds, a,
                        group.first, group.start, start, size, labels,
                        tiles // group.documents, columns, W=h.shape[1], V=v.shape[1], SAME=same,
                        ALIGN=ALIGNED, **_backward_blocks(ctx.blocks),
                    )  # fmt: skip
                if stacked is not None:
                    of_h.add(both.T, stacked)
                elif same:
                    of_h.add(both.T, torch.cat([queries[some], outputs[some]]))
                else:
                    of_h.add(ds.T, queries[some])
                    of_v.add(a.T, outputs[some])
                if grad_both is not None and single:
                    _add_product(grad_both, both, h[here])
                elif grad_q is not None and grad_o is not None:
                    _add_product(grad_q[some], ds, h[here])
                    _add_product(grad_o[some], a, v[here])
            of_h.finish()
            of_v.finish()
        del buffer, both, ds, a, stacked  # before more memory is taken
        found = [packing.unpack(grad_h), None if same else packing.unpack(grad_v), grad_q, grad_o]
        own_h, own_v, own_q, own_o = (
            None if x is None else (x if scale is None else x.mul_(scale))[..., :width].to(kind)
            for x, width, kind in zip(found, ctx.widths, ctx.kinds, strict=True)
        )
        return own_h, own_v, None, own_q, own_o, None


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
        aligned = (self.lengths + ALIGNED - 1) // ALIGNED * ALIGNED
        document = torch.arange(len(aligned), device=x.device)
        document = document.repeat_interleave(aligned, output_size=self.rows)  # (rows,) int64
        token = torch.arange(self.rows, device=x.device) - self.starts[document]
        beyond = token >= self.lengths[document]
        places = document * self.tokens + token.masked_fill_(beyond, 0)
        return x.flatten(0, 1).index_select(0, places).masked_fill_(beyond[:, None], 0.0)

    def unpack(self, x: Tensor) -> Tensor:
        """(rows, width) to (documents, tokens, width), zero at padding."""
        if not self.full:
            token = torch.arange(self.tokens, device=x.device)
            padding = token >= self.lengths[:, None]  # (documents, tokens)
            rows = (self.starts[:, None] + token).masked_fill_(padding, 0)
            x = x.index_select(0, rows.flatten()).masked_fill_(padding.view(-1, 1), 0.0)
        return x.view(len(self.ends), self.tokens, -1)

    def groups(self, rows: int) -> Iterator[_Group]:
        """Documents in their order, together as long as they have at most ``rows`` rows."""
        first = start = 0
        longest = 0
        for document, stop in enumerate(self.ends):
            own = stop - (self.ends[document - 1] if document else 0)
            if stop - start > rows and document > first:
                before = self.ends[document - 1]
                yield _Group(first, document - first, start, before, longest)
                first, start, longest = document, before, 0
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


def _backward_blocks(blocks: dict[str, Any]) -> dict[str, Any]:
    """A backward program has one block of tokens: what is loaded ahead hides more of its start."""
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
