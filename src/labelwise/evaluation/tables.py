"""Tables for people: the same rows at a terminal and in Markdown.

The table of results has one row a method, the published figures beneath it, and the chance level
at the end. A figure within or below what chance gives carries a mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from labelwise.evaluation.comparison import (
    Comparison,
    Figure,
    best_first,
    by_method,
    over_seeds,
)
from labelwise.evaluation.counts import MICRO_F1, VIEWS
from labelwise.evaluation.measures import MACRO_F1
from labelwise.evaluation.published import (
    BY_METHOD,
    OTHERS,
    Published,
    is_eurlex57k,
    published_for,
)
from labelwise.evaluation.runs import Run, check_comparable

COLUMNS: tuple[tuple[str, str], ...] = (
    ("all", "RP@5"),
    ("all", "nDCG@5"),
    ("all", "micro-F1"),
    ("all", "micro-F1 tuned"),
    ("frequent", "RP@5"),
    ("frequent", "nDCG@5"),
    ("few", "RP@5"),
    ("few", "nDCG@5"),
    ("zero", "RP@5"),
    ("zero", "nDCG@5"),
    ("zero-among-all", "RP@5"),
    ("zero-among-all", "nDCG@5"),
)
"""The columns of the paper's table, with the tuned threshold and the harder zero-shot ranking."""

SHORT_COLUMNS: tuple[tuple[str, str], ...] = (
    ("all", "RP@5"),
    ("all", "nDCG@5"),
    ("all", "micro-F1"),
    ("few", "RP@5"),
    ("zero", "RP@5"),
)
"""Those that fit the width of a page."""

DIFFERENCES: tuple[tuple[str, str], ...] = (
    ("all", "RP@5"),
    ("all", "nDCG@5"),
    ("all", "micro-F1"),
    ("frequent", "RP@5"),
    ("few", "RP@5"),
    ("zero", "RP@5"),
    ("zero", "nDCG@5"),
)
"""What is held against the published rows."""

NO_SKILL = "°"
SHORT = "▼"
NOTHING = "–"

NO_BETTER = (
    f"{NO_SKILL} no better than chance: the expected figure of a random ranking and, where "
    "documents are few, the interval in which 95 % of random rankings stay."
)


@dataclass(frozen=True)
class Table:
    """Cells of text; ``faint`` rows are quoted, not measured; ``notes`` stand beneath."""

    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    faint: list[bool] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    title: str = ""

    def add(self, cells: Sequence[str], *, faint: bool = False) -> None:
        self.rows.append(list(cells))
        self.faint.append(faint)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal: ``console.print(table)``; a table too wide for it comes in blocks."""
        # A heading such as "few RP@5" stands on two lines, since the figures are narrow.
        headings = [column.replace(" ", "\n") for column in self.columns]
        widths = [
            max(map(len, [*headings[place].split("\n"), *(row[place] for row in self.rows)]))
            for place in range(len(headings))
        ]
        blocks: list[list[int]] = [[0]]
        for place in range(1, len(headings)):
            if sum(widths[at] + 2 for at in [*blocks[-1], place]) - 2 > options.max_width:
                blocks.append([0])
            blocks[-1].append(place)
        if self.title:
            yield Text(self.title, style="bold")
        for block in blocks:
            table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
            for place in block:
                justify: Literal["left", "right"] = "right" if place else "left"
                table.add_column(headings[place], justify=justify, vertical="bottom", no_wrap=True)
            for cells, faint in zip(self.rows, self.faint, strict=True):
                row = [Text(cells[place]) for place in block]
                table.add_row(*row, style="dim" if faint else None)
            yield table
            yield Text()
        yield from (Text(note, style="dim") for note in self.notes)

    def markdown(self) -> str:
        """For a file; quoted rows in italics."""
        lines = [
            _line(self.columns),
            _line(["---", *["---:"] * (len(self.columns) - 1)]),
        ]
        for cells, faint in zip(self.rows, self.faint, strict=True):
            lines.append(_line([f"*{cell}*" if faint and cell else cell for cell in cells]))
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)]) + "\n"


def results_table(
    runs: Sequence[Run], split: str = "test", columns: Sequence[tuple[str, str]] = COLUMNS
) -> Table:
    """One row a method, best first; with several seeds their mean ± standard deviation.

    Published rows stand beneath on EURLEX57K's test split only: they were measured nowhere else.
    """
    check_comparable(runs, split)
    data = runs[0].data
    intervals = {column: runs[0].chance_interval(split, *column) for column in columns}
    chance = {column: high for column, (_, high) in intervals.items()}
    table = Table(
        ["method", *(f"{group} {measure}" for group, measure in columns)],
        title=f"{data.name}, {split}",
    )
    methods = by_method(runs)
    figures = {
        method: {column: over_seeds(of, split, *column) for column in columns}
        for method, of in methods.items()
    }
    with_published = split == "test" and is_eurlex57k(data)
    for method in best_first(methods, split):
        table.add([method, *(_cell(figures[method][c], chance[c]) for c in columns)])
        if with_published:
            for row in published_for(method, data):
                table.add(_published_cells(row, chance), faint=True)
    if with_published:
        for row in OTHERS:
            table.add(_published_cells(row, chance), faint=True)
    levels = (chance_cell(runs[0].chance(split, *one), *intervals[one]) for one in columns)
    table.add(["chance", *levels], faint=True)
    table.notes.append(
        f"{NO_BETTER} {NOTHING} labels that all have the same score, which is no ranking."
    )
    seeds = {len(of) for of in methods.values()}
    if seeds != {1}:
        counted = ", ".join(f"{method} {len(of)}" for method, of in methods.items())
        table.notes.append(f"Mean ± standard deviation over seeds: {counted}.")
    if any(run.cut_short(split) for run in runs):
        cut = ", ".join(sorted({run.method for run in runs if run.cut_short(split)}))
        table.notes.append(f"Lists too short to be exact in every group: {cut}.")
    return table


def macro_table(runs: Sequence[Run], split: str = "test") -> Table:
    """Macro-F1 of each method, by group of labels; at 0.5 over all labels beside it."""
    methods = by_method(runs)
    groups = VIEWS[:-1]  # F1 knows no ranking: the zero-shot labels among all are those alone
    table = Table(["method", "all at 0.5", *groups, "all, absent as 0"])
    for method in best_first(methods, split):
        of = methods[method]
        cells = [_cell(over_seeds(of, split, "all", "macro-F1"), float("nan"))]
        for group in groups:
            cells.append(_cell(over_seeds(of, split, group, "macro-F1 tuned"), float("nan")))
        table.add([method, *cells, number(_macro_over_every_label(of, split))])
    if split == "test" and is_eurlex57k(runs[0].data):
        for row in OTHERS:
            if "macro-F1" in row.figures["all"]:
                quoted = [number(row.figures["all"]["macro-F1"]), *[""] * (len(groups) + 1)]
                table.add([f"{row.source}: {row.name}", *quoted], faint=True)
    return table


def _macro_over_every_label(runs: Sequence[Run], split: str) -> float:
    """Macro-F1 at the tuned threshold with a label that is nowhere gold or predicted as 0."""
    counts = [run.measures[split].labels for run in runs]
    found = [np.nan_to_num(of.f1[-1]).mean() for of in counts if of is not None]
    return float(np.mean(found)) if found else float("nan")


def published_differences(runs: Sequence[Run]) -> Table:
    """By how much each method is ahead of its quoted rows, or falls short of them."""
    names = [f"{group} {measure}" for group, measure in DIFFERENCES]
    table = Table(["method", "beside", *names])
    methods = by_method(runs)
    for method in best_first(methods, "test"):
        for row in BY_METHOD.get(method, ()):
            cells = []
            for group, measure in DIFFERENCES:
                theirs = row.figures.get(group, {}).get(measure)
                ours = over_seeds(methods[method], "test", group, measure).mean
                cells.append("" if theirs is None else _difference(ours - theirs))
            table.add([method, f"{row.source}: {row.name}", *cells])
    table.notes.append(f"{SHORT} short of the quoted figure.")
    return table


def _difference(value: float) -> str:
    """Signed, to three decimals.

    >>> _difference(0.0284), _difference(-0.0149), _difference(-0.0004)
    ('+.028', '-.015 ▼', '.000')
    """
    if round(value, 3) == 0:
        return ".000"
    sign = "+" if value > 0 else "-"
    return f"{sign}{number(abs(value))}" + (f" {SHORT}" if value < 0 else "")


def group_table(run: Run, split: str, title: str = "") -> Table:
    """One row a group: documents kept, figures at 1 and 5, F1, and the chance of RP@5."""
    measures = run.measures[split]
    ranked = ("P@1", "R@1", "P@5", "R@5", "RP@5", "nDCG@5")  # RP@1 and nDCG@1 equal P@1
    shown = [name for name in (*ranked, *MICRO_F1, *MACRO_F1) if name in measures["all"]]
    table = Table(["group", "documents", *shown, "chance RP@5"], title=title)
    for group in VIEWS:
        highest = {name: run.chance_interval(split, group, name)[1] for name in shown}
        cells = [marked(measures[group][name], highest[name]) for name in shown]
        kept = f"{measures[group]['documents']:,}"
        interval = run.chance_interval(split, group, "RP@5")
        table.add([group, kept, *cells, chance_cell(run.chance(split, group, "RP@5"), *interval)])
    table.notes.append(NO_BETTER)
    return table


def comparison_table(comparison: Comparison) -> Table:
    """Figures of each method, and p-values of the best one against each other."""
    columns = ["method"]
    for measure in comparison.measures:
        columns += [measure, f"p {measure}"]
    table = Table(columns, title=f"{comparison.group} labels, {comparison.split}")
    for row in comparison.methods:
        cells = [row.method]
        for measure in comparison.measures:
            test = row.against_best[measure]
            cells.append(_cell(row.figures[measure], float("nan")))
            cells.append("best" if test is None else p_value(test.p_value))
        table.add(cells)
    table.notes.append(
        f"p: two-tailed approximate randomisation, {comparison.rounds:,} rounds, on the documents "
        "of the split, the best method against each other; of several seeds the run that was best "
        "on dev."
    )
    return table


def number(value: float) -> str:
    """Three decimals without the leading zero, as the field prints them.

    >>> number(0.8061), number(1.0), number(float("nan"))
    ('.806', '1.000', '–')
    """
    return NOTHING if math.isnan(value) else f"{value:.3f}".removeprefix("0")


def with_interval(mean: float, low: float, high: float) -> str:
    """A figure and its interval.

    >>> with_interval(0.5562, 0.4603, 0.6489)
    '.556 [.460, .649]'
    """
    return NOTHING if math.isnan(mean) else f"{number(mean)} [{number(low)}, {number(high)}]"


def p_value(value: float) -> str:
    """Three decimals, or that it is below what they can show."""
    return "< .001" if value < 0.001 else number(value)


def _cell(figure: Figure, chance: float) -> str:
    mean = marked(figure.mean, chance)
    if figure.deviation is None or math.isnan(figure.deviation):
        return mean
    return f"{mean} ± {number(figure.deviation)}"


def chance_cell(mean: float, low: float, high: float) -> str:
    """The chance level, and its interval where that can be seen."""
    return number(mean) if number(low) == number(high) else with_interval(mean, low, high)


def marked(value: float, chance: float) -> str:
    """A figure, with a mark where it is no higher than the highest that chance gives."""
    # As printed: .0306 and .0312 look the same and are the same for the reader.
    return number(value) + (NO_SKILL if round(value, 3) <= round(chance, 3) else "")


def _published_cells(row: Published, chance: dict[tuple[str, str], float]) -> list[str]:
    values = {
        (group, measure): row.figures.get(group, {}).get(measure, float("nan"))
        for group, measure in chance
    }
    cells = [
        "" if math.isnan(values[column]) else marked(values[column], chance[column])
        for column in chance
    ]
    return [f"{row.source}: {row.name}", *cells]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
