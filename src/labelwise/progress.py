"""Bars and notes on standard error; bars are shown to people at a terminal, and not elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")

quiet = False
"""Set by the command line (``--quiet``): no bar even at a terminal."""

silent = False
"""Set by it too: no notes."""


class Advance(Protocol):
    """Moves a bar by a step and, where there is news (a loss, a score), renames it."""

    def __call__(self, step: float, description: str | None = None) -> None: ...


@contextmanager
def bar(description: str, total: float | None = None) -> Iterator[Advance]:
    """Show a bar while the block runs; the block calls what it is given with each step made."""
    if quiet or not sys.stderr.isatty():
        yield lambda step, description=None: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(description, total=total)
        yield lambda step, description=None: shown.update(
            task, advance=step, description=description
        )


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield the items, moving a bar with each one."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bar(description, total) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def one_bar(description: str, total: float | None = None) -> Iterator[Advance]:
    """One bar, and none of those that a method would show within it."""
    global quiet  # noqa: PLW0603
    with bar(description, total) as advance:
        before, quiet = quiet, True
        try:
            yield advance
        finally:
            quiet = before


def note(sentence: str) -> None:
    """A sentence beside the result."""
    if not silent:
        print(sentence, file=sys.stderr)
