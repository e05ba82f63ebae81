"""The figures of every method with their intervals: what another sample of documents would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labelwise.evaluation.bootstrap import DRAWN, f1_interval, mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method, over_documents
from labelwise.evaluation.runs import Run
from labelwise.evaluation.tables import Table, with_interval

RANKED = (("all", "RP@5"), ("all", "nDCG@5"), ("few", "RP@5"), ("few", "nDCG@5"))
TUNED = "micro-F1 tuned"

OF_THE_FIRST = f"{DRAWN}, and micro-F1 is that of the first."


def interval_table(runs: Sequence[Run], split: str) -> Table:
    """One row a method, in the order of the table of results."""
    table = Table(["method", *(f"{group} {measure}" for group, measure in RANKED), f"all {TUNED}"])
    methods = by_method(runs)
    for method in best_first(methods, split):
        of = methods[method]
        table.add([method, *ranked_cells(of, split, RANKED), f1_cell(of[0], split)])
    table.notes.append(OF_THE_FIRST)
    return table


def ranked_cells(
    runs: Sequence[Run], split: str, columns: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Measures of a method by group and name, each with its interval."""
    for group, measure in columns:
        yield with_interval(*mean_and_interval(over_documents(runs, split, group, measure)))


def f1_cell(run: Run, split: str) -> str:
    """micro-F1 at the tuned threshold, with its interval."""
    ends = f1_interval(run.f1_counts(split, "all", TUNED))
    return with_interval(run.value(split, "all", TUNED), *ends)
