"""Whole documents beside their beginnings (``evaluate --on FILE --first-words N``), by length.

What a method reads of a long act must not leave it worse off than the first words alone would.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labelwise.errors import InputError
from labelwise.evaluation.bootstrap import ROUNDS, mean, mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method, over_documents
from labelwise.evaluation.document_records import DocumentRecords, read_documents
from labelwise.evaluation.runs import Run, run_paths
from labelwise.evaluation.tables import Table, number, signed

LENGTHS = (0, 5_000, 10_000, 20_000, 50_000)
"""Words from which on a document counts among the longer ones."""


def beginning_sections(folder: Path, runs: Sequence[Run], split: str) -> list[str]:
    """A table for each number of words that the documents of a file were also cut to."""
    sections = []
    for view in sorted(folder.parent.glob(f"{folder.name}-first-*-words")):
        cut = [Run.read(path) for path in run_paths(view)]
        documents = read_documents(view, cut)
        if documents is None or split not in documents.words:
            continue
        if any(
            (one.data.beginning or {}).get("fingerprint") != runs[0].data.fingerprint for one in cut
        ):
            raise InputError("the beginnings here are those of other documents", file=view)
        table = beginning_table(runs, cut, documents, split)
        if table.rows:
            words = (cut[0].data.beginning or {})["words"]
            sections += [
                f"## Whole acts beside their first {words:,} words",
                table.markdown().rstrip(),
            ]
    return sections


def beginning_table(
    whole: Sequence[Run], cut: Sequence[Run], documents: DocumentRecords, split: str
) -> Table:
    """RP@5 of the models that were measured on both, by the length of the whole document."""
    ours, theirs = by_method(whole), by_method(cut)
    lengths = np.array(documents.words[split])
    table = Table(
        [
            "model@training data",
            "words",
            "documents",
            "RP@5",
            "RP@5 of the first words",
            "difference",
        ]
    )
    for method in (one for one in best_first(ours, split) if one in theirs):
        figures = [over_documents(of[method], split, "all", "RP@5") for of in (ours, theirs)]
        for name, least, most in _bands():
            here = (lengths >= least) & (lengths < most)
            if here.any():
                all_of_it, beginning = (of[here] for of in figures)
                gain, low, high = map(signed, mean_and_interval(all_of_it - beginning))
                cells = number(mean(all_of_it)), number(mean(beginning)), f"{gain} [{low}, {high}]"
                table.add([method, name, f"{here.sum():,}", *cells])
    table.notes.append(
        "The difference is that of the same documents; in brackets the middle 95 % of "
        f"{ROUNDS:,} draws of them, with replacement. Words are those between white space."
    )
    return table


def _bands() -> list[tuple[str, float, float]]:
    """What a length is called, from how many words on, and up to how many."""
    bands: list[tuple[str, float, float]] = [("any number", 0, np.inf)]
    for low, high in zip(LENGTHS, (*LENGTHS[1:], np.inf), strict=True):
        name = f"{low:,} to {high:,.0f}" if low else f"under {high:,.0f}"
        bands.append((f"{low:,} and more" if high == np.inf else name, low, high))
    return bands
