"""What lies between the products of an encoder, fused for a GPU.

    added_norm    norm(x + dropout(y + b)), y being a product without its bias
    biased_gelu   gelu(x + b)

Each reads and writes an array of tokens once, where PyTorch passes over it for the bias, the
dropout, the sum and the norm apart; and its backward pass adds up the gradients of bias, weight and
shift on the way. What is dropped is drawn again in it, from a seed that PyTorch's generator gives.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from labelwise.kernels import triton_between as kernels
from labelwise.kernels.launching import on

WARPS = 12
"""Of a backward pass's programs, on each of the card's multiprocessors: as many as their registers
have room for, so that all run at once."""

GELU: dict[str, Any] = {"BR": 32, "BC": 128, "num_warps": 4}


def added_norm(
    x: Tensor,
    y: Tensor,
    bias: Tensor,
    weight: Tensor,
    shift: Tensor,
    *,
    epsilon: float,
    rate: float = 0.0,
) -> Tensor:
    """x and y (N, H), the others (H,), to (N, H) as x; numbers of y are dropped at this rate."""
    seed = int(torch.randint(1 << 31, ())) if rate else 0
    out: Tensor = _AddedNorm.apply(x, y, bias, weight, shift, epsilon, rate, seed)  # type: ignore[no-untyped-call]
    return out


def biased_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """x (N, W) and a bias (W,) to (N, W)."""
    out: Tensor = _BiasedGelu.apply(x, bias)  # type: ignore[no-untyped-call]
    return out


class _AddedNorm(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Any,
        x: Tensor,
        y: Tensor,
        bias: Tensor,
        weight: Tensor,
        shift: Tensor,
        epsilon: float,
        rate: float,
        seed: int,
    ) -> Tensor:
        x, y = x.contiguous(), y.contiguous()
        rows, width = x.shape
        out, sums = torch.empty_like(x), torch.empty_like(x)
        means = x.new_empty(rows, dtype=torch.float32)
        scales = torch.empty_like(means)
        options = _options(width, rate)
        with on(x):
            kernels.add_and_norm[(-(-rows // 4),)](
                x, y, sums, out, means, scales, bias, weight, shift, rows, seed, rate, epsilon,
                **options,
            )  # fmt: skip
        ctx.save_for_backward(sums, means, scales, weight)
        ctx.drawn, ctx.options = (seed, rate), options
        ctx.kinds = bias.dtype, weight.dtype, shift.dtype
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        sums, means, scales, weight = ctx.saved_tensors
        grad = grad.contiguous()
        rows, width = sums.shape
        of_x = torch.empty_like(sums)
        of_y = torch.empty_like(sums) if ctx.options["DROPS"] else of_x
        programs = min(-(-rows // 4), _at_once(ctx.options["num_warps"], sums.device))
        parts = sums.new_empty((programs, 3, width), dtype=torch.float32)
        with on(sums):
            kernels.differentiate_norm[(programs,)](
                grad, sums, means, scales, of_x, of_y, weight, parts, rows, *ctx.drawn,
                **ctx.options,
            )  # fmt: skip
        of_weight, of_shift, of_bias = parts.sum(0)
        kind_b, kind_w, kind_s = ctx.kinds
        learned = of_bias.to(kind_b), of_weight.to(kind_w), of_shift.to(kind_s)
        return of_x, of_y, *learned, None, None, None


class _BiasedGelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor) -> Tensor:
        x = x.contiguous()
        rows, width = x.shape
        out = torch.empty_like(x)
        grid = -(-rows // GELU["BR"]), -(-width // GELU["BC"])
        with on(x):
            kernels.gelu[grid](x, bias, out, rows, W=width, **GELU)
        ctx.save_for_backward(x, bias)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, bias = ctx.saved_tensors
        grad = grad.contiguous()
        rows, width = x.shape
        columns = -(-width // GELU["BC"])
        of_x = torch.empty_like(x)
        at_once = max(1, _at_once(GELU["num_warps"], x.device) // columns)
        programs = min(-(-rows // GELU["BR"]), at_once)
        parts = x.new_empty((programs, width), dtype=torch.float32)
        with on(x):
            kernels.differentiate_gelu[programs, columns](
                grad, x, bias, of_x, parts, rows, W=width, **GELU
            )
        return of_x, parts.sum(0).to(bias.dtype)


def _options(width: int, rate: float) -> dict[str, Any]:
    block = 1 << (width - 1).bit_length()
    warps = min(16, max(1, block // 256))
    return {"H": width, "BLOCK": block, "DROPS": rate > 0, "num_warps": warps}


@cache
def _at_once(warps: int, device: torch.device) -> int:
    """How many programs of so many warps the card runs at once; without a card, as in Triton's
    interpreter, several."""
    cores = (
        torch.cuda.get_device_properties(device).multi_processor_count
        if device.type == "cuda"
        else 1
    )
    return int(cores) * max(1, WARPS // warps)
