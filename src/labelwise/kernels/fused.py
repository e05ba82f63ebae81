"""Label-wise attention fused, as Triton kernels for a GPU.

Forward: a program takes a block of labels and a document, and passes over the document's tokens
once, with an online softmax: of each label it keeps the highest score so far, the sum of the
weights, and the weighted sum of o_l · v_t, three numbers. The highest score and the sum (as their
logarithm) are kept for the backward pass.

Backward: with a_lt = g_l · softmax_lt, g_l being the gradient of the logit, and
ds_lt = a_lt (o_l · v_t − logit_l), all gradients are matrix products:

    dh_t = Σ_l ds_lt q_l     dv_t = Σ_l a_lt o_l     dq_l = Σ_t ds_lt h_t     do_l = Σ_t a_lt v_t

A kernel computes ds and a again for as many labels at a time as a bounded buffer holds, and
cuBLAS multiplies. Only real tokens are scored, stored and multiplied.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

BUFFER_ELEMENTS = 1 << 24
"""Labels × tokens whose ds and a are held at once: 64 MB in bfloat16."""

_LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _scores(  # noqa: PLR0917
    h, v, q, o, row, label, W: tl.constexpr, V: tl.constexpr, SAME: tl.constexpr,
    BL: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """q_l · h_t in units of log 2, and o_l · v_t, (BL, BT) each."""
    at = tl.arange(0, BK)
    s = tl.zeros((BL, BT), tl.float32)
    x = tl.zeros((BL, BT), tl.float32)
    h_row = h + row[:, None] * W + at[None, :]
    q_row = q + label[:, None] * W + at[None, :]
    o_row = o + label[:, None] * V + at[None, :]
    if SAME:
        for k in range(0, W, BK):
            inside = (k + at < W)[None, :]
            hk = tl.load(h_row + k, mask=inside, other=0.0)
            qk = tl.load(q_row + k, mask=inside, other=0.0)
            ok = tl.load(o_row + k, mask=inside, other=0.0)
            s = tl.dot(qk, tl.trans(hk), s, input_precision=PRECISION)
            x = tl.dot(ok, tl.trans(hk), x, input_precision=PRECISION)
    else:
        for k in range(0, W, BK):
            inside = (k + at < W)[None, :]
            hk = tl.load(h_row + k, mask=inside, other=0.0)
            qk = tl.load(q_row + k, mask=inside, other=0.0)
            s = tl.dot(qk, tl.trans(hk), s, input_precision=PRECISION)
        v_row = v + row[:, None] * V + at[None, :]
        for k in range(0, V, BK):
            inside = (k + at < V)[None, :]
            vk = tl.load(v_row + k, mask=inside, other=0.0)
            ok = tl.load(o_row + k, mask=inside, other=0.0)
            x = tl.dot(ok, tl.trans(vk), x, input_precision=PRECISION)
    return s * _LOG2E, x


@triton.jit
def _forward(  # noqa: PLR0917
    h, v, q, o, starts, logits, sums, labels,
    W: tl.constexpr, V: tl.constexpr, SAME: tl.constexpr,
    BL: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    # Programs that run together share a document, whose tokens then lie in the cache.
    blocks = tl.cdiv(labels, BL)
    document = tl.program_id(0) // blocks
    label = (tl.program_id(0) % blocks) * BL + tl.arange(0, BL)
    known = tl.minimum(label, labels - 1).to(tl.int64)
    first = tl.load(starts + document)
    length = tl.load(starts + document + 1) - first
    highest = tl.full((BL,), float("-inf"), tl.float32)
    total = tl.zeros((BL,), tl.float32)
    logit = tl.zeros((BL,), tl.float32)
    for t in range(0, length, BT):
        token = t + tl.arange(0, BT)
        row = first + tl.minimum(token, length - 1)
        s, x = _scores(h, v, q, o, row, known, W, V, SAME, BL, BT, BK, PRECISION)
        s = tl.where((token < length)[None, :], s, float("-inf"))
        higher = tl.maximum(highest, tl.max(s, 1))
        weight = tl.exp2(s - higher[:, None])
        fade = tl.exp2(highest - higher)
        total = total * fade + tl.sum(weight, 1)
        logit = logit * fade + tl.sum(weight * x, 1)
        highest = higher
    out = document.to(tl.int64) * labels + label
    tl.store(logits + out, logit / total, mask=label < labels)
    tl.store(sums + out, highest + tl.log2(total), mask=label < labels)


@triton.jit
def _backward(  # noqa: PLR0917
    h, v, q, o, starts, logits, sums, grad, ds, a, start, stop, labels, blocks_t, columns,
    W: tl.constexpr, V: tl.constexpr, SAME: tl.constexpr,
    BL: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """ds and a of the labels from start to stop: (stop - start, tokens), ``columns`` wide."""
    blocks = tl.cdiv(stop - start, BL)
    tile = tl.program_id(0) // blocks
    document = tile // blocks_t
    t = (tile % blocks_t) * BT
    first = tl.load(starts + document)
    length = tl.load(starts + document + 1) - first
    if t < length:
        within = (tl.program_id(0) % blocks) * BL + tl.arange(0, BL)
        label = start + within
        known = tl.minimum(label, stop - 1).to(tl.int64)
        token = t + tl.arange(0, BT)
        row = first + tl.minimum(token, length - 1)
        s, x = _scores(h, v, q, o, row, known, W, V, SAME, BL, BT, BK, PRECISION)
        of = document.to(tl.int64) * labels + known
        weight = tl.exp2(s - tl.load(sums + of)[:, None]) * tl.load(grad + of)[:, None]
        out = within.to(tl.int64)[:, None] * columns + row[None, :]
        kept = (label < stop)[:, None] & (token < length)[None, :]
        tl.store(a + out, weight.to(a.dtype.element_ty), mask=kept)
        x = weight * (x - tl.load(logits + of)[:, None])
        tl.store(ds + out, x.to(ds.dtype.element_ty), mask=kept)


def fused_logits(
    h: Tensor,
    v: Tensor,
    lengths: Tensor,
    queries: Tensor,
    outputs: Tensor,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Σ_t a_lt (v_t · o_l) for every document and label, differentiable in all but the lengths.

    The products are made in ``dtype`` (that of h, unless given), the sums in float32. Where v is h
    the two are read once. Lengths on the CPU spare the host a wait for the GPU.
    """
    logits: Tensor = _Fused.apply(h, v, lengths, queries, outputs, dtype or h.dtype)  # type: ignore[no-untyped-call]
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
        kinds = h.dtype, v.dtype, queries.dtype, outputs.dtype
        lengths = lengths.cpu()
        shape, real = h.shape[:2], _real(lengths, h)
        same = v is h
        h = _packed(h, real, dtype)
        v = h if same else _packed(v, real, dtype)
        queries, outputs = (x.to(dtype).contiguous() for x in (queries, outputs))
        starts = torch.zeros(len(lengths) + 1, dtype=torch.int64)
        torch.cumsum(lengths, 0, out=starts[1:])
        starts = _moved(starts, h.device)
        logits = h.new_empty((len(lengths), len(queries)), dtype=torch.float32)
        sums = torch.empty_like(logits)
        blocks = _blocks(dtype, lengths)
        grid = (triton.cdiv(len(queries), blocks["BL"]) * len(lengths),)
        with _on(h):
            _forward[grid](
                h, v, queries, outputs, starts, logits, sums, len(queries),
                W=h.shape[1], V=v.shape[1], SAME=same, **blocks,
            )  # fmt: skip
        ctx.save_for_backward(h, v, queries, outputs, starts, logits, sums, real)
        ctx.about = shape, kinds, same, blocks, int(lengths.max())
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, v, queries, outputs, starts, logits, sums, real = ctx.saved_tensors
        shape, kinds, same, blocks, longest = ctx.about
        grad, scale = _scaled(grad.float().contiguous(), h.dtype)
        tokens, labels, width = len(h), len(queries), h.shape[1]
        # cuBLAS is fast only where rows begin at multiples of 16 bytes.
        columns = triton.cdiv(tokens, 8) * 8
        chunk = max(blocks["BL"], BUFFER_ELEMENTS // columns // blocks["BL"] * blocks["BL"])
        chunk = min(chunk, labels)
        buffer = h.new_zeros((2 * chunk, columns))
        grad_h = h.new_zeros((tokens, width), dtype=torch.float32)
        grad_v = grad_h if same else h.new_zeros(v.shape, dtype=torch.float32)
        learned = ctx.needs_input_grad[3] or ctx.needs_input_grad[4]  # descriptors are not
        grad_q = torch.empty_like(queries, dtype=torch.float32) if learned else None
        grad_o = torch.empty_like(outputs, dtype=torch.float32) if learned else None
        blocks_t = triton.cdiv(longest, blocks["BT"])
        for start in range(0, labels, chunk):
            stop = min(start + chunk, labels)
            size = stop - start
            ds, a = buffer[:size], buffer[size : 2 * size]
            grid = (triton.cdiv(size, blocks["BL"]) * (len(starts) - 1) * blocks_t,)
            with _on(h):
                _backward[grid](
                    h, v, queries, outputs, starts, logits, sums, grad, ds, a,
                    start, stop, labels, blocks_t, columns,
                    W=width, V=v.shape[1], SAME=same, **blocks,
                )  # fmt: skip
            ds, a = ds[:, :tokens], a[:, :tokens]
            q, o = queries[start:stop], outputs[start:stop]
            if same:
                _add_product(grad_h, buffer[: 2 * size, :tokens].T, torch.cat([q, o]))
            else:
                _add_product(grad_h, ds.T, q)
                _add_product(grad_v, a.T, o)
            if grad_q is not None and grad_o is not None:
                grad_q[start:stop] = _product(ds, h)
                grad_o[start:stop] = _product(a, v)
        found = [
            _unpacked(grad_h, real, shape),
            None if same else _unpacked(grad_v, real, shape),
            grad_q,
            grad_o,
        ]
        of_h, of_v, of_q, of_o = (
            None if x is None else (x if scale is None else x.mul_(scale)).to(kind)
            for x, kind in zip(found, kinds, strict=True)
        )
        return of_h, of_v, None, of_q, of_o, None


def _blocks(dtype: torch.dtype, lengths: Tensor) -> dict[str, Any]:
    """Shapes of the blocks, found by measurement on an H200."""
    short = float(lengths.float().mean()) <= 64
    if dtype == torch.float32:
        precision = "tf32" if torch.backends.cuda.matmul.allow_tf32 else "ieee"
        return {
            "BL": 64, "BT": 64, "BK": 32, "PRECISION": precision, "num_warps": 4, "num_stages": 3,
        }  # fmt: skip
    return {
        "BL": 128, "BT": 64 if short else 128, "BK": 64, "PRECISION": "ieee",
        "num_warps": 8, "num_stages": 3,
    }  # fmt: skip


def _real(lengths: Tensor, h: Tensor) -> Tensor | None:
    """The rows of h, documents × tokens, that are no padding; None where there is none."""
    documents, tokens = h.shape[:2]
    if int(lengths.min()) == tokens:
        return None
    real = torch.arange(tokens) < lengths[:, None]
    return _moved(real.flatten().nonzero()[:, 0], h.device)


def _packed(x: Tensor, real: Tensor | None, dtype: torch.dtype) -> Tensor:
    x = x.flatten(0, 1)
    return (x if real is None else x.index_select(0, real)).to(dtype).contiguous()


def _unpacked(x: Tensor, real: Tensor | None, shape: torch.Size) -> Tensor:
    if real is not None:
        x = x.new_zeros((shape[0] * shape[1], x.shape[1])).index_copy_(0, real, x)
    return x.view(*shape, x.shape[1])


def _scaled(grad: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    """The gradient as float16 can hold it, whose smallest number is 6e-8, and what to undo it."""
    if dtype != torch.float16:
        return grad, None
    highest = grad.abs().amax().clamp_min(1e-30)
    return grad / highest, highest


def _product(a: Tensor, b: Tensor) -> Tensor:
    if a.is_cuda and a.dtype != torch.float32:
        return torch.mm(a, b, out_dtype=torch.float32)
    return a.float() @ b.float()


def _add_product(to: Tensor, a: Tensor, b: Tensor) -> None:
    if a.is_cuda and a.dtype != torch.float32:
        torch.addmm(to, a, b, out_dtype=torch.float32, out=to)
    else:
        to.addmm_(a.float(), b.float())


def _moved(x: Tensor, device: torch.device) -> Tensor:
    """On the device; the host does not wait for it."""
    return x.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else x


def _on(x: Tensor) -> Any:
    """Triton launches on the current device, which need not be that of x."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()
