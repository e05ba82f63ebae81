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
from labelwise.evaluation.published import OTHERS, Published, is_eurlex57k, published_for
from labelwise.evaluation.runs import Run, check_comparable
from labelwise.evaluation.small_groups import EXPLAINED, ends, heading, is_small

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

WITH_INTERVAL = ("RP@5", "nDCG@5")
"""Which figures of a small group have their interval in the table of groups."""

NO_SKILL = "°"
SHORT = "▼"
NOTHING = "–"

NO_BETTER = (
    f"{NO_SKILL} no better than chance: the expected figure of a random ranking and, where "
    "documents are few, the interval in which 95 % of random rankings stay."
)
NO_RANKING = f"{NOTHING} labels that all have the same score, which is no ranking."


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
    headings = [heading(runs, split, *column) for column in columns]
    table = Table(["method", *headings], title=f"{data.name}, {split}")
    methods = by_method(runs)
    with_published = split == "test" and is_eurlex57k(data)
    chance = {column: runs[0].chance_interval(split, *column)[1] for column in columns}
    for method in best_first(methods, split):
        table.add([method, *(figure_cell(methods[method], split, *one) for one in columns)])
        if with_published:
            for row in published_for(method, data):
                table.add(_published_cells(row, chance), faint=True)
    if with_published:
        for row in OTHERS:
            table.add(_published_cells(row, chance), faint=True)
    table.add(["chance", *(chance_level(runs, split, *one) for one in columns)], faint=True)
    table.notes.extend(legend(runs, split, columns))
    seeds = {len(of) for of in methods.values()}
    if seeds != {1}:
        counted = ", ".join(f"{method} {len(of)}" for method, of in methods.items())
        table.notes.append(f"Mean ± standard deviation over seeds: {counted}.")
    if any(run.cut_short(split) for run in runs):
        cut = ", ".join(sorted({run.method for run in runs if run.cut_short(split)}))
        table.notes.append(f"Lists too short to be exact in every group: {cut}.")
    return table


def figure_cell(runs: Sequence[Run], split: str, group: str, measure: str) -> str:
    """A figure of one method: mean ± deviation over seeds, marked where it is no skill, and with
    its interval where documents are few."""
    high = runs[0].chance_interval(split, group, measure)[1]
    cell = _cell(over_seeds(runs, split, group, measure), high)
    return cell + bracket(ends(runs, split, group, measure))


def chance_level(runs: Sequence[Run], split: str, group: str, measure: str) -> str:
    """What chance gives; models that have groups of their own have chance levels of their own."""
    levels = [run.chance(split, group, measure) for run in runs]
    low, high = number(min(levels)), number(max(levels))
    if low != high:
        return f"{low} to {high}"
    return chance_cell(levels[0], *runs[0].chance_interval(split, group, measure))


def legend(runs: Sequence[Run], split: str, columns: Sequence[tuple[str, str]]) -> list[str]:
    """What the marks of a table mean, and its brackets where it has some."""
    small = any(is_small(runs, split, *column) for column in columns)
    return [f"{NO_BETTER} {NO_RANKING}", *([EXPLAINED] if small else [])]


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


def group_table(run: Run, split: str, title: str = "") -> Table:
    """One row a group: documents kept, figures at 1 and 5, F1, and the chance of RP@5."""
    measures = run.measures[split]
    ranked = ("P@1", "R@1", "P@5", "R@5", "RP@5", "nDCG@5")  # RP@1 and nDCG@1 equal P@1
    shown = [name for name in (*ranked, *MICRO_F1, *MACRO_F1) if name in measures["all"]]
    table = Table(["group", "documents", *shown, "chance RP@5"], title=title)
    for group in VIEWS:
        highest = {name: run.chance_interval(split, group, name)[1] for name in shown}
        cells = [marked(measures[group][name], highest[name]) for name in shown]
        for name in WITH_INTERVAL:
            cells[shown.index(name)] += bracket(ends([run], split, group, name))
        kept = f"{measures[group]['documents']:,}"
        interval = run.chance_interval(split, group, "RP@5")
        table.add([group, kept, *cells, chance_cell(run.chance(split, group, "RP@5"), *interval)])
    table.notes.extend(legend([run], split, [(group, "RP@5") for group in VIEWS]))
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


def with_interval(mean: float, low: float, high: float, chance: float = float("nan")) -> str:
    """A figure and its interval, with a mark where it is no higher than what chance gives.

    >>> with_interval(0.5562, 0.4603, 0.6489), with_interval(0.0022, 0.001, 0.004, chance=0.006)
    ('.556 [.460, .649]', '.002° [.001, .004]')
    """
    shown = f"{marked(mean, chance)} [{number(low)}, {number(high)}]"
    return NOTHING if math.isnan(mean) else shown


def bracket(ends: tuple[float, float] | None) -> str:
    """An interval behind a figure of few documents, which has no third decimal to speak of. One
    without width is left out: all documents are alike.

    >>> bracket((0.6517, 1.0)), bracket(None), bracket((0.0, 0.0))
    (' [.65, 1.00]', '', '')
    """
    if ends is None or math.isnan(ends[0]):
        return ""
    low, high = (f"{end:.2f}".removeprefix("0") for end in ends)
    return f" [{low}, {high}]" if low != high else ""


def signed(value: float) -> str:
    """A difference with its sign, to three decimals.

    >>> signed(0.0284), signed(-0.0149), signed(-0.0004), signed(float("nan"))
    ('+.028', '-.015', '.000', '–')
    """
    sign = "+" if value >= 0.0005 else "-" if value <= -0.0005 else ""
    return f"{sign}{number(abs(value))}"


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
