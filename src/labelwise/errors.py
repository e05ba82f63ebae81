"""Errors that a user can act on. The command line prints their message and nothing else."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path
from typing import Any


class LabelwiseError(Exception):
    """The base of all errors made for users: one plain sentence that says what to do."""


class InputError(LabelwiseError):
    """A file, a line or a field that cannot be read, named as precisely as it is known."""

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.field = problem, file, line, field
        where = [str(file)] if file is not None else []
        if line is not None:
            where.append(f"line {line}")
        if field is not None:
            where.append(f"field '{field}'")
        super().__init__(f"{', '.join(where)}: {problem}" if where else problem)


class CallError(LabelwiseError):
    """Options that do not go together, or one that is missing."""


class BundleError(LabelwiseError):
    """A saved model that is damaged, altered, or of another format version."""


class MissingExtraError(LabelwiseError):
    """An optional dependency that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'labelwise[{extra}]'")


def check_whole(name: str, given: Any, least: int) -> None:
    """Raise an error for what is no whole number, or too low a one."""
    if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
        raise LabelwiseError(f"{name} is a whole number from {least} on, not {given!r}")
