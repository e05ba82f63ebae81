"""What the linear methods and the trees share: tf-idf features, and evidence by n-gram."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.methods.base import Evidence, Method, Settings, require
from labelwise.methods.spans import Spans
from labelwise.text.ngrams import Ngrams
from labelwise.text.tfidf import Tfidf
from labelwise.text.tokenized import TokenizedCorpus, tokenize_corpus
from labelwise.text.zones_read import ZoneWeights


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
    header_weight: float = 1.0
    """What an n-gram in the title and the rest of the header counts for."""
    recitals_weight: float = 1.0
    """What one in the recitals counts for."""
    articles_weight: float = 1.0
    """What one in the articles counts for."""
    annexes_weight: float = 1.0
    """What one in the annexes counts for."""
    zone_words: int = 0
    """A zone of more words counts as though it had so many, so that no annex drowns the recitals
    (0: every word counts, however many there are)."""

    def __post_init__(self) -> None:
        require(self, longest_ngram=1, min_count=1, min_run_count=1, run_weight=0, max_columns=1)
        require(self, header_weight=0, recitals_weight=0, articles_weight=0, annexes_weight=0)
        require(self, zone_words=0)

    @property
    def zones(self) -> ZoneWeights:
        return ZoneWeights(
            self.header_weight,
            self.recitals_weight,
            self.articles_weight,
            self.annexes_weight,
            self.zone_words,
        )


class TfidfMethod(Method):
    """A method that reads documents as tf-idf of n-grams."""

    readings = (
        "header_weight",
        "recitals_weight",
        "articles_weight",
        "annexes_weight",
        "zone_words",
    )
    settings: TfidfSettings
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
        counts = ngrams.count(corpus, self._counted(corpus))
        self._tfidf = Tfidf.fit(ngrams, counts, self.settings.run_weight)
        return self._tfidf.of_counts(counts)

    def features(self, documents: Sequence[Document]) -> sp.csr_matrix:
        """The documents as this method reads them: documents × n-grams."""
        corpus = tokenize_corpus(documents, cache=self.cache)
        return self._tfidf.transform(corpus, self._counted(corpus))

    def _counted(self, corpus: TokenizedCorpus) -> NDArray[np.float32] | None:
        """What an n-gram counts for in each section; None where all count the same."""
        zones = self.settings.zones
        return None if zones.are_even else zones.of(corpus)

    @property
    def width(self) -> int:
        """How many n-grams it knows."""
        return len(self._tfidf.ngrams)

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        return self.spread(document, labels, lambda x: self._contributions(x, labels))

    def spread(
        self,
        document: Document,
        labels: Sequence[str],
        contributions: Callable[[sp.csr_matrix], NDArray[np.float64]],
    ) -> list[Evidence]:
        """Spread what each column adds to a label's score over its occurrences, by what each of
        them counts for. ``contributions`` gives it for one row of features: labels × n-grams."""
        corpus = tokenize_corpus([document], cache=self.cache)
        counted = self._counted(corpus)
        x = self._tfidf.transform(corpus, counted)
        spans = sorted(self._tfidf.ngrams.spans(document), key=lambda span: span[1:])
        columns, starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 3).T
        each = np.ones(len(spans), dtype=np.float32)  # what each occurrence counts for
        if counted is not None:
            each = counted[np.searchsorted(document.section_starts(), starts, side="right") - 1]
        every = np.bincount(columns, each, minlength=self.width)  # ... and all of each column
        part = each / np.where(every, every, 1)[columns]  # of what its column adds
        share = np.zeros(self.width)  # of all occurrences of each column
        found = []
        for label, added in zip(labels, contributions(x), strict=True):
            total = np.abs(added).sum() or 1.0
            share[x.indices] = added / total
            weights = share[columns] * part
            at = np.flatnonzero(weights)
            spans_of_label = Spans(starts[at], ends[at], weights[at])
            found.append(Evidence(label, "contribution", spans_of_label))
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
