"""Occlusion for any method: what the score of a label loses when a word is cut out of the text.

Of a linear method the contributions are exact already; there it is a second way to the same words.
A network has an occlusion of its own, which puts the vector of a word to zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelwise.corpus.document import Document
from labelwise.evidence.words import Words
from labelwise.methods.base import Evidence, Method

WINDOWS = 128
"""Cuts of a document at most: of a longer one, windows of several words are cut out."""


def occluded(method: Method, document: Document, labels: Sequence[str]) -> list[Evidence]:
    """The loss of each word, as a share of all that is lost and gained; one call for all labels."""
    words = Words(document)
    if not len(words):
        return [Evidence(label, "contribution", ()) for label in labels]
    size = -(-len(words) // WINDOWS)
    window = np.arange(len(words)) // size  # (words,)
    cuts = [words.keep(window != one) for one in range(window[-1] + 1)]
    columns = [method.label_space.index[label] for label in labels]
    scores = method.scores([document, *cuts])[:, columns].astype(np.float64)
    lost = (scores[0] - scores[1:])[window]  # (words, labels)
    sizes = np.abs(lost).sum(axis=0)
    shares = lost / np.where(sizes, sizes, 1)
    return [
        Evidence(label, "contribution", words.spans(shares[:, place]))
        for place, label in enumerate(labels)
    ]
