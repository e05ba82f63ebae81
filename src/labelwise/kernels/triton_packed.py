"""The Triton kernels of attention among packed rows; ``fused_packed`` says what they are for.

A token's queries, keys and values stand side by side, 3 · HEADS · D numbers. A block is the first
token of a row, its number of tokens, and the first of them that the block takes.
"""

import triton
import triton.language as tl

_LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _load(at, row, length, first, WIDTH: tl.constexpr, BLOCK: tl.constexpr, D: tl.constexpr):
    """(BLOCK, D) of an array with WIDTH numbers a token, zero beyond the row's end."""
    token = first + tl.arange(0, BLOCK)
    places = at + (row + token).to(tl.int64)[:, None] * WIDTH + tl.arange(0, D)[None, :]
    return tl.load(places, mask=(token < length)[:, None], other=0.0)


@triton.jit
def _store(at, x, row, length, first, WIDTH: tl.constexpr, BLOCK: tl.constexpr, D: tl.constexpr):
    token = first + tl.arange(0, BLOCK)
    places = at + (row + token).to(tl.int64)[:, None] * WIDTH + tl.arange(0, D)[None, :]
    tl.store(places, x.to(at.dtype.element_ty), mask=(token < length)[:, None])


@triton.jit
def _pair_bias(bias, side, head, row, column):
    """Of pairs of tokens, in units of log 2, from a matrix for each head that has whole blocks."""
    of_head = bias + head.to(tl.int64) * side * side
    return tl.load(of_head + row * side + column).to(tl.float32) * _LOG2E


@triton.jit
def forward(
    qkv, out, sums, blocks, bias, side, tokens, scale,
    HEADS: tl.constexpr, D: tl.constexpr, BIASED: tl.constexpr, PRECISION: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    row = tl.load(blocks + 3 * tl.program_id(0))
    length = tl.load(blocks + 3 * tl.program_id(0) + 1)
    first = tl.load(blocks + 3 * tl.program_id(0) + 2)
    H: tl.constexpr = HEADS * D
    at = qkv + head * D
    q = _load(at, row, length, first, 3 * H, BM, D)
    query = first + tl.arange(0, BM)
    highest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    found = tl.zeros((BM, D), tl.float32)
    for n in range(0, length, BN):
        key = n + tl.arange(0, BN)
        k = _load(at + H, row, length, n, 3 * H, BN, D)
        s = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (scale * _LOG2E)
        if BIASED:
            s += _pair_bias(bias, side, head, query[:, None], key[None, :])
        s = tl.where((key < length)[None, :], s, float("-inf"))
        higher = tl.maximum(highest, tl.max(s, 1))
        weight = tl.exp2(s - higher[:, None])
        fade = tl.exp2(highest - higher)
        total = total * fade + tl.sum(weight, 1)
        v = _load(at + 2 * H, row, length, n, 3 * H, BN, D)
        found = found * fade[:, None]
        found = tl.dot(weight.to(v.dtype), v, found, input_precision=PRECISION)
        highest = higher
    _store(out + head * D, found / total[:, None], row, length, first, H, BM, D)
    tl.store(
        sums + head.to(tl.int64) * tokens + row + query, highest + tl.log2(total),
        mask=query < length,
    )  # fmt: skip


@triton.jit
def backward_queries(
    qkv, out, grad, gradients, sums, means, blocks, bias, side, tokens, scale,
    HEADS: tl.constexpr, D: tl.constexpr, BIASED: tl.constexpr, PRECISION: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """The gradients of the queries; and the means, which those of keys and values need."""
    head = tl.program_id(1)
    row = tl.load(blocks + 3 * tl.program_id(0))
    length = tl.load(blocks + 3 * tl.program_id(0) + 1)
    first = tl.load(blocks + 3 * tl.program_id(0) + 2)
    H: tl.constexpr = HEADS * D
    at = qkv + head * D
    query = first + tl.arange(0, BM)
    own = head.to(tl.int64) * tokens + row + query
    q = _load(at, row, length, first, 3 * H, BM, D)
    g = _load(grad + head * D, row, length, first, H, BM, D)
    o = _load(out + head * D, row, length, first, H, BM, D)
    mean = tl.sum(g.to(tl.float32) * o.to(tl.float32), 1)
    tl.store(means + own, mean, mask=query < length)
    log_sum = tl.load(sums + own, mask=query < length, other=0.0)
    found = tl.zeros((BM, D), tl.float32)
    for n in range(0, length, BN):
        key = n + tl.arange(0, BN)
        k = _load(at + H, row, length, n, 3 * H, BN, D)
        v = _load(at + 2 * H, row, length, n, 3 * H, BN, D)
        s = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (scale * _LOG2E)
        if BIASED:
            s += _pair_bias(bias, side, head, query[:, None], key[None, :])
        weight = tl.exp2(s - log_sum[:, None])
        weight = tl.where((key < length)[None, :], weight, 0.0)
        dp = tl.dot(g, tl.trans(v), input_precision=PRECISION)
        ds = weight * (dp - mean[:, None])
        found = tl.dot(ds.to(k.dtype), k, found, input_precision=PRECISION)
    _store(gradients + head * D, found * scale, row, length, first, 3 * H, BM, D)


@triton.jit
def backward_keys(
    qkv, out, grad, gradients, sums, means, blocks, bias, side, tokens, scale,
    HEADS: tl.constexpr, D: tl.constexpr, BIASED: tl.constexpr, PRECISION: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """The gradients of keys and values: a program takes BN keys, and passes over the queries. The
    bias is turned, keys by queries, so that here too a row of it lies in one piece."""
    head = tl.program_id(1)
    row = tl.load(blocks + 3 * tl.program_id(0))
    length = tl.load(blocks + 3 * tl.program_id(0) + 1)
    first = tl.load(blocks + 3 * tl.program_id(0) + 2)
    H: tl.constexpr = HEADS * D
    at = qkv + head * D
    key = first + tl.arange(0, BN)
    k = _load(at + H, row, length, first, 3 * H, BN, D)
    v = _load(at + 2 * H, row, length, first, 3 * H, BN, D)
    of_k = tl.zeros((BN, D), tl.float32)
    of_v = tl.zeros((BN, D), tl.float32)
    for m in range(0, length, BM):
        query = m + tl.arange(0, BM)
        own = head.to(tl.int64) * tokens + row + query
        q = _load(at, row, length, m, 3 * H, BM, D)
        g = _load(grad + head * D, row, length, m, H, BM, D)
        # Beyond the end nothing has weight.
        log_sum = tl.load(sums + own, mask=query < length, other=float("inf"))
        mean = tl.load(means + own, mask=query < length, other=0.0)
        s = tl.dot(k, tl.trans(q), input_precision=PRECISION) * (scale * _LOG2E)  # (BN, BM)
        if BIASED:
            s += _pair_bias(bias, side, head, key[:, None], query[None, :])
        weight = tl.exp2(s - log_sum[None, :])
        of_v = tl.dot(weight.to(g.dtype), g, of_v, input_precision=PRECISION)
        dp = tl.dot(v, tl.trans(g), input_precision=PRECISION)
        ds = weight * (dp - mean[None, :])
        of_k = tl.dot(ds.to(q.dtype), q, of_k, input_precision=PRECISION)
    _store(gradients + H + head * D, of_k * scale, row, length, first, 3 * H, BN, D)
    _store(gradients + 2 * H + head * D, of_v, row, length, first, 3 * H, BN, D)
