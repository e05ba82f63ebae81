"""The Triton kernels of the recurrent encoder; ``fused_gru`` says what they are for.

A program reads BD rows in one direction from end to end. All it needs of the other programs is
nothing: it streams the recurrent weights from the cache at every step.

Units are filled up to U, a multiple of every block, and real tokens lie packed, row after row, so
that all is read and stored in wide pieces. ``gates`` holds, for every token and direction, four
numbers a unit. Before the forward pass
these are what the word adds to the reset, update and new gates, and the recurrent bias of the new
gate; after it r, z, n and m = W_n h + b_n, of which

    h' = (1 − z) n + z h        r, z = σ(...)        n = tanh(x_n + r m).
"""

import triton
import triton.language as tl


@triton.jit
def forward(
    gates, y, state, weights, starts, lengths, rows,
    U: tl.constexpr, BD: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BD + tl.arange(0, BD)
    side = tl.program_id(1)
    length = tl.load(lengths + row, mask=row < rows, other=0)
    first = tl.load(starts + row, mask=row < rows, other=0)
    of_row = (row.to(tl.int64) * 2 + side) * U
    for t in range(0, tl.max(length)):
        live = t < length
        begun = live & (tl.zeros_like(length) + t > 0)  # there is a state from before
        at = first + tl.where(side == 0, t, length - 1 - t)
        here = (at * 2 + side) * U
        before = here + tl.where(side == 0, -2 * U, 2 * U)
        for u in range(0, U, BU):
            unit = u + tl.arange(0, BU)
            spot = here[:, None] * 4 + unit[None, :]
            known = live[:, None]
            x_r = tl.load(gates + spot, mask=known, other=0.0)
            x_z = tl.load(gates + spot + U, mask=known, other=0.0)
            x_n = tl.load(gates + spot + 2 * U, mask=known, other=0.0)
            b_n = tl.load(gates + spot + 3 * U, mask=known, other=0.0)
            own = of_row[:, None] + unit[None, :]
            old = tl.load(state + own, mask=known, other=0.0)
            r = tl.zeros((BD, BU), tl.float32)
            z = tl.zeros((BD, BU), tl.float32)
            m = tl.zeros((BD, BU), tl.float32)
            w = weights + side * 3 * U * U + unit[:, None] * U
            for k in range(0, U, BK):
                other = (k + tl.arange(0, BK))[None, :]
                h = tl.load(y + before[:, None] + other, mask=begun[:, None], other=0.0)
                r = tl.dot(h, tl.trans(tl.load(w + other)), r)
                z = tl.dot(h, tl.trans(tl.load(w + U * U + other)), z)
                m = tl.dot(h, tl.trans(tl.load(w + 2 * U * U + other)), m)
            r = tl.sigmoid(r + x_r)
            z = tl.sigmoid(z + x_z)
            m = m + b_n
            n = 2 * tl.sigmoid(2 * (x_n + r * m)) - 1
            new = n + z * (old - n)
            tl.store(state + own, new, mask=known)
            tl.store(y + here[:, None] + unit[None, :], new.to(y.dtype.element_ty), mask=known)
            tl.store(gates + spot, r.to(gates.dtype.element_ty), mask=known)
            tl.store(gates + spot + U, z.to(gates.dtype.element_ty), mask=known)
            tl.store(gates + spot + 2 * U, n.to(gates.dtype.element_ty), mask=known)
            tl.store(gates + spot + 3 * U, m.to(gates.dtype.element_ty), mask=known)
        tl.debug_barrier()  # the next step reads what other threads stored


@triton.jit
def backward(
    gates, of_gates, y, grad, state, weights, starts, lengths, rows,
    U: tl.constexpr, BD: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """``state`` is the gradient that the state passes on; ``weights`` are turned around here.

    ``of_gates`` has the shape of gates: the gradients of what stands before r, z and n, and of m.
    """
    row = tl.program_id(0) * BD + tl.arange(0, BD)
    side = tl.program_id(1)
    length = tl.load(lengths + row, mask=row < rows, other=0)
    first = tl.load(starts + row, mask=row < rows, other=0)
    of_row = (row.to(tl.int64) * 2 + side) * U
    longest = tl.max(length)
    for back in range(0, longest):
        t = longest - 1 - back
        live = t < length
        begun = live & (tl.zeros_like(length) + t > 0)
        at = first + tl.where(side == 0, t, length - 1 - t)
        here = (at * 2 + side) * U
        before = here + tl.where(side == 0, -2 * U, 2 * U)
        known = live[:, None]
        for u in range(0, U, BU):
            unit = (u + tl.arange(0, BU))[None, :]
            spot = here[:, None] * 4 + unit
            own = of_row[:, None] + unit
            r = tl.load(gates + spot, mask=known, other=0.0).to(tl.float32)
            z = tl.load(gates + spot + U, mask=known, other=0.0).to(tl.float32)
            n = tl.load(gates + spot + 2 * U, mask=known, other=0.0).to(tl.float32)
            m = tl.load(gates + spot + 3 * U, mask=known, other=0.0).to(tl.float32)
            h = tl.load(y + before[:, None] + unit, mask=begun[:, None], other=0.0).to(tl.float32)
            g = tl.load(grad + here[:, None] + unit, mask=known, other=0.0).to(tl.float32)
            g += tl.load(state + own, mask=known, other=0.0)
            g_n = g * (1 - z) * (1 - n * n)
            g_z = g * (h - n) * z * (1 - z)
            g_m = g_n * r
            g_r = g_n * m * r * (1 - r)
            tl.store(state + own, g * z, mask=known)
            tl.store(of_gates + spot, g_r.to(gates.dtype.element_ty), mask=known)
            tl.store(of_gates + spot + U, g_z.to(gates.dtype.element_ty), mask=known)
            tl.store(of_gates + spot + 2 * U, g_n.to(gates.dtype.element_ty), mask=known)
            tl.store(of_gates + spot + 3 * U, g_m.to(gates.dtype.element_ty), mask=known)
        tl.debug_barrier()
        for u in range(0, U, BU):
            unit = u + tl.arange(0, BU)
            own = of_row[:, None] + unit[None, :]
            g = tl.load(state + own, mask=known, other=0.0)
            w = weights + side * 3 * U * U + unit[:, None] * U
            for k in range(0, U, BK):
                other = (k + tl.arange(0, BK))[None, :]
                spot = here[:, None] * 4 + other
                g_r = tl.load(of_gates + spot, mask=known, other=0.0)
                g_z = tl.load(of_gates + spot + U, mask=known, other=0.0)
                g_m = tl.load(of_gates + spot + 3 * U, mask=known, other=0.0)
                g = tl.dot(g_r, tl.trans(tl.load(w + other)), g)
                g = tl.dot(g_z, tl.trans(tl.load(w + U * U + other)), g)
                g = tl.dot(g_m, tl.trans(tl.load(w + 2 * U * U + other)), g)
            tl.store(state + own, g, mask=known)
        tl.debug_barrier()
