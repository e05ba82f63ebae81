"""The figure of ``labelwise examine``: three panels, a colour a network."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from labelwise.errors import MissingExtraError
from labelwise.evaluation.attention_records import FURTHEST, AttentionRecord

NETWORKS = 3
"""As many as a reader can tell apart in one panel."""

_LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"))
"""Colours of Okabe and Ito, which colour-blind readers can tell apart, each with its own marker."""


def attention_svg(records: Sequence[AttentionRecord]) -> bytes:
    """The first networks as SVG: same records, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the figure of the attention", "plots") from error

    # A fixed salt for the ids, text as text, no date: the file changes only with the figures.
    with mpl.rc_context({"svg.hashsalt": "labelwise", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(10, 3.6), layout="constrained")
        correlation, shuffled, adversary = figure.subplots(1, 3)
        for one, (colour, marker) in zip(records[:NETWORKS], _LOOKS, strict=False):
            # Steps in place of filled bars: networks lie over one another.
            steps = {"histtype": "step", "color": colour, "linewidth": 1.4}
            known = one.correlation[~np.isnan(one.correlation)]
            correlation.hist(known, bins=np.linspace(-1, 1, 41), label=one.name, **steps)
            shuffled.plot(
                one.strongest,
                one.permuted,
                linestyle="",
                marker=marker,
                markersize=3,
                color=colour,
                alpha=0.5,
            )
            bins = np.linspace(0, FURTHEST, 29)
            adversary.hist(one.adversary, bins=bins, **steps)
            if one.other_divergence is not None:
                adversary.hist(one.other_divergence, bins=bins, **steps | {"linestyle": ":"})
        correlation.set(
            title="Agreement with gradients",
            xlabel="Kendall's τ over the words",
            ylabel="labels of documents",
            xlim=(-1, 1),
        )
        shuffled.set(
            title="Attention shuffled",
            xlabel="strongest attention weight",
            ylabel="change of the score, median",
            xlim=(0, 1),
            ylim=(0, 1),
        )
        adversary.set(
            title="Adversary, same score",
            xlabel="divergence (dotted: other seed)",
            ylabel="labels of documents",
            xlim=(0, FURTHEST),
        )
        for panel in (correlation, shuffled, adversary):
            panel.grid(alpha=0.3)
        handles, names = correlation.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
