"""What the kernels for a GPU have in common on the host's side."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor


def moved(x: Tensor, device: torch.device) -> Tensor:
    """On the device; the host does not wait for it."""
    return x.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else x


def on(x: Tensor) -> Any:
    """Triton launches on the current device, which need not be that of x."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()
