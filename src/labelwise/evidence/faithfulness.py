"""Faithfulness: does the score of a label hang on the words that the evidence points to?

comprehensiveness   what the score loses when those words are removed: higher is better
sufficiency         what it loses when only those words are kept: lower is better

Both are measured at several shares of the words, the strongest first; their mean over the shares is
the AOPC (area over the perturbation curve). Beside a method's own evidence stand random words and,
for a network, gradient × input: evidence that does no better than random words explains nothing.

A document is first cut to the words that the method reads of it, so that removing some of them does
not let others in. Words of equal weight are taken in a random order: no evidence gains from the
order of the text. Everything random follows from the seed and the document's id.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.evidence.predictions import rank
from labelwise.evidence.words import Words
from labelwise.methods.base import Evidence, EvidenceKind, Method

Source = Literal["own", "gradient", "random"]
SOURCES: tuple[Source, ...] = get_args(Source)
Measure = Literal["comprehensiveness", "sufficiency"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True)
class Plan:
    """What is tested."""

    top: int = 3
    """The best labels of each document."""
    gold: bool = False
    """The gold labels instead."""
    shares: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.5)
    """Of the words; at least one word is taken."""
    draws: int = 5
    """Random orders of the words of each document."""
    seed: int = 0
    """Of those orders, and of the order of words that weigh the same."""


@runtime_checkable
class WithGradients(Protocol):
    """A method that can say how the words move its scores: a network."""

    def gradient_evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]: ...


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over documents and its standard error (NaN of a single document)."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Figure:
        several = len(values) > 1
        error = values.std(ddof=1) / np.sqrt(len(values)) if several else float("nan")
        return cls(float(values.mean()), float(error))


@dataclass(frozen=True)
class Faithfulness:
    """What the scores lost, by source of the words; (documents, measures, shares) each.

    A document counts once, by the mean over its labels: they share its words, and so are no
    independent samples.
    """

    plan: Plan
    kind: EvidenceKind  # of the method's own evidence
    losses: Mapping[Source, NDArray[np.float64]]
    documents: tuple[str, ...]
    labels: int  # pairs of a document and a label
    score: Figure  # of the pairs before anything was removed

    def at(self, source: Source, measure: Measure, share: int) -> Figure:
        """The loss at one share, by its place among the shares."""
        return Figure.of(self.losses[source][:, MEASURES.index(measure), share])

    def aopc(self, source: Source, measure: Measure) -> Figure:
        return Figure.of(self._of_documents(source, measure))

    def difference(self, one: Source, other: Source, measure: Measure) -> Figure:
        """How far the AOPC of one lies above the other's, document by document."""
        ours, theirs = self._of_documents(one, measure), self._of_documents(other, measure)
        return Figure.of(ours - theirs)

    def _of_documents(self, source: Source, measure: Measure) -> NDArray[np.float64]:
        return np.asarray(self.losses[source][:, MEASURES.index(measure)].mean(axis=1))


def measure_faithfulness(
    method: Method, documents: Iterable[Document], plan: Plan | None = None
) -> Faithfulness:
    """Measure how faithful a method's evidence is on these documents.

    Labels that no word speaks for, and documents without a label or a word, are left out.
    """
    plan = plan or Plan()
    tested = [found for document in documents if (found := _test(method, document, plan))]
    if not tested:
        raise LabelwiseError("no document has both words and a label that a word speaks for")
    return Faithfulness(
        plan=plan,
        kind=tested[0].kind,
        losses={
            source: np.stack([one.losses[source] for one in tested])
            for source in SOURCES
            if source in tested[0].losses
        },
        documents=tuple(one.id for one in tested),
        labels=sum(len(one.scores) for one in tested),
        score=Figure.of(np.array([one.scores.mean() for one in tested])),
    )


@dataclass(frozen=True)
class _Tested:
    """One document: the scores of its labels (labels,), and what they lost (measures, shares)."""

    id: str
    kind: EvidenceKind
    scores: NDArray[np.float64]
    losses: dict[Source, NDArray[np.float64]]


def _test(method: Method, document: Document, plan: Plan) -> _Tested | None:
    words = Words(document)
    evidence = [
        one
        for one in method.evidence(document, _labels(method, document, plan))
        if any(span.weight for span in one.spans)
    ]
    if not evidence or not len(words):
        return None
    labels = [one.label for one in evidence]
    kind = evidence[0].kind
    # Attention has a weight for every word read; the other kinds read all words.
    spans = (span for one in evidence for span in one.spans)
    read = words.covered(spans) if kind == "attention" else np.ones(len(words), dtype=bool)

    random = np.random.default_rng([plan.seed, zlib.crc32(document.id.encode("utf-8", "replace"))])
    orders: dict[Source, list[NDArray[np.int64]]] = {
        "random": [random.permutation(read.nonzero()[0]) for _ in range(plan.draws)],
        "own": [_order(words.weights(one.spans), read, random) for one in evidence],
    }
    if isinstance(method, WithGradients):
        felt = method.gradient_evidence(document, labels)
        orders["gradient"] = [_order(words.weights(one.spans), read, random) for one in felt]

    each = [order for found in orders.values() for order in found]
    variants = [words.keep(kept) for kept in _choices(each, read, plan.shares)]
    columns = [method.label_space.index[label] for label in labels]
    scores = method.scores([words.keep(read), *variants])[:, columns].astype(np.float64)
    lost = (scores[0] - scores[1:]).reshape(len(each), len(MEASURES), len(plan.shares), len(labels))
    losses: dict[Source, NDArray[np.float64]] = {}
    for source, found in orders.items():
        of_source, lost = lost[: len(found)], lost[len(found) :]
        losses[source] = (
            of_source.mean(axis=(0, 3))
            if source == "random"  # random words are the same for all labels
            else np.einsum("lmsl->ms", of_source) / len(labels)
        )
    return _Tested(document.id, kind, scores[0], losses)


def _labels(method: Method, document: Document, plan: Plan) -> list[str]:
    space = method.label_space
    if plan.gold:
        return [label for label in dict.fromkeys(document.labels) if label in space.index]
    return [one.label.id for one in rank(method.scores([document])[0], space, top=plan.top)]


def _order(
    weights: NDArray[np.float64], read: NDArray[np.bool_], random: np.random.Generator
) -> NDArray[np.int64]:
    """The words read, the strongest first, equals in a random order."""
    words = random.permutation(read.nonzero()[0])
    return np.asarray(words[np.argsort(-weights[words], kind="stable")])


def _choices(
    orders: Sequence[NDArray[np.int64]], read: NDArray[np.bool_], shares: Sequence[float]
) -> Iterator[NDArray[np.bool_]]:
    """The words left, in the order: order of the words, measure, share."""
    for order, measure, share in product(orders, MEASURES, shares):
        first = order[: max(1, round(share * len(order)))]
        kept = read.copy() if measure == "comprehensiveness" else np.zeros_like(read)
        kept[first] = measure == "sufficiency"
        yield kept
