"""A curve of time and memory over one size, as a table with a figure: ours beside the plain one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labelwise.bench.growth import exponents, steepest

CLIFF = 1.25
"""An exponent above this is no longer linear growth with noise on it."""

OURS, PLAIN = "labelwise", "plain PyTorch"
OUTPUTS_FIRST = "plain PyTorch, outputs first"


def curve_table(
    what: str, over: str, points: Sequence[dict[str, Any]], *, seconds: bool, floor: float = 0
) -> dict[str, Any]:
    """The points of a curve, in order of their size, with how ours grows from one to the next.

    A point has the size under the key ``over``, and ``labelwise seconds``, ``labelwise bytes`` and
    the same of the plain version, which may be words where it could not run. ``seconds`` shows the
    times themselves, where the machine is a known card; else ratios. Memory below the ``floor`` is
    what any program needs.
    """
    sizes = [point[over] for point in points]
    grown = {
        "time exponent": exponents(sizes, [point[f"{OURS} seconds"] for point in points]),
        "memory exponent": exponents(
            sizes, [_at_least(point[f"{OURS} bytes"], floor) for point in points]
        ),
    }
    highest = {key: steepest(found) for key, found in grown.items()}
    rows = [
        {**point, **{key: found[at] for key, found in grown.items()}}
        for at, point in enumerate(points)
    ]
    times: list[dict[str, Any]] = [
        {"key": f"{name} seconds", "name": f"{name}: time", "as": "seconds"}
        for name in (OURS, PLAIN)
        if seconds
    ]
    how, name = ("times", "times as fast") if seconds else ("ratio", "time, ratio to plain PyTorch")
    to = {"key": f"{OURS} seconds", "name": name, "as": how, "to": f"{PLAIN} seconds"}
    memory = [
        {"key": f"{name} bytes", "name": f"{name}: extra memory", "as": "bytes"}
        for name in (OURS, PLAIN)
    ]
    shown = (("time exponent", "growth of time"), ("memory exponent", "growth of memory"))
    return {
        "what": what,
        "text": _finding(highest),
        "steepest": highest,
        "linear": all(one is None or one <= CLIFF for one in highest.values()),
        "columns": [
            {"key": over, "as": "count"},
            *times,
            to,
            *memory,
            *({"key": key, "name": name, "as": "exponent"} for key, name in shown),
        ],
        "rows": rows,
        "figure": {
            "over": over,
            "panels": [
                {"what": "seconds", "relative": not seconds},
                {"what": "bytes", "relative": False},
            ],
            "lines": [OURS, PLAIN],
        },
    }


def _finding(highest: dict[str, float | None]) -> str:
    time, memory = highest["time exponent"], highest["memory exponent"]
    if time is None or memory is None:
        return "Too few points were measured to say how it grows."
    linear = max(time, memory) <= CLIFF
    return (
        f"From each point to the next, time grows at most with the power {time:.2f} of the size "
        f"and memory with {memory:.2f} (1 is linear; the quickest repeats are compared): "
        f"{'no cliff' if linear else 'there is a cliff'}."
    )


def _at_least(value: Any, floor: float) -> Any:
    return max(value, floor) if isinstance(value, int | float) else value
