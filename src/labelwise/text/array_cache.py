"""A cache of named arrays: one folder a key, memory-mapped on reading, checked by checksums.

``<cache>/<key>/`` holds one ``.npy`` file an array and ``meta.json`` with their checksums. The key
is a digest of all that the arrays were made from, so a stale entry has another key and is never
read. An entry is built beside its place and renamed into it: readers see all of it or nothing.
"""

from __future__ import annotations

import json
import shutil
import warnings
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError
from labelwise.locks import locked

FORMAT = 1
BUILDING = ".building-"
WAIT = 600.0
"""Seconds that a process waits for another one to write its entry; a large one takes a minute."""


class _DamagedError(Exception):
    """What is wrong with an entry of the cache."""


def read_arrays(cache: Path, key: str, names: Sequence[str]) -> dict[str, NDArray[Any]] | None:
    """The arrays kept under a key, mapped read-only; None where there are none.

    A damaged entry is removed with a warning, and counts as none.
    """
    entry = cache / key
    if not entry.is_dir():
        return None
    try:
        return _read_entry(entry, names)
    except (_DamagedError, OSError, ValueError) as problem:
        warnings.warn(f"the cache {entry} is damaged ({problem}) and is made anew", stacklevel=3)
        shutil.rmtree(entry, ignore_errors=True)
        return None


def _read_entry(entry: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    meta = json.loads((entry / "meta.json").read_text(encoding="utf-8"))
    if not isinstance(meta, dict) or meta.get("format") != FORMAT or meta.get("key") != entry.name:
        raise _DamagedError("meta.json is not the one of this entry")
    checksums = meta.get("checksums")
    if not isinstance(checksums, dict) or sorted(checksums) != sorted(names):
        raise _DamagedError("meta.json does not name the arrays")
    arrays = {}
    for name in names:
        file = entry / f"{name}.npy"
        if _checksum(file) != checksums[name]:
            raise _DamagedError(f"{file.name} has changed since it was written")
        # A plain view of the mapped file: np.memmap itself makes every small slice slow.
        arrays[name] = np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    return arrays


def write_arrays(cache: Path, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keep arrays under a key. Where another process was faster, its equal entry stays."""
    busy = f"{cache}: another process is writing to the cache: choose another cache folder, or wait"
    try:
        with locked(cache / ".lock", busy, wait=WAIT):
            for left in cache.glob(f"{BUILDING}*"):  # by a process that was killed
                shutil.rmtree(left, ignore_errors=True)
            if not (cache / key).is_dir():
                _write_entry(cache, key, arrays)
    except OSError as error:
        if (cache / key).is_dir():
            return  # another process put its entry in place a moment before
        raise LabelwiseError(
            f"the cache cannot be written to {cache}: {error.strerror or error}; free some space, "
            "or choose another cache folder"
        ) from error


def _write_entry(cache: Path, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    building = cache / f"{BUILDING}{uuid4().hex}"
    try:
        building.mkdir()
        for name, array in arrays.items():
            _save(building / f"{name}.npy", np.ascontiguousarray(array))
        checksums = {name: _checksum(building / f"{name}.npy") for name in arrays}
        meta = {"format": FORMAT, "key": key, "checksums": checksums}
        (building / "meta.json").write_text(json.dumps(meta, indent=2), encoding="utf-8")
        building.rename(cache / key)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _save(file: Path, array: NDArray[Any]) -> None:
    """As np.save, which however loses the end of an array on a full disk without an error."""
    with file.open("wb") as stream:
        npy.write_array_header_1_0(stream, npy.header_data_from_array_1_0(array))
        stream.write(array.data)


def _checksum(file: Path) -> int:
    return zlib.crc32(np.memmap(file, dtype=np.uint8, mode="r").data)
