"""All scores of some documents, for a person who waits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelwise.corpus.batches import batches
from labelwise.corpus.document import Document
from labelwise.methods import Method, Scores
from labelwise.progress import one_bar

BATCH = 1000


def score(method: Method, documents: Sequence[Document], description: str) -> Scores:
    """All scores, a batch at a time, with a bar."""
    found = np.empty((len(documents), len(method.label_space)), dtype=np.float32)
    at = 0
    with one_bar(description, len(documents)) as advance:
        for batch in batches(documents, BATCH):
            found[at : at + len(batch)] = method.scores(batch)
            at += len(batch)
            advance(len(batch))
    return found
