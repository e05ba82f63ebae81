"""What a saved model must hold: a value or an array is of its kind, or a sentence says so.

A checksum tells that a file is as it was written, not that what was written makes sense. Whoever
restores something asks for its parts here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import BundleError

T = TypeVar("T")

FLOATS, WHOLE = "f", "iu"
"""Kinds of numbers, as numpy names them."""

_KINDS = {FLOATS: "of fractions", WHOLE: "of whole numbers", "u": "of bytes"}
_TYPES = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def value(values: Any, name: str, kind: type[T]) -> T:
    """A value of this type.

    >>> value({"shift": "2"}, "shift", int)
    Traceback (most recent call last):
    labelwise.errors.BundleError: 'shift' is str, not a whole number
    """
    if not isinstance(values, Mapping):
        raise BundleError(f"there is no '{name}': its place holds {type(values).__name__}")
    if name not in values:
        raise BundleError(f"'{name}' is missing")
    found = values[name]
    if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
        raise BundleError(f"'{name}' is {type(found).__name__}, not {_TYPES[kind]}")
    return found


def number(values: Any, name: str) -> float:
    """A value that is a finite number.

    >>> number({"threshold": float("nan")}, "threshold")
    Traceback (most recent call last):
    labelwise.errors.BundleError: 'threshold' is nan, not a finite number
    """
    found = values.get(name) if isinstance(values, Mapping) else None
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise BundleError(f"'{name}' is {found}, not a finite number")
    return float(found)


def texts(values: Any, name: str) -> list[str]:
    """A value that is a list of text."""
    found = value(values, name, list)
    if not all(isinstance(one, str) for one in found):
        raise BundleError(f"'{name}' is not a list of text alone")
    return found


def array(
    arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int | None, ...], kinds: str
) -> NDArray[Any]:
    """An array of this kind of numbers and this shape, where None is any length; no number of it is
    infinite or none at all.

    >>> array({"idf": np.ones(2, np.float32)}, "idf", (3,), FLOATS)
    Traceback (most recent call last):
    labelwise.errors.BundleError: the array 'idf' has the shape (2,), not (3,)
    """
    if name not in arrays:
        raise BundleError(f"the array '{name}' is missing")
    found = arrays[name]
    if found.dtype.kind not in kinds:
        raise BundleError(f"the array '{name}' is of {found.dtype}, not {_KINDS[kinds]}")
    lengths = tuple(
        had if wanted is None else wanted for had, wanted in zip(found.shape, shape, strict=False)
    )
    if found.ndim != len(shape) or found.shape != lengths:
        wanted = "(" + ", ".join("any" if one is None else str(one) for one in shape) + ")"
        shown = f"{found.shape}, not {shape if None not in shape else wanted}"
        raise BundleError(f"the array '{name}' has the shape {shown}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise BundleError(f"the array '{name}' holds numbers that are not finite")
    return found


def places(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    below: int,
    *,
    length: int | None = None,
    rising: bool = False,
) -> NDArray[Any]:
    """An array of whole numbers from 0 to ``below``, where they are the places of other things."""
    found = array(arrays, name, (length,), WHOLE)
    if len(found) and not (found.min() >= 0 and found.max() < below):
        raise BundleError(f"the array '{name}' points outside of its {below:,} places")
    if rising and not (found[:-1] < found[1:]).all():
        raise BundleError(f"the array '{name}' is not in rising order")
    return found
