"""The figures of every method with their intervals: what another sample of documents would do."""

from __future__ import annotations

from collections.abc import Sequence

from labelwise.evaluation.bootstrap import DRAWN, f1_interval, mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method, over_documents
from labelwise.evaluation.runs import Run
from labelwise.evaluation.tables import Table, with_interval

RANKED = (("all", "RP@5"), ("all", "nDCG@5"), ("few", "RP@5"), ("few", "nDCG@5"))
TUNED = "micro-F1 tuned"


def interval_table(runs: Sequence[Run], split: str) -> Table:
    """One row a method, in the order of the table of results."""
    table = Table(["method", *(f"{group} {measure}" for group, measure in RANKED), f"all {TUNED}"])
    methods = by_method(runs)
    for method in best_first(methods, split):
        of = methods[method]
        ranked = [mean_and_interval(over_documents(of, split, *column)) for column in RANKED]
        f1 = of[0].value(split, "all", TUNED), *f1_interval(of[0].f1_counts(split, "all", TUNED))
        table.add([method, *(with_interval(*one) for one in (*ranked, f1))])
    table.notes.append(f"{DRAWN}, and micro-F1 is that of the first.")
    return table
