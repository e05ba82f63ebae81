"""Models on a labelled file (``evaluate --on``): few documents, so each figure has its interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.bootstrap import ROUNDS, mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method, over_documents
from labelwise.evaluation.document_records import DocumentRecords
from labelwise.evaluation.interval_tables import OF_THE_FIRST, f1_cell, ranked_cells
from labelwise.evaluation.runs import Run, check_comparable, run_paths
from labelwise.evaluation.tables import Table, number, with_interval


def file_table(runs: Sequence[Run], split: str) -> Table:
    """One row a model, best first, over all labels, which count for every model alike."""
    check_comparable(runs, split)
    columns = ("RP@5", "nDCG@5", "micro-F1")
    table = Table(["model@training data", *columns, "without a label", "gold it does not know"])
    methods = by_method(runs)
    for method in best_first(methods, split):
        of = methods[method]
        ranked = ranked_cells(of, split, [("all", measure) for measure in columns[:2]])
        first = of[0]
        predicted = first.measures[split].counts.predicted[-1].sum(axis=0)
        empty, unknown = int(np.sum(predicted == 0)), first.data.counts["unknown gold"]
        table.add([method, *ranked, f1_cell(first, split), f"{empty:,}", f"{unknown:,}"])
    chance = [number(runs[0].chance(split, "all", measure)) for measure in columns[:2]]
    table.add(["chance", *chance, "", "", ""], faint=True)
    table.notes.append(
        f"{OF_THE_FIRST} micro-F1 and "
        "`without a label`, the documents that no label stands above it for, are at the threshold "
        "of each model, which was chosen on other documents; `labelwise tag` gives those documents "
        "their best label all the same."
    )
    return table


def without_a_row(folder: Path, runs: Sequence[Run]) -> list[str]:
    """Which methods have a run on the data that models here were trained on, and none here."""
    here = {run.method for run in runs}
    missing = []
    for data in dict.fromkeys(run.data.trained_on for run in runs):
        trained = {path.parent.name for path in run_paths(folder.with_name(data))}
        missing += sorted(f"{one}@{data}" for one in trained if f"{one}@{data}" not in here)
    if not missing:
        return []
    return [f"Measured on their own data and not on this file: {', '.join(missing)}."]


def file_year_sections(
    runs: Sequence[Run], documents: DocumentRecords | None, split: str
) -> list[str]:
    """How the models do by year of the documents, where these have ids that say it."""
    if documents is None or split not in documents.splits or not documents.years(split).any():
        return []
    return ["## By year", file_year_table(runs, documents.years(split), split).markdown().rstrip()]


def file_year_table(runs: Sequence[Run], years: NDArray[np.int64], split: str) -> Table:
    """One row a year, one column a model, best first."""
    methods = by_method(runs)
    order = best_first(methods, split)
    table = Table(["year", "documents", *(f"RP@5 of {method}" for method in order)])
    for year in sorted(set(years.tolist())):
        of_year = years == year
        figures = (over_documents(methods[one], split, "all", "RP@5")[of_year] for one in order)
        cells = [with_interval(*mean_and_interval(of)) for of in figures]
        table.add([str(year) if year else "not known", f"{of_year.sum():,}", *cells])
    table.notes.append(
        f"In brackets the middle 95 % of {ROUNDS:,} draws of the documents of a year, with "
        "replacement."
    )
    return table
