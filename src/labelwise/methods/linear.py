"""One-vs-rest linear models on tf-idf: what SVM and logistic regression share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.corpus.shard import Shard
from labelwise.errors import LabelwiseError
from labelwise.evaluation.odds import sigmoid
from labelwise.evaluation.threshold import tune_threshold
from labelwise.kernels.dual_descent import Loss, one_vs_rest
from labelwise.methods.base import Scores, State, require
from labelwise.methods.packed import levels_of, pack, rounded, unpack
from labelwise.methods.sparse_rows import from_arrays, named, parts_of, to_arrays
from labelwise.methods.tfidf_method import TfidfMethod, TfidfSettings
from labelwise.progress import bar
from labelwise.schema import FLOATS, array, places
from labelwise.text.tfidf import Tfidf


@dataclass(frozen=True)
class LinearSettings(TfidfSettings):
    """Settings of a one-vs-rest linear model."""

    C: float = 1.0
    """Weight of the loss against the size of the weights."""
    passes: int = 12
    """At most so many times over the training documents."""
    tolerance: float = 0.01
    """Stop when no dual variable moves by more than this share of C in a pass."""
    prune: float = 0.01
    """Weights smaller than this are dropped: most are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, C=1e-6, passes=1, tolerance=0, prune=0)


class LinearMethod(TfidfMethod):
    """Scores w_l·x + b_l for each label, as probabilities; zero-shot labels score 0."""

    settings: LinearSettings
    loss: ClassVar[Loss]
    _levels: NDArray[np.float32] | None = None
    """The values that a weight may have, where the weights are kept in 8 bits."""
    shard: Shard | None = None
    """The part of the labels that ``fit`` trains; the others score 0 until ``from_shards``."""

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        X = self._fit_features(train)
        trained = self._trained_labels()
        Y = self.label_space.gold(train)[:, trained]
        settings = self.settings
        blocks, columns, biases = [], [], []
        count = len(trained) // (self.shard.of if self.shard else 1)
        with bar(f"training {self.name}", total=count) as advance:
            for labels, weights, bias in one_vs_rest(
                X, Y, loss=self.loss, C=settings.C, passes=settings.passes,
                tolerance=settings.tolerance, seed=settings.seed, shard=self.shard,
            ):  # fmt: skip
                weights[np.abs(weights) < settings.prune] = 0
                # What is kept is what is saved: half precision, here as in the bundle.
                blocks.append(sp.csc_matrix(weights.astype(np.float16).astype(np.float32)))
                columns.append(trained[labels])
                biases.append(bias)
                advance(len(labels))
        self._set_weights(*_in_label_order(blocks, biases, columns))
        self._calibrate(dev)

    @classmethod
    def from_shards(cls, shards: Sequence[Self], dev: Sequence[Document]) -> Self:
        """The model that one training of all labels gives, from the trainings of its shards."""
        first = shards[0]
        whole = cls(first.settings)
        whole._label_space, whole.cache, whole._tfidf = first.label_space, first.cache, first._tfidf
        had = np.sort(np.concatenate([one._columns for one in shards]))
        if not np.array_equal(had, whole._trained_labels()):
            raise LabelwiseError(
                f"the shards have {len(had):,} labels together, and the training documents "
                f"{len(whole._trained_labels()):,}: join every shard of one training once"
            )
        whole._set_weights(
            *_in_label_order(
                [one._weights.tocsc() for one in shards],
                [one._biases for one in shards],
                [one._columns for one in shards],
            )
        )
        whole._calibrate(dev)
        return whole

    def _calibrate(self, dev: Sequence[Document]) -> None:
        """A chance to fit the probabilities on dev."""

    def _set_weights(
        self, weights: sp.csr_matrix, biases: NDArray[np.float32], columns: NDArray[np.intp]
    ) -> None:
        self._weights = weights  # n-grams × trained labels
        self._biases = biases  # (trained labels,)
        self._columns = columns  # (trained labels,) their columns in label order

    def _margins(self, documents: Sequence[Document]) -> NDArray[np.float32]:
        """w_l·x + b_l: documents × trained labels."""
        X = self.features(documents)
        margins = np.empty((len(documents), len(self._columns)), dtype=np.float32)
        for at in range(0, len(documents), 256):
            margins[at : at + 256] = (X[at : at + 256] @ self._weights).toarray()
        margins += self._biases
        return margins

    def _probabilities(self, margins: NDArray[np.float32]) -> NDArray[np.float32]:
        return sigmoid(margins)

    def _scores(self, documents: Sequence[Document]) -> Scores:
        scores = np.zeros((len(documents), len(self.label_space)), dtype=np.float32)
        scores[:, self._columns] = self._probabilities(self._margins(documents))
        return scores

    def _contributions(self, x: sp.csr_matrix, labels: Sequence[str]) -> NDArray[np.float64]:
        added = np.zeros((len(labels), len(x.data)))
        weights = self._weights[x.indices].tocsc()
        for row, label in enumerate(labels):
            if (at := self._trained_column(label)) is not None:
                added[row] = x.data * weights[:, [at]].toarray().ravel()
        return added

    @property
    def size(self) -> tuple[int, int]:
        """How many weights and how many n-grams the model has."""
        return int(self._weights.nnz), len(self._tfidf.ngrams)

    def compacted(self, dev: Sequence[Document], *, prune: float, step: float) -> Self:
        """A smaller copy that is kept in 8 bits a weight or less.

        Weights below ``prune`` are dropped and n-grams left without any weight go with them; the
        other weights are rounded to levels, each ``step`` times the one before it. Probabilities
        and threshold are fitted on dev anew.
        """
        small = type(self)(replace(self.settings, prune=max(prune, self.settings.prune)))
        small._label_space, small.cache = self.label_space, self.cache
        weights = self._weights.copy()
        weights.data[np.abs(weights.data) < prune] = 0
        weights.eliminate_zeros()
        small._tfidf, kept = self._tfidf.only(np.diff(weights.indptr) > 0)
        small._levels = levels_of(weights.data, step)
        small._set_weights(rounded(weights[kept], small._levels), self._biases, self._columns)
        small._calibrate(dev)
        small.threshold = tune_threshold(small.scores(dev), self.label_space.gold(dev))
        return small

    def state(self) -> State:
        arrays, values = self._tfidf.to_state()
        weights = (
            to_arrays(self._weights) if self._levels is None else pack(self._weights, self._levels)
        )
        return State(
            {
                **arrays,
                **named("weights", weights),
                "biases": self._biases,
                "columns": self._columns.astype(np.int32),
            },
            values,
        )

    def _restore(self, state: State) -> None:
        arrays = state.arrays
        self._tfidf = Tfidf.from_state(arrays, state.values)
        columns = places(arrays, "columns", len(self.label_space), rising=True)
        biases = array(arrays, "biases", (len(columns),), FLOATS)
        shape = (len(self._tfidf.ngrams), len(columns))
        parts = parts_of(arrays, "weights")
        self._levels = parts.get("levels")
        weights = from_arrays(parts, shape) if self._levels is None else unpack(parts, shape)
        self._set_weights(weights, biases, columns.astype(np.intp))


def _in_label_order(
    blocks: Sequence[sp.csc_matrix],
    biases: Sequence[NDArray[np.float32]],
    columns: Sequence[NDArray[np.intp]],
) -> tuple[sp.csr_matrix, NDArray[np.float32], NDArray[np.intp]]:
    """Weights, biases and columns of blocks of labels as those of one, by rising columns."""
    together = np.concatenate(columns)
    order = np.argsort(together)
    weights = sp.hstack(blocks, format="csc")[:, order].tocsr()
    return weights, np.concatenate(biases)[order], together[order]
