"""Documents, or whatever else comes one after another, a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from labelwise.errors import LabelwiseError

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most ``size`` items, read only when asked for. Those before one that cannot be
    read are given before its error is raised.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    batch: list[T] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch = []
    except (LabelwiseError, OSError):
        if batch:
            yield batch
        raise
    if batch:
        yield batch
