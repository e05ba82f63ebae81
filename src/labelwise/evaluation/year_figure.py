"""The figure of a data set that was split by year: RP@5 over the years of its documents."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from labelwise.errors import MissingExtraError
from labelwise.evaluation.bootstrap import mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method
from labelwise.evaluation.runs import Run
from labelwise.evaluation.year_tables import MEASURE, OverTime

METHODS = 4
"""As many as a reader can tell apart, two lines each."""

FEWEST = 30
"""Years with fewer documents are left out: their interval would be all that one sees."""

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # Okabe and Ito


def years_svg(found: OverTime, runs: Sequence[Run]) -> bytes:
    """The best methods split by year and, dashed, under the random split: same runs, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the figure of the years", "plots") from error

    best = best_first(by_method(runs), "test")[:METHODS]
    years = sorted(set(found.years.tolist()))
    # A fixed salt for the ids, text as text, no date: the file changes only with the figures.
    with mpl.rc_context({"svg.hashsalt": "labelwise", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7, 4), layout="constrained")
        panel = figure.subplots()
        sides = (("by year", found.by_year, "-"), ("random split", found.random, "--"))
        for number, (method, colour) in enumerate(zip(best, _COLOURS, strict=False)):
            for name, values, line in sides:
                if method not in values:
                    continue
                of_year = [values[method][found.years == year] for year in years]
                points = [
                    (year, *mean_and_interval(of))
                    for year, of in zip(years, of_year, strict=True)
                    if np.isfinite(of).sum() >= FEWEST
                ]
                at, means, low, high = np.array(points).reshape(-1, 4).T
                panel.errorbar(
                    at + 0.04 * number,  # lest the intervals lie on each other
                    means,
                    yerr=[means - low, high - means],
                    color=colour,
                    linestyle=line,
                    marker="o",
                    markersize=4,
                    elinewidth=0.8,
                    label=f"{method}, {name}",
                )
        panel.set(xlabel="year of the documents", ylabel=MEASURE, xticks=years)
        panel.grid(alpha=0.3)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
