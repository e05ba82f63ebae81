"""What the scores of some labels lose when a document is cut down to some of its words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelwise.evidence.words import Words
from labelwise.methods.base import Method

Chosen = NDArray[np.bool_]
"""(words,) True for some words of a document."""


class Cuts:
    """Cuts of one document, each scored once, however often it is asked for."""

    def __init__(self, method: Method, words: Words, read: Chosen, labels: Sequence[str]) -> None:
        self.method, self.words, self.read = method, words, read
        self._columns = [method.label_space.index[label] for label in labels]
        self._known: dict[bytes, NDArray[np.float64]] = {}

    def scores(self, kept: Sequence[Chosen]) -> NDArray[np.float64]:
        """(cuts, labels), of the words kept in each; new cuts are scored in one call."""
        new = {one.tobytes(): one for one in kept if one.tobytes() not in self._known}
        if new:
            documents = [self.words.keep(one) for one in new.values()]
            scores = self.method.scores(documents)[:, self._columns].astype(np.float64)
            self._known |= dict(zip(new, scores, strict=True))
        return np.stack([self._known[one.tobytes()] for one in kept])

    def lost(self, kept: Sequence[Chosen]) -> NDArray[np.float64]:
        """(cuts, labels), against the document with all words that the method reads."""
        scores = self.scores([self.read, *kept])
        return np.asarray(scores[0] - scores[1:])
