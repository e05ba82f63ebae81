"""How a cost grows with a size: the exponent between neighbouring points, 1 where it is linear."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def exponents(sizes: Sequence[float], costs: Sequence[Any]) -> list[float | None]:
    """For each point, the exponent since the one before it; None where one of the two is missing.

    Of several repeats the quickest counts: whatever else a machine does makes the others slower.

    >>> exponents([1, 10, 100], [2.0, 20.0, 2000.0])
    [None, 1.0, 2.0]
    """
    found: list[float | None] = [None]
    for at in range(1, len(sizes)):
        before, after = _lowest(costs[at - 1]), _lowest(costs[at])
        if _positive(before) and _positive(after):
            grown = math.log(after / before) / math.log(sizes[at] / sizes[at - 1])
            found.append(round(grown, 3))
        else:
            found.append(None)
    return found


def steepest(found: Sequence[float | None]) -> float | None:
    """The largest exponent of a curve: above 1 by more than noise, it has a cliff."""
    return max((one for one in found if one is not None), default=None)


def _lowest(value: Any) -> Any:
    return value["lowest"] if isinstance(value, Mapping) else value


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and value > 0
