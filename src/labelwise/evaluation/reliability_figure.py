"""The figure of ``labelwise calibrate --on``: scores against the share of labels that are right."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from labelwise.errors import MissingExtraError

_LOOKS = {"before": ("#D55E00", "s"), "after": ("#0072B2", "o")}
"""Colours of Okabe and Ito, which colour-blind readers can tell apart, each with its own marker."""

_NAMES = {"before": "as it was", "after": "calibrated, on documents held out"}


def reliability_svg(record: Mapping[str, Any]) -> bytes:
    """A panel for all labels and one for each group as SVG: same record, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the figure of the calibration", "plots") from error

    groups = list(record["reliability"]["before"])
    # A fixed salt for the ids, text as text, no date: the file changes only with the figures.
    with mpl.rc_context({"svg.hashsalt": "labelwise", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(2.5 * len(groups) + 0.5, 3.4), layout="constrained")
        panels = figure.subplots(1, len(groups), squeeze=False)[0]
        for panel, group in zip(panels, groups, strict=True):
            panel.plot((0, 1), (0, 1), color="#999999", linewidth=0.8)
            for when, (colour, marker) in _LOOKS.items():
                bins = record["reliability"][when][group]["bins"]
                panel.plot(
                    [one["score"] for one in bins],
                    [one["gold"] for one in bins],
                    color=colour,
                    marker=marker,
                    markersize=4,
                    linewidth=1,
                    label=_NAMES[when],
                )
            panel.set(title=group, xlabel="score", xlim=(0, 1), ylim=(0, 1), aspect="equal")
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("share of labels that are gold")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
