"""The tables of the README, which fit a page; all rows and all measures stand in ``results/``.

A method has one row, with the highest figure that is quoted for it beside its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from labelwise import shipped
from labelwise.evaluation.comparison import best_first, by_method
from labelwise.evaluation.file_tables import file_table
from labelwise.evaluation.published import OTHERS, Published, is_eurlex57k, published_for
from labelwise.evaluation.runs import Run
from labelwise.evaluation.small_groups import EXPLAINED, heading
from labelwise.evaluation.tables import (
    NO_BETTER,
    NO_RANKING,
    Table,
    chance_level,
    figure_cell,
    marked,
)

LEGEND = (
    "*quoted*: the highest figure that others give for the method; whose it is stands in "
    f"`results/`. {NO_BETTER} {NO_RANKING} {EXPLAINED}"
)
"""What is said once beneath all tables."""

COLUMNS: tuple[tuple[str, str], ...] = (("all", "RP@5"), ("few", "RP@5"), ("zero", "RP@5"))


def short_table(runs: Sequence[Run], split: str) -> Table:
    """All, few-shot and zero-shot labels, each with what is quoted; without variants."""
    methods = by_method(runs)
    quoted = split == "test" and is_eurlex57k(runs[0].data)
    headings = [heading(runs, split, *column) for column in COLUMNS]
    beside = ["quoted"] * quoted
    table = Table(["method", *(name for one in headings for name in (one, *beside))])
    for method in best_first(methods, split):
        if is_variant(method, methods):
            continue
        of = methods[method]
        cells = []
        for column in COLUMNS:
            cells.append(figure_cell(of, split, *column))
            if quoted:
                found = _highest(published_for(method, runs[0].data), of[0], split, *column)
                cells.append(f"*{found}*" if found else "")
        table.add([method, *cells])
    for row in OTHERS if quoted else ():
        cells = [_highest([row], runs[0], split, *column) for column in COLUMNS]
        if any(cells):
            table.add(
                [f"{row.source}: {row.name}", *(x for one in cells for x in ("", one))], faint=True
            )
    levels = (chance_level(runs, split, *column) for column in COLUMNS)
    table.add(["chance", *(x for one in levels for x in (one, *[""] * quoted))], faint=True)
    return table


def short_file_table(runs: Sequence[Run], split: str) -> Table:
    """Models on a labelled file, down to the last edition of the models that ship."""
    methods = by_method(runs)
    order = best_first(methods, split)
    ship = [at for at, name in enumerate(order) if name.partition("@")[0] in shipped.NAMES]
    shown = order[: ship[-1] + 1] if ship else order
    table = file_table([run for run in runs if run.method in shown], split)
    if left := len(order) - len(shown):
        table.notes.append(f"{left} more models are behind these.")
    return table


def is_variant(method: str, methods: Sequence[str] | dict[str, list[Run]]) -> bool:
    """Whether a row is another one with one thing changed, and named after it.

    >>> rows = ["blend", "blend-placed", "svm", "eurovoc-en", "eurovoc-en-small"]
    >>> [row for row in rows if is_variant(row, rows)]
    ['blend-placed']
    """
    named_after = any(method.startswith(f"{other}-") for other in methods)
    return named_after and method not in shipped.NAMES


def _highest(rows: Sequence[Published], run: Run, split: str, group: str, measure: str) -> str:
    figures = [row.figures[group][measure] for row in rows if measure in row.figures.get(group, {})]
    chance = run.chance_interval(split, group, measure)[1]
    return marked(max(figures), chance) if figures else ""
