"""Lexical: labels by the words of their names in the document, seen in training or not.

The score of a label is a weighted sum of eighteen features of its names in the document
(``name_matches``): what of them is found, how rare that is, whether it stands together, how often,
how early and in which zone. The weights are the same for all labels, so that a label which no
training document carries is scored like any other, even one added after training.

The weights are learned on training documents, and only from the labels these carry. Of each
document, every gold label is held against all labels that are not gold, and the weights make the
probability of the gold one, exp(score) / (exp(score) + sum of exp(others)), as high as they can (a
softmax for each gold label; L-BFGS). A label's gold pairs count by one over the square root of its
training documents, lest the weights be those of a few hundred frequent labels. Then Platt's
sigmoid, fitted on dev over all labels at once, turns the score into a probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.corpus.first_words import first_words
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.odds import sigmoid
from labelwise.methods.base import Evidence, Method, Scores, Settings, State, require
from labelwise.methods.name_matches import (
    FOUND,
    TOGETHER,
    Features,
    Name,
    NameIndex,
    content_stem,
    count_stems,
)
from labelwise.methods.name_weights import learned_weights
from labelwise.methods.spans import Span
from labelwise.methods.svm import platt
from labelwise.progress import track
from labelwise.schema import FLOATS, WHOLE, array, number, texts, value
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.tokenizer import tokenize

BLOCK = 64
"""Documents whose features are made at a time."""

NEGATIVES = 50
"""Labels of a document that learning looks at, drawn from those with a word in it but no name that
stands together; each counts for all that it was drawn from."""


@dataclass(frozen=True)
class LexicalSettings(Settings):
    """Settings of lexical; the defaults were chosen on the dev split of EURLEX57K."""

    min_count: int = 5
    """Training documents that a stem has to stand in for a rarity of its own; others are taken to
    stand in none."""
    documents: int = 3000
    """Training documents that the weights are learned on, evenly spread."""
    decay: float = 0.001
    """How much large weights cost."""
    first_words: int = 5000
    """Words of a document that are read: the longer an act, the more names it holds that it is not
    about. No act of EURLEX57K is so long; chosen on acts of today."""

    def __post_init__(self) -> None:
        require(self, min_count=1, documents=1, decay=0, first_words=1)


class Lexical(Method):
    """Same seed, same scores. A label that shares no word with a document has the lowest score."""

    name = "lexical"
    Settings = LexicalSettings
    settings: LexicalSettings
    readings: ClassVar[tuple[str, ...]] = ("first_words",)
    _alternatives: dict[str, list[str]]
    """Alternative labels by label id."""
    _documents: int
    _counts: dict[str, int]
    """In how many of the training documents each stem stands."""
    _weights: NDArray[np.float64]
    _slope, _offset = 1.0, 0.0

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        self._alternatives = _alternatives(self.label_space.ids, self.thesaurus)
        self._documents = len(train)
        corpus = tokenize_corpus(self._read(train), cache=self.cache)
        self._counts = count_stems(corpus, self.settings.min_count)
        self._set_index()
        spread = np.linspace(0, len(train) - 1, min(len(train), self.settings.documents))
        self._learn([train[int(at)] for at in spread])
        gold = self.label_space.gold(dev)
        if gold.nnz:
            slope, offset = platt(self._margins(dev), gold.toarray() > 0)
            if slope > 0:  # a handful of dev documents may turn a ranking round
                self._slope, self._offset = slope, offset

    @property
    def max_tokens(self) -> int:
        return self.settings.first_words

    def _read(self, documents: Sequence[Document]) -> list[Document]:
        return [first_words(document, self.settings.first_words) for document in documents]

    def _set_index(self) -> None:
        names = [
            Name(column, text, alternative)
            for column, label in enumerate(self.label_space.labels)
            for alternative, texts in (
                (False, [label.descriptor]),
                (True, self._alternatives.get(label.id, [])),
            )
            for text in texts
        ]
        self._index = NameIndex(names, len(self.label_space), self._documents, self._counts)

    def _blocks(self, documents: Sequence[Document]) -> Iterator[tuple[slice, Features]]:
        corpus = tokenize_corpus(self._read(documents), cache=self.cache)
        for first in track(range(0, len(documents), BLOCK), "looking for names"):
            part = slice(first, min(first + BLOCK, len(documents)))
            yield part, self._index.features(corpus, part.start, part.stop)

    def _learn(self, documents: Sequence[Document]) -> None:
        counts = self.label_space.counts
        is_gold = self.label_space.gold(documents).toarray() > 0
        random = np.random.default_rng(self.settings.seed)
        pairs = [
            _drawn(features, is_gold[part], counts > 0, part.start, random)
            for part, features in self._blocks(documents)
        ]
        document, label, x, stands_for = (
            np.concatenate(parts) for parts in zip(*pairs, strict=True)
        )
        if not len(x):
            raise LabelwiseError(
                "no training document has a word of a label's name: there is nothing that lexical "
                "could learn from"
            )
        gold = is_gold[document, label]
        importance = 1 / np.sqrt(np.maximum(counts[label], 1))
        weight = np.where(gold, importance, stands_for)
        self._weights = learned_weights(x, document, gold, weight, self.settings.decay)

    def _margins(self, documents: Sequence[Document]) -> NDArray[np.float32]:
        margins = np.empty((len(documents), len(self.label_space)), dtype=np.float32)
        for part, features in self._blocks(documents):
            margins[part] = features.total(self._weights)
        return margins

    def _scores(self, documents: Sequence[Document]) -> Scores:
        margins = self._margins(documents)
        return sigmoid(np.float32(self._slope) * margins + np.float32(self._offset))

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        """The words of the label's best name, each as heavy as its part of the cosine."""
        columns = [self.label_space.index[label] for label in labels]
        [document] = self._read([document])
        names = self._index.best_names(tokenize_corpus([document]), columns)
        places: dict[str, list[tuple[int, int]]] = {}
        for section, start in zip(document.sections, document.section_starts(), strict=True):
            for token in tokenize(section.text):
                if (found := content_stem(token.text)) is not None:
                    places.setdefault(found, []).append((start + token.start, start + token.end))
        evidence = []
        for label, name in zip(labels, names, strict=True):
            stems = [one for one in name.stems if one in places] if name else []
            parts = {
                one: np.log1p(len(places[one])) * self._index.idf[self._index.rows[one]] ** 2
                for one in stems
            }
            spans = [
                Span(*place, float(part / sum(parts.values()) / len(places[one])))
                for one, part in parts.items()
                for place in places[one]
            ]
            spans.sort(key=lambda span: span.start)
            evidence.append(Evidence(label, "contribution", tuple(spans)))
        return evidence

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Self:
        """The same model with more labels, each scored from its names."""
        wider = type(self)(self.settings)
        wider._label_space = self.label_space.with_labels(extra)
        wider.take_over(self)
        state, names = self.state(), self._alternatives | _alternatives(extra, thesaurus)
        wider._restore(State(state.arrays, {**state.values, "alternatives": names}))
        return wider

    def state(self) -> State:
        return State(
            {
                "weights": self._weights,
                "counts": np.array(list(self._counts.values()), dtype=np.int32),
            },
            {
                "alternatives": self._alternatives,
                "documents": self._documents,
                "stems": list(self._counts),
                "slope": self._slope,
                "offset": self._offset,
            },
        )

    def _restore(self, state: State) -> None:
        values, stems = state.values, texts(state.values, "stems")
        self._weights = array(state.arrays, "weights", (len(FOUND) + len(TOGETHER),), FLOATS)
        self._alternatives = {
            id: texts(values["alternatives"], id) for id in value(values, "alternatives", dict)
        }
        self._documents = value(values, "documents", int)
        counts = array(state.arrays, "counts", (len(stems),), WHOLE).tolist()
        self._counts = dict(zip(stems, counts, strict=True))
        self._slope, self._offset = number(values, "slope"), number(values, "offset")
        self._set_index()


def _alternatives(labels: Iterable[str], thesaurus: Thesaurus | None) -> dict[str, list[str]]:
    """The alternative labels of those that have some, by id."""
    concepts = thesaurus.concepts if thesaurus is not None else {}
    return {
        id: list(concepts[id].alt_labels)
        for id in labels
        if id in concepts and concepts[id].alt_labels
    }


def _drawn(
    features: Features,
    gold: NDArray[np.bool_],
    seen: NDArray[np.bool_],
    first: int,
    random: np.random.Generator,
) -> tuple[NDArray[Any], ...]:
    """Pairs of document and label to learn from: document, label, features, how many they stand
    for. All that are gold or together, and some of the others that share a word; labels that no
    training document carries are left out, since none of their pairs could be gold."""
    sharing = (features.found[0] > 0) & seen
    sure = gold.copy()
    sure[features.rows, features.columns] = True
    others = (sharing & ~sure).sum(axis=1, keepdims=True)
    chance = np.minimum(1, NEGATIVES / np.maximum(others, 1))
    document, label = np.nonzero(sharing & (sure | (random.random(gold.shape) < chance)))
    together = np.zeros((*gold.shape, features.together.shape[1]), dtype=np.float32)
    together[features.rows, features.columns] = features.together
    x = np.concatenate([features.found[:, document, label].T, together[document, label]], axis=1)
    stands_for = np.where(sure[document, label], 1.0, 1 / chance[document, 0])
    return document + first, label, x, stands_for
