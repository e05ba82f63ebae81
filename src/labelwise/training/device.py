"""Where a network runs, in which precision, and what to say when its memory does not suffice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from labelwise.errors import LabelwiseError
from labelwise.training.batches import Batch


def choose_device(name: str) -> torch.device:
    """``auto`` is a CUDA device where there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise LabelwiseError(
            f"the device '{name}' cannot be used here: use 'auto', 'cpu', or 'cuda' on a machine "
            "with a CUDA device and a PyTorch built for it"
        ) from error
    return device


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """bfloat16 products where asked for; ``auto`` asks for them on CUDA alone."""
    low = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=low)


@contextmanager
def memory_errors(batch: Batch) -> Iterator[None]:
    """Turn a failed allocation into a sentence that says what to lower."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise LabelwiseError(_sentence("the GPU", batch)) from error
    except RuntimeError as error:
        if "can't allocate memory" in str(error):
            raise LabelwiseError(_sentence("this machine", batch)) from error
        raise


def _sentence(machine: str, batch: Batch) -> str:
    rows, tokens = batch.tokens.shape
    return (
        f"{machine} ran out of memory with {len(batch)} documents of {rows} × {tokens} tokens in a "
        f"batch: lower batch_tokens (this batch has {rows * tokens:,}), batch, max_tokens or units"
    )
