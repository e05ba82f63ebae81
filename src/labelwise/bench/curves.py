"""A curve of time and memory over one size, ours beside the plain one, as a table and as a figure.

A table asks for a figure by ``figure``: the key of the size (``over``), the ``lines`` (names of
which the rows hold ``NAME seconds`` and ``NAME bytes``), and a panel for each of the two. Both axes
are logarithmic. A relative panel shows multiples of the first point of the last line, where seconds
would say more about the machine than about the program. A panel of another measure has ``"scale":
"linear"``.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise.bench.page import figure_name, median_of
from labelwise.bench.results import read_results, tables
from labelwise.errors import MissingExtraError
from labelwise.files import write_whole


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


_LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"))
"""Colours of Okabe and Ito, which colour-blind readers can tell apart, each with its own marker."""


def write_figures(out: Path) -> list[Path]:
    """Draw the figures of all results into ``out/figures``."""
    written = []
    for name, result in read_results(out).items():
        for number, table in enumerate(tables(result)):
            if table.get("figure"):
                path = out / "figures" / figure_name(name, number)
                write_whole(path, curves_svg(table))
                written.append(path)
    return written


def curves_svg(table: Mapping[str, Any]) -> bytes:
    """The figure of one table as SVG: same table, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the figures of the benchmarks", "plots") from error

    asked = table["figure"]
    # A fixed salt for the ids, text as text, no date: the file changes only with the figures.
    with mpl.rc_context({"svg.hashsalt": "labelwise", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9, 3.4), layout="constrained")
        panels = figure.subplots(1, len(asked["panels"]), squeeze=False)[0]
        for panel, wanted in zip(panels, asked["panels"], strict=True):
            unit = 1.0
            if wanted.get("relative"):
                (_, unit), *_ = line_points(table, asked["lines"][-1], wanted["what"])
            for line, (colour, marker) in zip(asked["lines"], _LOOKS, strict=False):
                points = line_points(table, line, wanted["what"])
                panel.plot(
                    [size for size, _ in points],
                    [cost / unit for _, cost in points],
                    color=colour,
                    marker=marker,
                    markersize=4,
                    label=line,
                )
            scale = wanted.get("scale", "log")
            panel.set(xscale=scale, yscale=scale, xlabel=asked["over"], ylabel=_label(wanted))
            panel.grid(alpha=0.3)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def line_points(table: Mapping[str, Any], line: str, what: str) -> list[tuple[float, float]]:
    """The points of a line that were measured: size and cost."""
    over = table["figure"]["over"]
    found = [(row[over], median_of(row.get(f"{line} {what}"))) for row in table["rows"]]
    return [(size, cost) for size, cost in found if isinstance(cost, int | float) and cost > 0]


def _label(panel: Mapping[str, Any]) -> str:
    if panel["what"] == "bytes":
        return "extra memory, bytes"
    relative = panel.get("relative")
    return "time, relative to the first plain point" if relative else str(panel["what"])
