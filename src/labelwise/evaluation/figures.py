"""The figure of the paper redrawn: P@K, R@K and RP@K over K, with the published points."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from labelwise import shipped
from labelwise.errors import MissingExtraError
from labelwise.evaluation.comparison import best_first, by_method, over_seeds
from labelwise.evaluation.measures import KS
from labelwise.evaluation.published import CURVES, is_eurlex57k
from labelwise.evaluation.runs import Run

METHODS = 3
"""As many methods as a reader can tell apart in one panel. The model that ships is none of them: it
is one of the methods in less room, and its curve would hide that one's."""

_OURS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"))
_PUBLISHED = (("#000000", "x"), ("#CC79A7", "+"), ("#E69F00", "1"))
"""Colours of Okabe and Ito, which colour-blind readers can tell apart, each with its own marker."""


def curves_svg(runs: Sequence[Run], split: str = "test") -> bytes:
    """The curves of the best methods (mean over seeds) as SVG: same runs, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the figure of the curves", "plots") from error

    methods = by_method(runs)
    best = [method for method in best_first(methods, split) if method != shipped.NAME][:METHODS]
    # A fixed salt for the ids, text as text, no date: the file changes only with the figures.
    with mpl.rc_context({"svg.hashsalt": "labelwise", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(10, 3.6), layout="constrained")
        panels = figure.subplots(1, 3)
        for panel, measure in zip(panels, ("P", "R", "RP"), strict=True):
            for method, (colour, marker) in zip(best, _OURS, strict=False):
                of = methods[method]
                points = [over_seeds(of, split, "all", f"{measure}@{k}").mean for k in KS]
                panel.plot(KS, points, color=colour, marker=marker, markersize=4, label=method)
            if split == "test" and is_eurlex57k(runs[0].data):
                for row, (colour, marker) in zip(CURVES, _PUBLISHED, strict=True):
                    panel.plot(
                        KS,
                        row.curves[measure],
                        color=colour,
                        marker=marker,
                        markersize=5,
                        linewidth=0.6,
                        linestyle=":",
                        label=f"{row.name}, published",
                    )
            lowest = min(min(line.get_ydata()) for line in panel.lines)
            bottom = max(0.0, math.floor(10 * lowest - 0.5) / 10)
            panel.set(title=f"{measure}@K", xlabel="K", xticks=list(KS), ylim=(bottom, 1))
            panel.grid(alpha=0.3)
        panels[0].set_ylabel(f"{runs[0].data.name}, {split}")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
