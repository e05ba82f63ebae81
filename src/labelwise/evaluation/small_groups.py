"""Groups of labels that few documents speak of: their number stands beside the figure, and how far
another sample of documents would move it."""

from __future__ import annotations

from collections.abc import Sequence

from labelwise.evaluation.bootstrap import DRAWN, interval
from labelwise.evaluation.comparison import over_documents
from labelwise.evaluation.counts import RANKED
from labelwise.evaluation.runs import Run

SMALL = 500
"""Documents, below which a group is small: from here on an interval is as wide as .08."""

EXPLAINED = f"{DRAWN}; they stand where a group has fewer than {SMALL} documents."


def kept_documents(runs: Sequence[Run], split: str, group: str) -> list[int]:
    """How many documents carry a label of the group: the fewest and the most of the runs, since
    models on a file have groups of their own."""
    found = [int(run.measures[split][group]["documents"]) for run in runs]
    return sorted({min(found), max(found)})


def is_small(runs: Sequence[Run], split: str, group: str, measure: str) -> bool:
    """Whether a figure rests on few documents. F1 counts all documents, whatever the group."""
    ranked = measure.partition("@")[0] in RANKED
    return ranked and kept_documents(runs, split, group)[-1] < SMALL


def heading(runs: Sequence[Run], split: str, group: str, measure: str) -> str:
    """The name of a column, with the documents of a small group."""
    name = f"{group} {measure}"
    if not is_small(runs, split, group, measure):
        return name
    return f"{name} ({' to '.join(map(str, kept_documents(runs, split, group)))} documents)"


def ends(runs: Sequence[Run], split: str, group: str, measure: str) -> tuple[float, float] | None:
    """The interval of a method's figure, mean over its runs; None where the group is not small."""
    if not is_small(runs, split, group, measure):
        return None
    return interval(over_documents(runs, split, group, measure))
