"""The Triton kernels of label-wise attention; ``fused`` says what they are for.

Tokens lie packed, document after document, each beginning at a multiple of ALIGNED rows so that
what is stored for them can be stored in wide pieces.
"""

import triton
import triton.language as tl

ALIGNED = 16
_LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _scores(
    h, v, q, o, row, label, W: tl.constexpr, V: tl.constexpr, SAME: tl.constexpr,
    BL: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """q_l · h_t in units of log 2, and o_l · v_t, (BL, BT) each, from this row and label on.

    h, v, q and o are tensor descriptors: what lies beyond their ends is read as zero.
    """
    s = tl.zeros((BL, BT), tl.float32)
    x = tl.zeros((BL, BT), tl.float32)
    if SAME:
        for k in range(0, W, BK):
            tokens = tl.trans(h.load([row, k]))
            s = tl.dot(q.load([label, k]), tokens, s, input_precision=PRECISION)
            x = tl.dot(o.load([label, k]), tokens, x, input_precision=PRECISION)
    else:
        for k in range(0, W, BK):
            tokens = tl.trans(h.load([row, k]))
            s = tl.dot(q.load([label, k]), tokens, s, input_precision=PRECISION)
        for k in range(0, V, BK):
            tokens = tl.trans(v.load([row, k]))
            x = tl.dot(o.load([label, k]), tokens, x, input_precision=PRECISION)
    return s * _LOG2E, x


@triton.jit
def forward(
    h, v, q, o, starts, lengths, logits, sums, labels,
    W: tl.constexpr, V: tl.constexpr, SAME: tl.constexpr,
    BL: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The logits of a block of labels and a document, and the logarithms of their softmax's sum."""
    # Programs that run together share a document, whose tokens then lie in the cache.
    blocks = tl.cdiv(labels, BL)
    document = tl.program_id(0) // blocks
    label0 = (tl.program_id(0) % blocks) * BL
    first = tl.load(starts + document)
    length = tl.load(lengths + document)
    highest = tl.full((BL,), float("-inf"), tl.float32)
    total = tl.zeros((BL,), tl.float32)
    logit = tl.zeros((BL,), tl.float32)
    for t in range(0, length, BT):
        token = t + tl.arange(0, BT)
        s, x = _scores(h, v, q, o, first + t, label0, W, V, SAME, BL, BT, BK, PRECISION)
        s = tl.where((token < length)[None, :], s, float("-inf"))
        higher = tl.maximum(highest, tl.max(s, 1))
        weight = tl.exp2(s - higher[:, None])
        fade = tl.exp2(highest - higher)
        total = total * fade + tl.sum(weight, 1)
        logit = logit * fade + tl.sum(weight * x, 1)
        highest = higher
    label = label0 + tl.arange(0, BL)
    out = document.to(tl.int64) * labels + label
    tl.store(logits + out, logit / total, mask=label < labels)
    tl.store(sums + out, highest + tl.log2(total), mask=label < labels)


@triton.jit
def backward(
    h, v, q, o, starts, lengths, logits, sums, grad, ds, a,
    document, row0, label0, chunk, labels, blocks_t, columns,
    W: tl.constexpr, V: tl.constexpr, SAME: tl.constexpr,
    BL: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
    ALIGN: tl.constexpr,
):  # fmt: skip
    """ds and a of the labels from label0, as rows of ``columns`` tokens, the first being row0.

    ``document`` is the first document of these tokens; ``chunk`` is the number of these labels.
    """
    blocks = tl.cdiv(chunk, BL)
    tile = tl.program_id(0) // blocks
    document += tile // blocks_t
    t = (tile % blocks_t) * BT
    first = tl.multiple_of(tl.load(starts + document), ALIGN)
    length = tl.load(lengths + document)
    if t < length:
        start = (tl.program_id(0) % blocks) * BL
        s, x = _scores(
            h, v, q, o, first + t, label0 + start, W, V, SAME, BL, BT, BK, PRECISION
        )  # fmt: skip
        within = start + tl.arange(0, BL)
        known = tl.minimum(label0 + within, labels - 1).to(tl.int64)
        token = t + tl.arange(0, BT)
        of = document.to(tl.int64) * labels + known
        s = tl.where((token < length)[None, :], s, float("-inf"))  # as far as the next document
        weight = tl.exp2(s - tl.load(sums + of)[:, None]) * tl.load(grad + of)[:, None]
        x = weight * (x - tl.load(logits + of)[:, None])
        column = tl.multiple_of(first - row0 + t, ALIGN) + tl.arange(0, BT)
        out = within.to(tl.int64)[:, None] * columns + column[None, :]
        until = tl.cdiv(length, ALIGN) * ALIGN - t
        kept = (within < chunk)[:, None] & (tl.arange(0, BT) < until)[None, :]
        tl.store(a + out, weight.to(a.dtype.element_ty), mask=kept)
        tl.store(ds + out, x.to(ds.dtype.element_ty), mask=kept)
