"""The curves of a table as a figure: time and memory over a size, both axes logarithmic.

A table asks for one by ``figure``: the key of the size (``over``), the ``lines`` (names of which
the rows hold ``NAME seconds`` and ``NAME bytes``), and a panel for each of the two. A relative
panel shows multiples of the first point of the last line, where seconds would say more about the
machine than about the program. A panel of another measure has ``"scale": "linear"``.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelwise.bench.cells import median_of
from labelwise.bench.page import figure_name
from labelwise.bench.results import read_results, tables
from labelwise.errors import MissingExtraError
from labelwise.files import write_whole

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
