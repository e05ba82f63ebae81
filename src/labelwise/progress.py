"""Progress bars on standard error: shown to people at a terminal, silent elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

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

T = TypeVar("T")

quiet = False
"""Set by the command line (``--quiet``): no bar even at a terminal."""


@contextmanager
def bar(description: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Show a bar while the block runs; the block calls what it is given with each step made."""
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
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
        yield lambda step: shown.advance(task, step)


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield the items, moving a bar with each one."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)
    with bar(description, total) as advance:
        for item in items:
            yield item
            advance(1)
