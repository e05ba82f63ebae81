"""The documents that a data set is measured on, each beside its nearest training document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document
from labelwise.evaluation.document_records import DocumentRecords, MeasuredDocument
from labelwise.text.near_copies import near_copies, shingles
from labelwise.text.tokenized import tokenize_corpus


def find_near_copies(dataset: Dataset, threshold: float, cache: Path | None) -> DocumentRecords:
    """Compare the dev and the test documents with those that are trained on."""
    measured = {"dev": dataset.dev, "test": dataset.test}
    documents: Sequence[Document] = (*dataset.train, *dataset.dev, *dataset.test)
    # One corpus, so that a word has the same number in all splits.
    found = shingles(tokenize_corpus(documents, cache=cache))
    train, others = found[: len(dataset.train)], found[len(dataset.train) :]
    copies = iter(near_copies(train, others, threshold))
    return DocumentRecords(
        dataset.name,
        dataset.fingerprint,
        threshold,
        {
            split: [
                MeasuredDocument(one.id, dataset.train[copy.place].id, round(copy.similarity, 3))
                if (copy := next(copies))
                else MeasuredDocument(one.id)
                for one in of
            ]
            for split, of in measured.items()
            if of
        },
    )
