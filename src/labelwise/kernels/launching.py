"""When the kernels for a GPU are used, and what they have in common on the host's side."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor


def runs_triton(x: Tensor) -> bool:
    """Whether the Triton kernels can do it: on an NVIDIA GPU since Ampere, in float32 or less."""
    return (
        x.is_cuda
        and x.dtype != torch.float64
        and _has_triton()
        and torch.cuda.get_device_capability(x.device) >= (8, 0)
    )


@cache
def _has_triton() -> bool:  # found out once: the path is long, and a step asks several times
    return find_spec("triton") is not None


def autocast_dtype(x: Tensor) -> torch.dtype | None:
    """The precision that autocast asks for where x lies, if it is on."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def moved(x: Tensor, device: torch.device) -> Tensor:
    """On the device; the host does not wait for it."""
    return x.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else x


def on(x: Tensor) -> Any:
    """Triton launches on the current device, which need not be that of x."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()
