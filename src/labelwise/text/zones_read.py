"""How much each zone of an act counts where its words are counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import SECTION_KINDS
from labelwise.text.tokenized import TokenizedCorpus


@dataclass(frozen=True)
class ZoneWeights:
    """What a word counts for by the zone that it stands in.

    The articles and annexes of a long act speak of everything that the act touches; its title and
    recitals speak of what it is about. With ``most_words`` a zone that is longer counts as though
    it had so many: each of its words counts less, however long the act is. The weightiest zone that
    a document has counts as the weightiest of all would: a text without zones, which is one
    article, is read as whole as an act is.

    >>> from labelwise.corpus.document import Document, Section
    >>> from labelwise.text.tokenized import tokenize_corpus
    >>> act = Document("1", "", (Section("header", "On citrus"), Section("article", "Sold fresh"),
    ...                          Section("article", "Sold by weight")))
    >>> ZoneWeights(header=2, most_words=4).of(tokenize_corpus([act])).tolist()
    [2.0, 0.800000011920929, 0.800000011920929]
    """

    header: float = 1.0
    recitals: float = 1.0
    article: float = 1.0
    attachments: float = 1.0
    most_words: int = 0  # 0: however long

    @property
    def are_even(self) -> bool:
        """Whether every word counts once, wherever it stands."""
        return self == ZoneWeights()

    def of(self, corpus: TokenizedCorpus) -> NDArray[np.float32]:
        """What a word of each section counts for: (sections,)."""
        kinds = corpus.section_kinds.astype(np.intp)
        of_kinds = np.array([getattr(self, kind) for kind in SECTION_KINDS])
        weights = of_kinds[kinds]
        documents = np.repeat(np.arange(len(corpus)), np.diff(corpus.document_starts))
        weightiest = np.zeros(len(corpus))
        np.maximum.at(weightiest, documents, weights)
        weights *= of_kinds.max() / np.maximum(weightiest, 1e-9)[documents]
        if self.most_words:
            zones = documents * len(SECTION_KINDS) + kinds
            words = np.bincount(zones, weights=np.diff(corpus.section_starts))
            weights /= np.maximum(words[zones] / self.most_words, 1)
        return weights.astype(np.float32)
