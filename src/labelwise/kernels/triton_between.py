"""The Triton kernels between the products of an encoder; ``fused_between`` says what they are for.

A program of the norm takes four rows at a time: one draw of the generator gives four numbers, one
for each of them.
"""

import triton
import triton.language as tl

_HALF_ROOT = tl.constexpr(0.7071067811865476)  # √½
_DENSITY = tl.constexpr(0.3989422804014327)  # of the normal distribution at 0


@triton.jit
def _shares(seed, place, rate, DROPS: tl.constexpr):
    """What four numbers are multiplied by: 0 where they are dropped."""
    if DROPS:
        a, b, c, d = tl.rand4x(seed, place)
        kept = 1 / (1 - rate)
        a = tl.where(a >= rate, kept, 0.0)
        b = tl.where(b >= rate, kept, 0.0)
        c = tl.where(c >= rate, kept, 0.0)
        d = tl.where(d >= rate, kept, 0.0)
    else:
        a = place.to(tl.float32) * 0 + 1
        b, c, d = a, a, a
    return a, b, c, d


@triton.jit
def _add_and_norm(
    x, y, sums, out, means, scales, bias, weight, shift, row, rows, column, share, epsilon,
    H: tl.constexpr,
):  # fmt: skip
    """One row; nothing beyond the last."""
    here = column < tl.where(row < rows, H, 0)
    at = row.to(tl.int64) * H + column
    added = tl.load(y + at, mask=here, other=0.0).to(tl.float32) + bias
    s = tl.load(x + at, mask=here, other=0.0).to(tl.float32) + added * share
    # The backward pass finds it rounded: so the norm is of what is rounded.
    rounded = s.to(sums.dtype.element_ty)
    tl.store(sums + at, rounded, mask=here)
    s = rounded.to(tl.float32)
    mean = tl.sum(tl.where(here, s, 0.0), 0) / H
    apart = tl.where(here, s - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, 0) / H + epsilon)
    tl.store(means + row, mean, mask=row < rows)
    tl.store(scales + row, scale, mask=row < rows)
    found = apart * scale * weight + shift
    tl.store(out + at, found.to(out.dtype.element_ty), mask=here)


@triton.jit(do_not_specialize=["seed"])
def add_and_norm(
    x, y, sums, out, means, scales, biases, weights, shifts, rows, seed, rate, epsilon,
    H: tl.constexpr, BLOCK: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """A program takes four rows."""
    column = tl.arange(0, BLOCK)
    there = column < H
    bias = tl.load(biases + column, mask=there, other=0.0).to(tl.float32)
    weight = tl.load(weights + column, mask=there, other=0.0).to(tl.float32)
    shift = tl.load(shifts + column, mask=there, other=0.0).to(tl.float32)
    four = tl.program_id(0)
    a, b, c, d = _shares(seed, four * H + column, rate, DROPS)
    row = 4 * four
    _add_and_norm(
        x, y, sums, out, means, scales, bias, weight, shift, row, rows, column,
        a, epsilon, H,
    )  # fmt: skip
    _add_and_norm(
        x, y, sums, out, means, scales, bias, weight, shift, row + 1, rows, column,
        b, epsilon, H,
    )  # fmt: skip
    _add_and_norm(
        x, y, sums, out, means, scales, bias, weight, shift, row + 2, rows, column,
        c, epsilon, H,
    )  # fmt: skip
    _add_and_norm(
        x, y, sums, out, means, scales, bias, weight, shift, row + 3, rows, column,
        d, epsilon, H,
    )  # fmt: skip


@triton.jit
def _differentiate(
    grad, sums, means, scales, of_x, of_y, weight, row, rows, column, share,
    H: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """One row: what it adds to the gradients of the weight, the shift and the bias."""
    here = column < tl.where(row < rows, H, 0)
    at = row.to(tl.int64) * H + column
    g = tl.load(grad + at, mask=here, other=0.0).to(tl.float32)
    s = tl.load(sums + at, mask=here, other=0.0).to(tl.float32)
    mean = tl.load(means + row, mask=row < rows, other=0.0)
    scale = tl.load(scales + row, mask=row < rows, other=0.0)
    normed = tl.where(here, (s - mean) * scale, 0.0)
    of_normed = g * weight
    along = tl.sum(of_normed * normed, 0) / H
    found = (of_normed - tl.sum(of_normed, 0) / H - normed * along) * scale
    found = tl.where(here, found, 0.0)
    tl.store(of_x + at, found.to(of_x.dtype.element_ty), mask=here)
    dropped = found * share
    if DROPS:
        tl.store(of_y + at, dropped.to(of_y.dtype.element_ty), mask=here)
    return g * normed, g, dropped


@triton.jit(do_not_specialize=["seed"])
def differentiate_norm(
    grad, sums, means, scales, of_x, of_y, weights, parts, rows, seed, rate,
    H: tl.constexpr, BLOCK: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """A program takes every so many-th four of rows, and writes what they add up to: for the
    weight, the shift and the bias, in parts (programs, 3, H)."""
    column = tl.arange(0, BLOCK)
    there = column < H
    weight = tl.load(weights + column, mask=there, other=0.0).to(tl.float32)
    of_weight = tl.zeros((BLOCK,), tl.float32)
    of_shift = tl.zeros((BLOCK,), tl.float32)
    of_bias = tl.zeros((BLOCK,), tl.float32)
    for four in range(tl.program_id(0), (rows + 3) // 4, tl.num_programs(0)):
        a, b, c, d = _shares(seed, four * H + column, rate, DROPS)
        row = 4 * four
        w0, s0, b0 = _differentiate(
            grad, sums, means, scales, of_x, of_y, weight, row, rows, column,
            a, H, DROPS,
        )  # fmt: skip
        w1, s1, b1 = _differentiate(
            grad, sums, means, scales, of_x, of_y, weight, row + 1, rows, column,
            b, H, DROPS,
        )  # fmt: skip
        w2, s2, b2 = _differentiate(
            grad, sums, means, scales, of_x, of_y, weight, row + 2, rows, column,
            c, H, DROPS,
        )  # fmt: skip
        w3, s3, b3 = _differentiate(
            grad, sums, means, scales, of_x, of_y, weight, row + 3, rows, column,
            d, H, DROPS,
        )  # fmt: skip
        of_weight += (w0 + w1) + (w2 + w3)
        of_shift += (s0 + s1) + (s2 + s3)
        of_bias += (b0 + b1) + (b2 + b3)
    own = parts + tl.program_id(0) * 3 * H + column
    tl.store(own, of_weight, mask=there)
    tl.store(own + H, of_shift, mask=there)
    tl.store(own + 2 * H, of_bias, mask=there)


@triton.jit
def gelu(
    x, biases, out, rows,
    W: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """x Φ(x) of x and a bias for each column: a program takes a block of rows and columns."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    column = tl.program_id(1) * BC + tl.arange(0, BC)
    here = (row < rows)[:, None] & (column < W)[None, :]
    at = row.to(tl.int64)[:, None] * W + column[None, :]
    bias = tl.load(biases + column, mask=column < W, other=0.0).to(tl.float32)
    z = tl.load(x + at, mask=here, other=0.0).to(tl.float32) + bias[None, :]
    found = 0.5 * z * (1 + tl.erf(z * _HALF_ROOT))
    tl.store(out + at, found.to(out.dtype.element_ty), mask=here)


@triton.jit
def differentiate_gelu(
    grad, x, biases, of_x, parts, rows,
    W: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """A program takes a block of columns and every so many-th block of rows, and writes what the
    gradients of its columns add up to, in parts (programs, W)."""
    column = tl.program_id(1) * BC + tl.arange(0, BC)
    bias = tl.load(biases + column, mask=column < W, other=0.0).to(tl.float32)
    total = tl.zeros((BR, BC), tl.float32)
    for block in range(tl.program_id(0), (rows + BR - 1) // BR, tl.num_programs(0)):
        row = block * BR + tl.arange(0, BR)
        here = (row < rows)[:, None] & (column < W)[None, :]
        at = row.to(tl.int64)[:, None] * W + column[None, :]
        g = tl.load(grad + at, mask=here, other=0.0).to(tl.float32)
        z = tl.load(x + at, mask=here, other=0.0).to(tl.float32) + bias[None, :]
        below = 0.5 * (1 + tl.erf(z * _HALF_ROOT))
        found = g * (below + z * _DENSITY * tl.exp(-0.5 * z * z))
        tl.store(of_x + at, found.to(of_x.dtype.element_ty), mask=here)
        total += found
    tl.store(parts + tl.program_id(0) * W + column, tl.sum(total, 0), mask=column < W)
