"""Checkpoints: the last two, each replaced in one step, with a checksum over all of its bytes.

There is always a good one: a new checkpoint is on the disk before it takes the place of the last,
which is then kept as the one before. Where the last is damaged, that one is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from labelwise.errors import LabelwiseError
from labelwise.files import being_written

Checkpoint = tuple[dict[str, Tensor], dict[str, Any]]
"""Tensors by name, and values that JSON can hold."""

UNSIGNED = "0" * 64
"""What stands in the place of the checksum while it is made."""

_CHECKSUM = re.compile(rb'"sha256":"([0-9a-f]{64})"')


def before(file: Path) -> Path:
    """Where the checkpoint before the last is kept."""
    return file.with_name(f"{file.stem}.before{file.suffix}")


def write_checkpoint(file: Path, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
    """Write beside the last checkpoint, flush to the disk, then take its place."""
    try:
        # safetensors wants tensors that lie in one piece and share no memory.
        apart = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        content = save(apart, metadata={"values": json.dumps(values), "sha256": UNSIGNED})
        start, end = _place(content)
        checksum = hashlib.sha256(content).hexdigest().encode()
        with being_written(file) as descriptor:
            with os.fdopen(descriptor, "wb", closefd=False) as opened:
                opened.writelines([content[:start], checksum, memoryview(content)[end:]])
            if file.exists():
                _keep(file)
    except (OSError, SafetensorError) as error:
        size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
        kept = (
            "the last good checkpoint is still there: make room and resume from it"
            if file.exists() or before(file).exists()
            else "there is no earlier one: make room, or write elsewhere"
        )
        raise LabelwiseError(
            f"{file}: the checkpoint ({size / 1e6:.0f} MB) could not be written ({error}); {kept}"
        ) from error


def last_checkpoint(file: Path) -> Checkpoint | None:
    """The last good checkpoint of a training, None where it has none; a damaged one is named."""
    damaged: list[LabelwiseError] = []
    for one in (file, before(file)):
        if one.exists():
            try:
                found = read_checkpoint(one)
            except LabelwiseError as error:
                damaged.append(error)
                continue
            if damaged:
                warnings.warn(f"{damaged[0]}; the one before it is taken instead", stacklevel=2)
            return found
    if damaged:
        raise LabelwiseError(f"{damaged[0]}; remove it to train from the start")
    return None


def read_checkpoint(file: Path) -> Checkpoint:
    """The tensors and the values of a checkpoint."""
    try:
        content = file.read_bytes()
        start, end = _place(content)
        checksum = hashlib.sha256(content[:start] + UNSIGNED.encode())
        checksum.update(memoryview(content)[end:])
        if checksum.hexdigest().encode() != content[start:end]:
            raise ValueError("its checksum does not fit")
        header = json.loads(content[8 : _header_end(content)])
        return load(content), json.loads(header["__metadata__"]["values"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise LabelwiseError(
            f"{file}: this is not a checkpoint that can be read ({error})"
        ) from error


def _keep(file: Path) -> None:
    """Keep the last checkpoint as the one before; it stays in its place until the new one comes."""
    before(file).unlink(missing_ok=True)
    try:
        before(file).hardlink_to(file)
    except OSError:  # not every file system has two names for a file
        file.replace(before(file))


def _header_end(content: bytes) -> int:
    """A safetensors file begins with the length of its header, which is JSON."""
    return 8 + int.from_bytes(content[:8], "little")


def _place(content: bytes) -> tuple[int, int]:
    """Where the checksum stands."""
    found = _CHECKSUM.search(content, 8, min(_header_end(content), len(content)))
    if found is None:
        raise ValueError("it has no checksum")
    return found.span(1)
