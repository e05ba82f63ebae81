"""Several repeats as one figure: the median, and how far the repeats lie apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeVar

T = TypeVar("T")


def spread(values: Sequence[float]) -> dict[str, float | int]:
    """The median of the repeats, with the lowest and the highest.

    >>> spread([3.0, 1.0, 2.0])
    {'median': 2.0, 'lowest': 1.0, 'highest': 3.0, 'repeats': 3}
    """
    return {
        "median": median(values),
        "lowest": min(values),
        "highest": max(values),
        "repeats": len(values),
    }


def taking_turns(measures: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, list[T]]:
    """Measure each in turn, and all of them again: what slows the machine slows all alike."""
    found: dict[str, list[T]] = {name: [] for name in measures}
    for _ in range(repeats):
        for name, measure in measures.items():
            found[name].append(measure())
    return found
