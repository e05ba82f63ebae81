"""Figures on the documents that no training document is nearly a copy of.

Acts that fix a price or a duty every week differ in dates and numbers alone. A random split has one
of them in train and the next in test, where remembering is as good as understanding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.bootstrap import DRAWN, mean, mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method, over_documents
from labelwise.evaluation.document_records import DocumentRecords
from labelwise.evaluation.runs import Run
from labelwise.evaluation.tables import Table, number, with_interval

COLUMNS = (("all", "RP@5"), ("all", "nDCG@5"), ("few", "RP@5"), ("few", "nDCG@5"))


def near_copy_sections(
    runs: Sequence[Run], documents: DocumentRecords | None, split: str
) -> list[str]:
    """What the report says of them; nothing where it is not known which documents these are."""
    if documents is None or documents.threshold is None or split not in documents.splits:
        return []
    copies = documents.copies(split)
    return [
        "## Without near-copies",
        f"Of {len(copies):,} {split} documents {copies.sum():,} are near-copies: of all runs of "
        "five words in one and in a training document, a share of "
        f"{documents.threshold:g} or more stands in both (Jaccard similarity; candidates by "
        "MinHash, each compared exactly). "
        f"**{(~copies).sum():,} remain**, and the figures are theirs; the last two columns are for "
        "comparison.",
        near_copy_table(runs, copies, split).markdown().rstrip(),
    ]


def near_copy_table(runs: Sequence[Run], copies: NDArray[np.bool_], split: str) -> Table:
    """One row a method, in the order of the table of results."""
    columns = [f"{group} {measure}" for group, measure in COLUMNS]
    table = Table(["method, no near-copy", *columns, "all RP@5 of near-copies", "all RP@5 of both"])
    methods = by_method(runs)
    for method in best_first(methods, split):
        values = {column: over_documents(methods[method], split, *column) for column in COLUMNS}
        cells = [with_interval(*mean_and_interval(of[~copies])) for of in values.values()]
        beside = values[COLUMNS[0]]
        table.add([method, *cells, *(number(mean(of)) for of in (beside[copies], beside))])
    table.notes.append(f"{DRAWN}.")
    return table
