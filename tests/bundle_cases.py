"""Bundles whose checksums are right and whose contents are wrong, as another program may write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from labelwise.bundle import MANIFEST, _digest

Arrays = dict[str, NDArray[Any]]


def contents(folder: Path) -> tuple[dict[str, Any], Arrays, dict[str, Any]]:
    """The manifest, the arrays and the values of a bundle."""
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    files = manifest["files"]
    values = json.loads((folder / files["values"]["file"]).read_text("utf-8"))
    return manifest, load_file(folder / files["arrays"]["file"]), values


def rewrite(
    folder: Path,
    manifest: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]] | None = None,
    **parts: Any,
) -> None:
    """Write a bundle's manifest, and those of its parts that are given, with checksums that fit."""
    made = {**manifest, "files": {**manifest["files"]}}
    data = {part: json.dumps(of).encode() for part, of in parts.items()}
    if arrays is not None:
        data["arrays"] = save({name: np.ascontiguousarray(a) for name, a in arrays.items()})
    for part, content in data.items():
        (folder / f"{part}-wrong").write_bytes(content)
        made["files"][part] = {
            "file": f"{part}-wrong",
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
        }
    made["digest"] = _digest(made)
    (folder / MANIFEST).write_text(json.dumps(made), "utf-8")


def _not_finite(array: NDArray[Any]) -> NDArray[Any]:
    spoilt = array.copy()
    spoilt.ravel()[:1] = np.nan
    return spoilt


WAYS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "of another kind": lambda a: a.astype(np.int32 if a.dtype.kind == "f" else np.float32),
    "transposed": lambda a: a.T if a.ndim > 1 else a[None],
    "longer": lambda a: np.concatenate([a, a[-1:]]),
    "not finite": _not_finite,
}


def wrong_arrays(arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
    """What is wrong, and the arrays: each one missing, and each spoilt in every way that shows."""
    for name, array in arrays.items():
        yield f"{name} missing", {k: v for k, v in arrays.items() if k != name}
        for way, spoil in WAYS.items():
            if (
                not array.ndim
                or not array.size
                or (way == "not finite" and array.dtype.kind != "f")
            ):
                continue
            spoilt = spoil(array)
            if (spoilt.shape, spoilt.dtype) != (array.shape, array.dtype) or way == "not finite":
                yield f"{name} {way}", {**arrays, name: spoilt}


def wrong_values(values: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is wrong, and the values: each one missing, nothing, text, or a list of lists."""
    for name in values:
        yield f"{name} missing", {k: v for k, v in values.items() if k != name}
        for other in (None, "text", [[1, "two"]]):
            yield f"{name} {other}", {**values, name: other}
