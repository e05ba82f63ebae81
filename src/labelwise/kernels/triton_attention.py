"""The Triton kernels of label-wise attention; ``fused`` says what they are for.

Tokens lie packed, document after document, each beginning at a multiple of ALIGNED rows so that
what is stored for them can be read and stored in wide pieces. ``s`` holds q_l · h_t and ``x``
o_l · v_t, a label a row of ``columns`` tokens, the first of which is row0 of the packed ones, the
first label being label0 of ``labels``.
"""

import triton
import triton.language as tl

ALIGNED = 16
HIGHEST = 65504.0  # of what float16 can hold
_LOG2E = tl.constexpr(1.4426950408889634)
_HIGHEST = tl.constexpr(HIGHEST)


@triton.jit
def _finite(x, NARROW: tl.constexpr):
    """In float32; what was too large for float16 is as large as that can hold, NaN stays."""
    x = x.to(tl.float32)
    if NARROW:
        x = tl.clamp(x, -_HIGHEST, _HIGHEST, propagate_nan=tl.PropagateNan.ALL)
    return x


@triton.jit
def read(
    s, x, starts, lengths, logits, sums, document, row0, label0, chunk, labels, columns,
    BL: tl.constexpr, BT: tl.constexpr, NARROW: tl.constexpr, ALIGN: tl.constexpr,
):  # fmt: skip
    """The logits of a block of labels and a document, and the logarithms of their softmax's sum."""
    blocks = tl.cdiv(chunk, BL)
    document += tl.program_id(0) // blocks
    within = (tl.program_id(0) % blocks) * BL + tl.arange(0, BL)
    known = within < chunk
    first = tl.multiple_of(tl.load(starts + document) - row0, ALIGN)
    length = tl.load(lengths + document)
    rows = within.to(tl.int64)[:, None] * columns + first
    highest = tl.full((BL,), float("-inf"), tl.float32)
    total = tl.zeros((BL,), tl.float32)
    logit = tl.zeros((BL,), tl.float32)
    for t in range(0, length, BT):
        token = t + tl.arange(0, BT)
        real = (token < length)[None, :]
        at = rows + token[None, :]
        scores = _finite(tl.load(s + at, mask=known[:, None] & real, other=0.0), NARROW) * _LOG2E
        values = _finite(tl.load(x + at, mask=known[:, None] & real, other=0.0), NARROW)
        scores = tl.where(real, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        weight = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(highest - higher)
        total = total * fade + tl.sum(weight, 1)
        logit = logit * fade + tl.sum(weight * values, 1)
        highest = higher
    out = document.to(tl.int64) * labels + label0 + within
    tl.store(logits + out, logit / total, mask=known)
    tl.store(sums + out, highest + tl.log2(total), mask=known)


@triton.jit
def differentiate(
    s, x, starts, lengths, logits, sums, grad, ds, a, document, row0, label0, chunk, labels,
    columns, blocks_t,
    BL: tl.constexpr, BT: tl.constexpr, NARROW: tl.constexpr, ALIGN: tl.constexpr,
):  # fmt: skip
    """ds and a of a block of labels and of tokens of a document, in the place of s and x."""
    blocks = tl.cdiv(chunk, BL)
    tile = tl.program_id(0) // blocks
    document += tile // blocks_t
    t = (tile % blocks_t) * BT
    length = tl.load(lengths + document)
    if t < length:
        within = (tl.program_id(0) % blocks) * BL + tl.arange(0, BL)
        of = document.to(tl.int64) * labels + label0 + tl.minimum(within, chunk - 1)
        first = tl.multiple_of(tl.load(starts + document) - row0, ALIGN)
        token = t + tl.arange(0, BT)
        at = within.to(tl.int64)[:, None] * columns + (first + token)[None, :]
        # As far as the next document: what fills up its rows has no part in the products.
        there = (within < chunk)[:, None] & (token < tl.cdiv(length, ALIGN) * ALIGN)[None, :]
        scores = _finite(tl.load(s + at, mask=there, other=float("-inf")), NARROW) * _LOG2E
        values = _finite(tl.load(x + at, mask=there, other=0.0), NARROW)
        scores = tl.where((token < length)[None, :], scores, float("-inf"))
        weight = tl.exp2(scores - tl.load(sums + of)[:, None]) * tl.load(grad + of)[:, None]
        values = weight * (values - tl.load(logits + of)[:, None])
        tl.store(a + at, weight.to(a.dtype.element_ty), mask=there)
        tl.store(ds + at, values.to(ds.dtype.element_ty), mask=there)


@triton.jit
def pack(
    source, to, fine, starts, lengths, tokens, blocks,
    W: tl.constexpr, TO: tl.constexpr, COPY: tl.constexpr, FINE: tl.constexpr,
    ALIGN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Real tokens of padded documents, W wide, into packed rows of TO numbers, zero beyond.

    As they are multiplied (``to``), in float16 (``fine``), or both.
    """
    document = tl.program_id(0) // blocks
    at = (tl.program_id(0) % blocks) * BLOCK + tl.arange(0, BLOCK)
    token = at // TO
    column = at % TO
    length = tl.load(lengths + document)
    place = (document.to(tl.int64) * tokens + token) * W + column
    values = tl.load(source + place, mask=(token < length) & (column < W), other=0.0)
    out = tl.multiple_of(tl.load(starts + document), ALIGN).to(tl.int64) * TO + at
    there = token < tl.cdiv(length, ALIGN) * ALIGN
    if COPY:
        tl.store(to + out, values.to(to.dtype.element_ty), mask=there)
    if FINE:
        tl.store(fine + out, _finite(values, True).to(fine.dtype.element_ty), mask=there)


@triton.jit
def unpack(
    source, to, starts, lengths, tokens, blocks,
    W: tl.constexpr, FROM: tl.constexpr, ALIGN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Packed rows of FROM numbers back into padded documents, W wide, zero at padding."""
    document = tl.program_id(0) // blocks
    at = (tl.program_id(0) % blocks) * BLOCK + tl.arange(0, BLOCK)
    token = at // W
    first = tl.multiple_of(tl.load(starts + document), ALIGN).to(tl.int64)
    place = (first + token) * FROM + at % W
    values = tl.load(source + place, mask=token < tl.load(lengths + document), other=0.0)
    out = document.to(tl.int64) * tokens * W + at
    tl.store(to + out, values.to(to.dtype.element_ty), mask=token < tokens)
