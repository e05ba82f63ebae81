"""Checkpoints: one file, replaced in one step, so that there is always a good one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from labelwise.errors import LabelwiseError


def write_checkpoint(file: Path, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
    """Write beside the last checkpoint, flush to the disk, then take its place."""
    new = file.with_name(file.name + ".new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # safetensors wants tensors that lie in one piece and share no memory.
        apart = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(apart, new, metadata={"values": json.dumps(values)})
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(file)
    except (OSError, SafetensorError) as error:
        new.unlink(missing_ok=True)
        size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
        kept = (
            "the last good checkpoint is still there: make room and resume from it"
            if file.exists()
            else "there is no earlier one: make room, or write elsewhere"
        )
        raise LabelwiseError(
            f"{file}: the checkpoint ({size / 1e6:.0f} MB) could not be written ({error}); {kept}"
        ) from error


def read_checkpoint(file: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the values of a checkpoint."""
    try:
        with safe_open(file, framework="pt") as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            return tensors, json.loads(opened.metadata()["values"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise LabelwiseError(
            f"{file}: this is not a checkpoint that can be read ({error}); remove it to train "
            "from the start"
        ) from error
