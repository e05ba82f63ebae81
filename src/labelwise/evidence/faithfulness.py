"""Faithfulness: does the score of a label hang on the words that the evidence points to?

comprehensiveness   what the score loses when those words are removed: higher is better
sufficiency         what it loses when only those words are kept: lower is better

Both are measured at several shares of the words, the strongest first; their mean over the shares is
the AOPC (area over the perturbation curve). Normalised, it is put on a scale from the lowest AOPC
that was found for the document and the label to the highest (``limits``), so that methods and
explainers compare. Beside a method's own evidence stand its other explainers, occlusion, and random
words: evidence that does no better than random words explains nothing.

A document is first cut to the words that the method reads of it, so that removing some of them does
not let others in. Words of equal weight are taken in a random order: no evidence gains from the
order of the text. Everything random follows from the seed and the document's id.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.evaluation.ranking import ranked
from labelwise.evidence.cuts import Chosen, Cuts
from labelwise.evidence.limits import Order, kept_words, limits, sizes_of
from labelwise.evidence.occlusion import occluded
from labelwise.evidence.predictions import rank
from labelwise.evidence.words import Words
from labelwise.methods.base import OF_EVERY_WORD, Evidence, Method, Scores

OWN, OCCLUSION, RANDOM = "own", "occlusion", "random"
"""Sources of words: the evidence that the method shows, what any method has, and chance. Further
ones are named after the method's explainers."""

Measure = Literal["comprehensiveness", "sufficiency"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

AFFORDABLE = 10.0
"""Readings of a document that evidence shown by default may cost at most."""


@dataclass(frozen=True)
class RemovalPlan:
    """What is tested."""

    top: int = 3
    """The best labels of each document."""
    gold: bool = False
    """The gold labels instead."""
    explainers: tuple[str, ...] | None = None
    """Beside the method's own evidence; without a choice all that it has, and occlusion."""
    shares: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.5)
    """Of the words; at least one word is taken."""
    draws: int = 5
    """Random orders of the words of each document."""
    seed: int = 0
    """Of those orders, and of the order of words that weigh the same."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over documents and its standard error (NaN of a single document)."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Figure:
        values = values[~np.isnan(values)]
        several = len(values) > 1
        error = values.std(ddof=1) / np.sqrt(len(values)) if several else float("nan")
        return cls(float(values.mean()) if len(values) else float("nan"), float(error))


@dataclass(frozen=True)
class Faithfulness:
    """What the scores lost, by the way to find words; (documents, measures, shares) each.

    A document counts once, by the mean over its labels: they share its words, and so are no
    independent samples.
    """

    plan: RemovalPlan
    own: str  # the method's explainer, or where it has but one the kind of its evidence
    losses: Mapping[str, NDArray[np.float64]]
    normalised: Mapping[str, NDArray[np.float64]]  # AOPC from 0 to 1: (documents, measures)
    limits: NDArray[np.float64]  # lowest and highest AOPC found: (documents, measures, 2)
    costs: Mapping[str, float]  # of the evidence for the labels of a document, in readings of it
    documents: tuple[str, ...]
    labels: int  # pairs of a document and a label
    score: Figure  # of the pairs before anything was removed

    def at(self, way: str, measure: Measure, share: int) -> Figure:
        """The loss at one share, by its place among the shares."""
        return Figure.of(self.losses[way][:, MEASURES.index(measure), share])

    def aopc(self, way: str, measure: Measure) -> Figure:
        return Figure.of(self._of_documents(way, measure))

    def normalised_aopc(self, way: str, measure: Measure) -> Figure:
        return Figure.of(self.normalised[way][:, MEASURES.index(measure)])

    def difference(self, one: str, other: str, measure: Measure) -> Figure:
        """How far the AOPC of one lies above the other's, document by document."""
        ours, theirs = self._of_documents(one, measure), self._of_documents(other, measure)
        return Figure.of(ours - theirs)

    def standing(self, way: str) -> Figure:
        """Both measures as one figure, 1 the best: the mean of normalised comprehensiveness, and
        of normalised sufficiency turned around."""
        removed, kept = self.normalised[way].T
        return Figure.of((removed + 1 - kept) / 2)

    def best_affordable(self) -> str:
        """The way with the highest standing among those that may be shown by default."""
        able = [way for way, cost in self.costs.items() if cost < AFFORDABLE]
        return max(able or [OWN], key=lambda way: self.standing(way).mean)

    def _of_documents(self, way: str, measure: Measure) -> NDArray[np.float64]:
        return np.asarray(self.losses[way][:, MEASURES.index(measure)].mean(axis=1))


def measure_faithfulness(
    method: Method, documents: Iterable[Document], plan: RemovalPlan | None = None
) -> Faithfulness:
    """Measure how faithful a method's evidence is on these documents.

    Labels that no word speaks for, and documents without a label or a word, are left out.
    """
    plan = plan or RemovalPlan()
    ways = _ways(method, plan)
    tested = [found for document in documents if (found := _test(method, document, plan, ways))]
    if not tested:
        raise LabelwiseError("no document has both words and a label that a word speaks for")
    return Faithfulness(
        plan=plan,
        own=method.explainer or tested[0].kind,
        losses={way: np.stack([one.losses[way] for one in tested]) for way in ways},
        normalised={way: np.stack([one.normalised[way] for one in tested]) for way in ways},
        limits=np.stack([one.limits for one in tested]),
        costs={
            # The median: a first call, which sets things up, does not count.
            way: float(np.median([one.costs[way] for one in tested]))
            for way in ways
            if way != RANDOM
        },
        documents=tuple(one.id for one in tested),
        labels=sum(len(one.scores) for one in tested),
        score=Figure.of(np.array([one.scores.mean() for one in tested])),
    )


def _ways(method: Method, plan: RemovalPlan) -> list[str]:
    known = dict.fromkeys([*method.explainers, OCCLUSION])
    for name in plan.explainers or ():
        if name not in known:
            raise LabelwiseError(
                f"there is no explainer '{name}' here; there are: {', '.join(known)}"
            )
    asked = known if plan.explainers is None else plan.explainers
    return [OWN, *(name for name in asked if name != method.explainer), RANDOM]


@dataclass(frozen=True)
class _Tested:
    """One document: the scores of its labels (labels,), and the means over the labels of what they
    lost (measures, shares), of the normalised AOPC (measures,) and of its limits (measures, 2)."""

    id: str
    kind: str
    scores: NDArray[np.float64]
    losses: dict[str, NDArray[np.float64]]
    normalised: dict[str, NDArray[np.float64]]
    limits: NDArray[np.float64]
    costs: dict[str, float]


def _test(
    method: Method, document: Document, plan: RemovalPlan, ways: Sequence[str]
) -> _Tested | None:
    words = Words(document)
    started = time.perf_counter()
    scores = method.scores([document])
    reading = time.perf_counter() - started
    labels = _labels(method, document, scores, plan)
    evidence: dict[str, list[Evidence]] = {}
    costs: dict[str, float] = {}
    for way in (way for way in ways if way != RANDOM):
        started = time.perf_counter()
        evidence[way] = _explained(method, way, document, labels)
        costs[way] = (time.perf_counter() - started) / reading
        if way == OWN:
            spoken = [one for one in evidence[OWN] if any(span.weight for span in one.spans)]
            labels, evidence[OWN] = [one.label for one in spoken], spoken
            if not labels or not len(words):
                return None
    # What has a weight for every word read says which these are; without it all words are read.
    attended = [one for found in evidence.values() for one in found if one.kind in OF_EVERY_WORD]
    read = words.covered(span for one in attended for span in one.spans)
    read = read if attended else np.ones(len(words), dtype=bool)

    random = np.random.default_rng([plan.seed, zlib.crc32(document.id.encode("utf-8", "replace"))])
    chance = [random.permutation(read.nonzero()[0]) for _ in range(plan.draws)]
    orders = {
        way: [_order(words.weights(one.spans), read, random) for one in found]
        for way, found in evidence.items()
    }
    cuts = Cuts(method, words, read, labels)
    each = [order for found in (chance, *orders.values()) for order in found]
    lost = cuts.lost(list(_choices(each, read, plan.shares)))
    lost = lost.reshape(len(each), len(MEASURES), len(plan.shares), len(labels))
    by_chance, lost = lost[: len(chance)], lost[len(chance) :]
    losses = {RANDOM: by_chance.mean(axis=0).transpose(2, 0, 1)}  # (labels, measures, shares)
    for place, way in enumerate(orders):
        of_way = lost[place * len(labels) : (place + 1) * len(labels)]
        losses[way] = np.einsum("lmsl->lms", of_way)
    aopcs = {way: of.mean(axis=2) for way, of in losses.items()}  # (labels, measures)
    if OCCLUSION not in orders:  # the ends of the scale are searched with it, shown or not
        hidden = _explained(method, OCCLUSION, document, labels)
        orders[OCCLUSION] = [_order(words.weights(one.spans), read, random) for one in hidden]
    found = limits(cuts, list(zip(*orders.values(), strict=True)), plan.shares)
    lowest = np.minimum(found[..., 0], np.min(list(aopcs.values()), axis=0))
    highest = np.maximum(found[..., 1], np.max(list(aopcs.values()), axis=0))
    return _Tested(
        document.id,
        evidence[OWN][0].kind,
        cuts.scores([read])[0],
        {way: of.mean(axis=0) for way, of in losses.items()},
        {way: _normalised(aopc, lowest, highest) for way, aopc in aopcs.items()},
        np.stack([lowest, highest], axis=2).mean(axis=0),
        costs,
    )


def _explained(
    method: Method, way: str, document: Document, labels: Sequence[str]
) -> list[Evidence]:
    if way == OWN:
        return method.evidence(document, labels)
    if way in method.explainers:
        return method.evidence(document, labels, way)
    return occluded(method, document, labels)


def _labels(method: Method, document: Document, scores: Scores, plan: RemovalPlan) -> list[str]:
    space = method.label_space
    if plan.gold:
        return [label for label in dict.fromkeys(document.labels) if label in space.index]
    return [one.label.id for one in rank(scores[0], space, top=plan.top)]


def _order(weights: NDArray[np.float64], read: Chosen, random: np.random.Generator) -> Order:
    """The words read, the strongest first, equals in a random order."""
    words = random.permutation(read.nonzero()[0])
    return np.asarray(words[ranked(weights[words])])


def _choices(orders: Sequence[Order], read: Chosen, shares: Sequence[float]) -> Iterator[Chosen]:
    """The words left, in the order: order of the words, measure, share."""
    sizes = sizes_of(shares, int(read.sum()))
    for order, measure, size in product(orders, MEASURES, sizes):
        chosen = np.zeros_like(read)
        chosen[order[:size]] = True
        yield kept_words(read, chosen, measure == "sufficiency")


def _normalised(
    aopc: NDArray[np.float64], lowest: NDArray[np.float64], highest: NDArray[np.float64]
) -> NDArray[np.float64]:
    """From 0 to 1 between the limits, (labels, measures) each, as the mean over the labels whose
    score can be moved at all: (measures,), NaN where there is none."""
    room = highest - lowest
    moved = room > 1e-9
    share = np.where(moved, (aopc - lowest) / np.where(moved, room, 1), 0)
    count = moved.sum(axis=0)
    return np.where(count, share.sum(axis=0) / np.maximum(count, 1), np.nan)
