"""labelwise as an estimator of scikit-learn: texts and lists of labels in, lists of labels out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from reprlib import repr as shortened
from typing import Any, Self

import numpy as np
import scipy.sparse

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.plain_text import split_act
from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.evaluation.measures import evaluate
from labelwise.evidence.predictions import Cut, rank
from labelwise.experiments.configs import settings_from
from labelwise.experiments.settings import assignments
from labelwise.methods import Scores, get
from labelwise.model import Model

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError("labelwise.sklearn", "sklearn") from error


class Tagger(BaseEstimator):  # type: ignore[misc]
    """Any method of labelwise.

    ``method``: its name, as `labelwise methods` lists them. ``settings``: by name, its defaults
    elsewhere. ``descriptors``: what the labels mean, by label, for the methods that read it.
    ``dev``: the share of the documents that fit draws to choose the threshold on.

    After ``fit``: ``classes_``, the labels in the order of the columns of ``predict_proba``, and
    ``model_``, the front door of the rest.
    """

    def __init__(
        self,
        method: str = "svm",
        settings: Mapping[str, Any] | None = None,
        descriptors: Mapping[str, str] | None = None,
        dev: float = 0.1,
    ) -> None:
        self.method = method
        self.settings = settings
        self.descriptors = descriptors
        self.dev = dev

    def fit(self, X: Sequence[str], y: Sequence[Sequence[str]]) -> Self:
        """Learn from texts and the labels of each."""
        share: Any = self.dev  # scikit-learn sets parameters without looking at them
        if not (isinstance(share, float | np.floating) and 0 < share < 1):
            raise LabelwiseError(f"dev is a share of the documents, 0.1 say, not {share!r}")
        documents = _documents(X, y)
        if len(documents) < 2:
            raise LabelwiseError("two documents are needed at least: one of them to choose on")
        cls = get(self.method)
        chosen = settings_from(cls.Settings, self.method, None, assignments(self.settings))
        drawn = np.random.default_rng(chosen.seed).permutation(len(documents))
        size = min(max(1, round(self.dev * len(documents))), len(documents) - 1)
        dev = [documents[at] for at in sorted(drawn[:size].tolist())]
        train = [documents[at] for at in sorted(drawn[size:].tolist())]
        names = _names(self.descriptors)
        method = cls(chosen)
        method.fit(train, dev, LabelSpace.from_documents(train, dev, names))
        self.model_ = Model(method)
        self.classes_ = np.array(method.label_space.ids)
        return self

    def predict(self, X: Sequence[str]) -> list[list[str]]:
        """The labels of each text that score above the threshold, the best first."""
        check_is_fitted(self, "model_")
        space, cut = self.model_.labels, Cut(self.model_.threshold)
        documents = _documents(X)
        return [
            [one.label.id for one in rank(row, space, top=len(space), cut=cut)]
            if document.has_words
            else []
            for document, row in zip(documents, self.model_.scores(documents), strict=True)
        ]

    def predict_proba(self, X: Sequence[str]) -> Scores:
        """Texts × labels: a probability each, in the order of ``classes_``."""
        check_is_fitted(self, "model_")
        return self.model_.scores(_documents(X))

    def score(self, X: Sequence[str], y: Sequence[Sequence[str]]) -> float:
        """RP@5 over the texts. A label that was not learned is missed."""
        check_is_fitted(self, "model_")
        documents, space = _documents(X, y), self.model_.labels
        labels = dict.fromkeys(label for one in documents for label in one.labels)
        unknown = {label: label for label in labels if label not in space.index}
        wide = space.with_labels(unknown)
        scores = np.zeros((len(documents), len(wide)), dtype=np.float32)
        scores[:, [wide.index[id] for id in space.ids]] = self.predict_proba(X)
        unranked = [wide.index[label] for label in unknown]
        measured = evaluate(scores, wide.gold(documents), wide, unranked=unranked)
        return float(measured["all"]["RP@5"])


def _documents(
    texts: Sequence[str], labels: Sequence[Sequence[str]] | None = None
) -> list[Document]:
    if isinstance(texts, str):
        raise LabelwiseError("a list of texts was expected, and this is one text: put it in a list")
    if getattr(texts, "ndim", 1) != 1:  # a DataFrame is to Python the names of its columns
        raise LabelwiseError("a list of texts was expected, not a table: give one column of it")
    if not isinstance(texts, Iterable):
        raise LabelwiseError(f"a list of texts was expected, not {texts!r}")
    found = []
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise LabelwiseError(f"X[{number}] is no text: {shortened(text)}")
        found.append(Document(str(number), *split_act(text)))
    if labels is None:
        return found
    _check_lists(labels)
    if len(labels) != len(found):
        raise LabelwiseError(f"there are {len(found)} texts and labels of {len(labels)}")
    return [
        dataclasses.replace(one, labels=tuple(map(str, of)))
        for one, of in zip(found, labels, strict=True)
    ]


def _check_lists(labels: Sequence[Sequence[str]]) -> None:
    """Raise an error for what would be taken for other labels: the letters of a text, or the ones
    and zeros of a matrix, as MultiLabelBinarizer makes it."""
    if scipy.sparse.issparse(labels) or (
        isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.dtype.kind in "biuf"
    ):
        raise LabelwiseError("y is a list of labels for each text, by name, and not a matrix")
    for number, of in enumerate(labels):
        if isinstance(of, str) or not isinstance(of, Iterable):
            raise LabelwiseError(f"y[{number}] is no list of labels: {shortened(of)}")
        for label in of:
            if label in (None, "") or (isinstance(label, float) and math.isnan(label)):
                raise LabelwiseError(f"y[{number}] has a label without a name: {label!r}")


def _names(descriptors: Any) -> dict[str, str]:
    given = {} if descriptors is None else descriptors
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for one in given.values()):
        raise LabelwiseError(
            "descriptors are names by label, {'693': 'citrus fruit'}, not " + shortened(descriptors)
        )
    return {str(label): name for label, name in given.items()}
