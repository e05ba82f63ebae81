"""Settings back from JSON, each of the type that its method gives it."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

import labelwise
from labelwise.errors import BundleError, LabelwiseError
from labelwise.methods.base import Method, Settings


def settings_from_json(cls: type[Method], values: Any) -> Settings:
    """The settings that were saved for a method; one that it does not know is refused.

    >>> from labelwise.methods.svm import SVM
    >>> settings_from_json(SVM, {"C": "high"})
    Traceback (most recent call last):
    labelwise.errors.BundleError: the setting 'C' of svm cannot be 'high'
    """
    if not isinstance(values, Mapping):
        raise BundleError(f"the settings of {cls.name} are {type(values).__name__}, not an object")
    known = {field.name for field in dataclasses.fields(cls.Settings)}
    if unknown := sorted(set(values) - known):
        raise BundleError(
            f"{cls.name} has no setting '{unknown[0]}' in labelwise {labelwise.__version__}"
        )
    kinds = typing.get_type_hints(cls.Settings)
    fields: dict[str, Any] = {}
    for name, value in values.items():
        # JSON has lists only; settings are immutable.
        fields[name] = tuple(value) if isinstance(value, list) else value
        if not _fits(fields[name], kinds[name]):
            raise BundleError(f"the setting '{name}' of {cls.name} cannot be {value!r}")
    try:
        return cls.Settings(**fields)
    except BundleError:
        raise
    except LabelwiseError as error:
        raise BundleError(f"the settings of {cls.name} do not fit it: {error}") from error


def _fits(value: Any, kind: Any) -> bool:
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return value in choices
    if origin in {typing.Union, types.UnionType}:
        return any(_fits(value, one) for one in choices)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        inner = choices[:1] * len(value) if choices[-1] is Ellipsis else choices
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if kind is float:  # JSON may write 1.0 as 1
        return type(value) in (int, float) and math.isfinite(value)
    if kind is int:
        return type(value) is int
    return isinstance(value, type(None) if kind is None else kind)
