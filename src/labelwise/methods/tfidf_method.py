"""What the linear methods and the trees share: tf-idf features, and evidence by n-gram."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.methods.base import Evidence, Method, Settings, Span, require
from labelwise.text.ngrams import Ngrams
from labelwise.text.tfidf import Tfidf
from labelwise.text.tokenized import tokenize_corpus


@dataclass(frozen=True)
class TfidfSettings(Settings):
    """Settings of the features."""

    longest_ngram: int = 1
    """N-grams of one to so many words are counted."""
    min_count: int = 3
    """How often a word has to stand in the training documents."""
    min_run_count: int = 3
    """How often a run of two words or more has to stand there."""
    run_weight: float = 1.0
    """Weight of such runs beside single words: there are more of them, and below 1 they leave
    rare labels, which hang on single words, in peace."""
    max_columns: int = 400_000
    """At most so many n-grams, the most frequent ones."""

    def __post_init__(self) -> None:
        require(self, longest_ngram=1, min_count=1, min_run_count=1, run_weight=0, max_columns=1)


class TfidfMethod(Method):
    """A method that reads documents as tf-idf of n-grams."""

    _tfidf: Tfidf
    _columns: NDArray[np.intp]
    """(trained labels,) their columns in label order."""

    def _fit_features(self, train: Sequence[Document]) -> sp.csr_matrix:
        corpus = tokenize_corpus(train, cache=self.cache)
        ngrams = Ngrams.fit(
            corpus,
            n=self.settings.longest_ngram,
            min_count=self.settings.min_count,
            min_run_count=self.settings.min_run_count,
            max_columns=self.settings.max_columns,
        )
        counts = ngrams.count(corpus)
        self._tfidf = Tfidf.fit(ngrams, counts, self.settings.run_weight)
        return self._tfidf.weigh(counts)

    def _features(self, documents: Sequence[Document]) -> sp.csr_matrix:
        return self._tfidf.transform(tokenize_corpus(documents, cache=self.cache))

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        """Spread what each column adds to a label's score over its occurrences."""
        x = self._features([document])
        spans = sorted(self._tfidf.ngrams.spans(document), key=lambda span: span[1:])
        columns = np.array([column for column, _, _ in spans], dtype=np.int64)
        share = np.zeros(len(self._tfidf.ngrams))  # of an occurrence of each column
        found = []
        for label, added in zip(labels, self._contributions(x, labels), strict=True):
            total = np.abs(added).sum() or 1.0
            share[x.indices] = added / total
            at = np.flatnonzero(share[columns])
            _, same, times = np.unique(columns[at], return_inverse=True, return_counts=True)
            weights = share[columns[at]] / times[same]
            marked = [
                Span(*spans[one][1:], float(weight))
                for one, weight in zip(at, weights, strict=True)
            ]
            found.append(Evidence(label, "contribution", tuple(marked)))
        return found

    @abstractmethod
    def _contributions(self, x: sp.csr_matrix, labels: Sequence[str]) -> NDArray[np.float64]:
        """What each n-gram of a document, one row of features, adds to the score of each label:
        labels × n-grams, zero for a label that was never trained."""

    def _trained_column(self, label: str) -> int | None:
        """The place of a label among the trained ones; None where it was never trained."""
        at = np.flatnonzero(self._columns == self.label_space.index[label])
        return int(at[0]) if len(at) else None

    def _trained_labels(self) -> NDArray[np.intp]:
        """The labels that a training document carries; no other can be learned."""
        return np.flatnonzero(self.label_space.counts > 0)
