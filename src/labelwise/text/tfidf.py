"""Tf-idf over n-grams: the features of the linear methods and the trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.schema import FLOATS, array
from labelwise.text.ngrams import Ngrams
from labelwise.text.tokenized import TokenizedCorpus


@dataclass(frozen=True, eq=False)
class Tfidf:
    """(1 + log tf) · idf, each document scaled to length one; idf = log((1 + N) / (1 + df)) + 1.
    Where words count for less than one, a tf below one stands for itself.

    The idf of runs of two words and more may be lowered, so that they do not drown the words."""

    ngrams: Ngrams
    idf: NDArray[np.float32]

    @classmethod
    def fit(cls, ngrams: Ngrams, counts: sp.csr_matrix, run_weight: float = 1.0) -> Tfidf:
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        idf = np.log((1 + counts.shape[0]) / (1 + df)) + 1
        idf[len(ngrams.words) :] *= run_weight
        return cls(ngrams, idf.astype(np.float32))

    def transform(
        self, corpus: TokenizedCorpus, weights: NDArray[np.float32] | None = None
    ) -> sp.csr_matrix:
        """The features of each document: documents × columns, float32. With ``weights``
        (sections,) a word counts for what its section does."""
        return self.of_counts(self.ngrams.count(corpus, weights))

    def of_counts(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """Turn counts into features."""
        X = counts.copy()
        X.data = _damped(X.data) * self.idf[X.indices]
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(X.indptr)).astype(np.float32)
        return X

    def only(self, wanted: NDArray[np.bool_]) -> tuple[Tfidf, NDArray[np.bool_]]:
        """Fewer columns, as ``Ngrams.only`` keeps them, and which ones. The length that documents
        are scaled to is that of the columns kept."""
        ngrams, kept = self.ngrams.only(wanted)
        return Tfidf(ngrams, self.idf[kept]), kept

    def to_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and values for a bundle."""
        arrays, values = self.ngrams.to_state()
        return {**arrays, "idf": self.idf}, values

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> Tfidf:
        ngrams = Ngrams.from_state(arrays, values)
        return cls(ngrams, array(arrays, "idf", (len(ngrams),), FLOATS))


def _damped(tf: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 + log tf from one on, and tf itself below: value and slope are the same at one.

    >>> _damped(np.array([0.5, 1.0, np.e], dtype=np.float32)).round(3).tolist()
    [0.5, 1.0, 2.0]
    """
    return np.where(tf < 1, tf, 1 + np.log(np.maximum(tf, 1)))
