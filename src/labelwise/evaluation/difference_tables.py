"""By how much each method is ahead of what it is held against, or falls short of it: quoted rows,
another method of ours, and what this project set out to reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labelwise.evaluation.comparison import best_first, by_method, over_seeds
from labelwise.evaluation.published import BY_METHOD, Figures
from labelwise.evaluation.runs import Run
from labelwise.evaluation.tables import NO_SKILL, SHORT, Table, signed

COLUMNS: tuple[tuple[str, str], ...] = (
    ("all", "RP@5"),
    ("all", "nDCG@5"),
    ("all", "micro-F1"),
    ("all", "micro-F1 tuned"),
    ("frequent", "RP@5"),
    ("few", "RP@5"),
    ("zero", "RP@5"),
    ("zero", "nDCG@5"),
)

AIMED_AT = {"dcnn-lwan": "bigru-lwan"}
"""A method that was made to reach the figures of another one, at less cost."""


def _goal(rp: float, ndcg: float, micro_f1: float, few: float, zero: float | None) -> Figures:
    of_all = {"RP@5": rp, "nDCG@5": ndcg, "micro-F1": micro_f1, "micro-F1 tuned": micro_f1}
    of_zero: Figures = {} if zero is None else {"zero": {"RP@5": zero}}
    return {"all": of_all, "few": {"RP@5": few}, **of_zero}


GOALS: dict[str, Figures] = {
    "blend": _goal(0.84, 0.863, 0.78, 0.81, 0.65),
    "minilm-lwan": _goal(0.803, 0.832, 0.745, 0.735, None),
    "mpnet-lwan": _goal(0.815, 0.842, 0.755, 0.745, 0.62),
}
"""What was set down before the methods were trained; micro-F1 at either threshold."""


def difference_table(runs: Sequence[Run]) -> Table:
    """One row for each thing that a method is held against, on the test split."""
    table = Table(["method", "beside", *(f"{group} {measure}" for group, measure in COLUMNS)])
    methods = by_method(runs)
    for method in best_first(methods, "test"):
        for name, theirs in _beside(method, methods):
            cells = [_cell(methods[method], theirs, *column) for column in COLUMNS]
            table.add([method, name, *cells])
    table.notes.append(
        f"{SHORT} short of it. {NO_SKILL} both no better than chance, so that their difference "
        "says nothing."
    )
    return table


def _beside(method: str, methods: dict[str, list[Run]]) -> Iterator[tuple[str, Figures]]:
    """What a method is held against, by name."""
    for row in BY_METHOD.get(method, ()):
        yield f"{row.source}: {row.name}", row.figures
    if other := methods.get(AIMED_AT.get(method, "")):
        figures: Figures = {}
        for group, measure in COLUMNS:
            figures.setdefault(group, {})[measure] = over_seeds(other, "test", group, measure).mean
        yield f"our {other[0].method}, which it aims at", figures
    if method in GOALS:
        yield "what was aimed at", GOALS[method]


def _cell(runs: Sequence[Run], quoted: Figures, group: str, measure: str) -> str:
    theirs = quoted.get(group, {}).get(measure)
    if theirs is None:
        return ""
    ours = over_seeds(runs, "test", group, measure).mean
    chance = runs[0].chance_interval("test", group, measure)[1]
    if not any(round(value, 3) > round(chance, 3) for value in (ours, theirs)) and chance > 0:
        return NO_SKILL
    return difference(ours - theirs)


def difference(value: float) -> str:
    """With its sign, and a mark where it is short.

    >>> difference(0.0284), difference(-0.0149), difference(-0.0004)
    ('+.028', '-.015 ▼', '.000')
    """
    shown = signed(value)
    return f"{shown} {SHORT}" if shown.startswith("-") else shown
