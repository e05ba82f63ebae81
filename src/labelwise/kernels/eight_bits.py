"""Products in 8 bits, for scoring on a CPU: whole numbers with one scale a row.

A processor with VNNI instructions multiplies them four times as fast as float32, and adds the
products up in 32 bits without rounding: the only errors are those of rounding the factors.

The linear layers of an encoder are also worth it without these instructions: PyTorch's quantised
product is twice as fast as float32 there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

SMALLEST = 1 << 16
"""Entries of a matrix from which on there is time to save; a smaller one is left as it is."""

_asked = ContextVar("products in 8 bits", default=False)
_kept: MutableMapping[Tensor, Any] = WeakTensorKeyDictionary()


@contextmanager
def eight_bits(enabled: bool = True) -> Iterator[None]:
    """Within it, scoring on a CPU that has instructions for it multiplies in 8 bits."""
    token = _asked.set(enabled)
    try:
        yield
    finally:
        _asked.reset(token)


def is_asked() -> bool:
    """Whether we are within it."""
    return _asked.get()


def asked_for(weight: Tensor) -> bool:
    """Whether products with it are to be made in 8 bits: rounding has no gradient."""
    return _is_for(weight) and available()


def linear_asked_for(weight: Tensor) -> bool:
    """The same for a linear layer, which PyTorch has a product of its own for."""
    return _is_for(weight) and hasattr(torch.ops.quantized, "linear_prepack")


def _is_for(weight: Tensor) -> bool:
    return (
        _asked.get()
        and weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and weight.numel() >= SMALLEST
        and not torch.is_grad_enabled()
    )


@cache
def available() -> bool:
    """Whether this processor multiplies bytes quickly, and this PyTorch lets it.

    Without VNNI pairs of products are added up in 16 bits, which 127 × 127 twice does not fit.
    """
    if not _has_vnni():
        return False
    most = torch.full((32, 64), 127, dtype=torch.int8)
    return bool((product(most, most) == 64 * 127 * 127).all())


@cache
def _has_vnni() -> bool:
    return bool(getattr(torch.cpu, "_is_vnni_supported", lambda: False)())


def rounded(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (…, any) as whole numbers from -127 to 127, and what to multiply each with (…, 1).

    >>> whole, scale = rounded(torch.tensor([[0.5, -1.27], [0.0, 0.0]]))
    >>> whole.tolist(), round(scale[0].item(), 4)
    ([[50, -127], [0, 0]], 0.01)
    """
    scale = (x.abs().amax(-1, keepdim=True) / 127).clamp_min_(1e-30)  # a row may be all zeros
    return (x / scale).round_().to(torch.int8), scale


def rounded_weight(weight: Tensor) -> tuple[Tensor, Tensor]:
    """The same of a weight, kept until the weight changes: rounding may take as long as an act."""
    whole, scale = _kept_for(weight, rounded)
    return whole, scale


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x (n, in), weight (out, in), bias (out,) to (n, out).

    The product takes one scale for all rows, so that each is brought to the same size before.
    """
    packed = _kept_for(weight, _packed)
    size = x.abs().amax(1, keepdim=True).clamp_min_(1e-30)
    # Without VNNI pairs of products are added up in 16 bits: numbers of 7 bits do not overflow.
    found = torch.ops.quantized.linear_dynamic(x / size, packed, not _has_vnni())
    return torch.addcmul(bias, found, size)


def _packed(weight: Tensor) -> Any:
    scale = (weight.abs().amax(1) / 127).clamp_min_(1e-30)
    with warnings.catch_warnings():  # of what may come after it
        warnings.simplefilter("ignore")
        zero = torch.zeros(len(weight), dtype=torch.int64)
        whole = torch.quantize_per_channel(weight, scale, zero, 0, torch.qint8)
    return torch.ops.quantized.linear_prepack(whole, None)


def _kept_for(weight: Tensor, make: Callable[[Tensor], Any]) -> Any:
    """What is made of a weight, kept until the weight changes."""
    if weight.is_inference():  # does not know whether it was changed
        return make(weight)
    stamp = weight._version, weight.data_ptr()
    found = _kept.get(weight)
    if found is None or found[0] != stamp:
        found = _kept[weight] = stamp, make(weight.detach())
    return found[1]


def product(x: Tensor, y: Tensor) -> Tensor:
    """(n, width) and (m, width) in int8 to (n, m) in int32, exactly."""
    return torch._int_mm(x, y.T)
