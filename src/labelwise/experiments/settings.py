"""From ``--set name=value`` to the settings of a method, checked against its dataclass."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import types
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from labelwise.errors import LabelwiseError
from labelwise.experiments.one_or_more import one_or_more

if TYPE_CHECKING:
    from labelwise.methods import Settings

S = TypeVar("S", bound="Settings")
"""The settings of one method."""

TRUE, FALSE = frozenset({"true", "yes", "1", "on"}), frozenset({"false", "no", "0", "off"})


def named_in(assignment: str) -> str:
    """The setting that is given a value.

    >>> named_in("learning-rate=0.001")
    'learning_rate'
    """
    return assignment.partition("=")[0].strip().replace("-", "_")


def parse_settings(cls: type[S], assignments: Sequence[str], method: str) -> S:
    """Settings with the given values, the defaults elsewhere.

    >>> from labelwise.methods.base import Settings
    >>> parse_settings(Settings, ["seed=3"], "svm")
    Settings(seed=3)
    """
    kinds = typing.get_type_hints(cls)
    known = [field.name for field in dataclasses.fields(cls)]
    listed = f"{method} has these settings: {', '.join(sorted(known))}"
    values: dict[str, Any] = {}
    for assignment in assignments:
        _, equals, text = assignment.partition("=")
        name = named_in(assignment)
        if not equals or name not in known:
            problem = (
                f"there is no setting '{name}'" if equals else f"'{assignment}' is not name=value"
            )
            raise LabelwiseError(f"{problem}; {listed}")
        if name in values:
            raise LabelwiseError(f"the setting '{name}' is given twice")
        try:
            values[name] = _value(text.strip(), kinds[name])
        except ValueError:
            raise LabelwiseError(
                f"the setting '{name}' of {method} cannot be '{text}': it takes "
                f"{kind_name(kinds[name])} (see `labelwise train {method} --help-settings`)"
            ) from None
    try:
        settings = cls(**values)
    except (ValueError, TypeError) as error:
        raise LabelwiseError(f"these settings do not fit {method}: {error}") from error
    from labelwise.methods.base import require

    require(settings, seed=0)
    return settings


def _value(text: str, kind: Any) -> Any:
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        by_name = {str(choice): choice for choice in choices}
        if text not in by_name:
            raise ValueError(text)
        return by_name[text]
    if origin in {typing.Union, types.UnionType}:
        if text.lower() == "none" and type(None) in choices:
            return None
        for choice in choices:
            if choice is not type(None):
                try:
                    return _value(text, choice)
                except ValueError:
                    continue
        raise ValueError(text)
    if origin is tuple:
        parts = [part for part in text.strip("()[]").split(",") if part.strip()]
        inner = choices[:1] * len(parts) if choices[-1] is Ellipsis else choices
        if len(inner) != len(parts):
            raise ValueError(text)
        return tuple(_value(part.strip(), one) for part, one in zip(parts, inner, strict=True))
    if kind is bool:
        if text.lower() not in TRUE | FALSE:
            raise ValueError(text)
        return text.lower() in TRUE
    return kind(text)


def kind_name(kind: Any) -> str:
    """What a setting takes, in words."""
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        *most, last = (str(choice) for choice in choices)
        return f"{', '.join(most)} or {last}" if most else last
    if origin in {typing.Union, types.UnionType}:
        return " or ".join("none" if one is type(None) else kind_name(one) for one in choices)
    if origin is tuple:
        inner = kind_name(choices[0])
        return (
            f"{inner}, several by commas"
            if choices[-1] is Ellipsis
            else f"{len(choices)} values by commas"
        )
    return {bool: "true or false", int: "a whole number", float: "a number", str: "text"}.get(
        kind, str(kind)
    )


def describe_settings(cls: type[Settings]) -> list[dict[str, Any]]:
    """Name, kind, default and meaning of each setting."""
    kinds, meanings = typing.get_type_hints(cls), _meanings(cls)
    return [
        {
            "name": field.name,
            "takes": kind_name(kinds[field.name]),
            "default": field.default,
            "meaning": meanings.get(field.name, ""),
        }
        for field in dataclasses.fields(cls)
    ]


def typed(value: Any) -> str:
    """A value as it would be typed after ``--set name=``.

    >>> typed(None), typed(False), typed((3, 5)), typed(0.3)
    ('none', 'false', '3,5', '0.3')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(typed, value)) if isinstance(value, tuple) else str(value)


def assignments(settings: Mapping[str, Any] | str | Sequence[str] | None) -> list[str]:
    """Settings by name, each as it would be typed after ``--set``; what was typed stays.

    >>> assignments({"C": 2.0, "vectors": None})
    ['C=2.0', 'vectors=none']
    """
    if isinstance(settings, Mapping):
        return [f"{name}={typed(value)}" for name, value in settings.items()]
    given = one_or_more(settings)
    if strange := [one for one in given if not isinstance(one, str)]:
        raise LabelwiseError(
            f"settings are a dict, or texts like 'C=2.0', one or a list of them, not {strange[0]!r}"
        )
    return given


def _meanings(cls: type[Settings]) -> dict[str, str]:
    """The strings and trailing comments that stand beside the fields in the source."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__[:-1]):
        source = textwrap.dedent(inspect.getsource(one))
        lines = source.splitlines()
        body = ast.parse(source).body[0]
        assert isinstance(body, ast.ClassDef)
        for node, after in zip(body.body, [*body.body[1:], None], strict=True):
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
                continue
            _, comment, words = lines[(node.end_lineno or 1) - 1].partition("  # ")
            if comment:
                found[node.target.id] = words.strip()
            elif isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                words = str(after.value.value).replace("``", "'")
                found[node.target.id] = " ".join(words.split())
    return found
