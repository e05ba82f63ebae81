"""Near-synonyms in the first five: how often a concept stands there beside its broader one.

An indexer takes the concept that fits and seldom its broader one besides. A model scores both high,
for the same words speak for both, and the second takes a place from another concept. Two rules
lower a label once a relative (broader or narrower, one step) stands before it: by the same for all
pairs, or by more the seldomer the two stood together in training. How much is chosen on documents,
and measured on others (five folds).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.evaluation.measures import Measures, evaluate
from labelwise.evaluation.odds import log_odds, sigmoid
from labelwise.evaluation.ranking import top_k
from labelwise.evaluation.significance import randomisation_test

SHOWN = 5
DEPTH = 10
"""Places that a rule may change."""

FOLDS = 5
NEVER = 100.0
"""Of log-odds: as good as leaving the relative out."""

WEIGHTS = {"same": (0.25, 0.5, 1.0, 2.0, NEVER), "together": (0.1, 0.25, 0.5, 1.0, 2.0)}
"""What is tried of each rule."""

Relatives = Mapping[int, frozenset[int]]
"""By column, the columns of the broader and the narrower labels."""
Penalty = Callable[[int, int], float]
"""By how much the log-odds of the second label fall once the first stands before it."""


def relatives_of(space: LabelSpace, thesaurus: Thesaurus) -> dict[int, frozenset[int]]:
    """The relatives of each label that has some among the labels."""
    found: dict[int, frozenset[int]] = {}
    for id, column in space.index.items():
        if id in thesaurus.concepts:
            near = (*thesaurus[id].broader, *thesaurus[id].narrower)
            if known := frozenset(space.index[one] for one in near if one in space.index):
                found[column] = known
    return found


@dataclass(frozen=True)
class Crowding:
    """How often relatives stand together in lists of labels."""

    documents: float
    """The share of documents with a pair of relatives."""
    pairs: float
    """Pairs a document."""

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]], relatives: Relatives) -> Crowding:
        counts = [len(pairs(some, relatives)) for some in lists]
        return cls(float(np.mean([count > 0 for count in counts])), float(np.mean(counts)))


def pairs(some: Sequence[int], relatives: Relatives) -> list[tuple[int, int]]:
    """The pairs of relatives in a list, the one that stands before first."""
    nothing: frozenset[int] = frozenset()
    return [
        (one, other)
        for at, one in enumerate(some)
        for other in some[at + 1 :]
        if other in relatives.get(one, nothing)
    ]


@dataclass(frozen=True)
class Rule:
    """What a rule does: with each weight on all documents, and chosen on others."""

    by_weight: Mapping[str, Mapping[str, float]]
    chosen: float
    """The weight that all documents choose; 0 is no rule."""
    held_out: Mapping[str, float]
    difference: float
    """Of RP@5, on documents held out, against no rule."""
    p_value: float


@dataclass(frozen=True)
class Found:
    """Crowding of gold and of a model's first five, and what rules do to it."""

    relatives: int
    """Pairs of labels."""
    gold: Crowding
    model: Crowding
    right: Mapping[str, int]
    """Of the model's pairs: how often both are gold, the first alone, the second alone, none; and
    of those with one, how often it is the narrower."""
    plain: Mapping[str, float]
    rules: Mapping[str, Rule]


def measure_crowding(
    scores: NDArray[np.float32],
    gold: NDArray[np.bool_],
    space: LabelSpace,
    thesaurus: Thesaurus,
    together: Any,
) -> Found:
    """Documents × labels; ``together`` is labels × labels, training documents that carry both."""
    scored = Scored(scores, gold, space, relatives_of(space, thesaurus))
    first = top_k(scores, SHOWN).tolist()
    return Found(
        relatives=sum(map(len, scored.relatives.values())) // 2,
        gold=Crowding.of([row.nonzero()[0].tolist() for row in gold], scored.relatives),
        model=Crowding.of(first, scored.relatives),
        right=_right(scored, first, thesaurus),
        plain=_figures(scored.measured(scores)),
        rules={
            name: _rule(scored, WEIGHTS[name], penalty)
            for name, penalty in _penalties(space, together).items()
        },
    )


@dataclass(frozen=True, eq=False)
class Scored:
    """Documents × labels as a model scored them, and what is right."""

    scores: NDArray[np.float32]
    gold: NDArray[np.bool_]
    space: LabelSpace
    relatives: Relatives

    def measured(self, scores: NDArray[np.float32]) -> Measures:
        """The measures of other scores of the same documents."""
        return evaluate(scores, self.gold, self.space)


def lowered(
    scores: NDArray[np.float32], relatives: Relatives, penalty: Penalty
) -> NDArray[np.float32]:
    """The scores once the best label of each document was taken, then the best of what remains, and
    so on, where the relatives of a label that was taken fall."""
    found = scores.copy()
    for row, best in enumerate(top_k(scores, DEPTH).tolist()):
        if not pairs(best, relatives):
            continue
        odds = dict(zip(best, log_odds(scores[row, best]).tolist(), strict=True))
        while odds:
            taken = max(odds, key=lambda one: odds[one])
            found[row, taken] = sigmoid(np.asarray(odds.pop(taken)))
            for one in relatives.get(taken, ()):
                if one in odds:
                    odds[one] -= penalty(taken, one)
    return found


def _penalties(space: LabelSpace, together: Any) -> dict[str, Penalty]:
    counts = space.counts

    def apart(one: int, other: int) -> float:
        """How seldom the rarer of the two stands without the other: minus the log of the share."""
        both = float(together[one, other])
        return float(np.log((min(counts[one], counts[other]) + 1) / (both + 0.5)))

    return {"same": lambda _, __: 1.0, "together": apart}


def _rule(scored: Scored, weights: Sequence[float], penalty: Penalty) -> Rule:
    tried = {0.0: scored.scores} | {
        weight: lowered(scored.scores, scored.relatives, _times(weight, penalty))
        for weight in weights
    }
    measured = {weight: scored.measured(scores) for weight, scores in tried.items()}
    rp5 = {weight: one.counts.per_document("all", "RP@5") for weight, one in measured.items()}

    def best(documents: NDArray[np.bool_]) -> float:
        """The weight that does best on these documents; of two as good the lower one."""
        return max(rp5, key=lambda weight: (np.nanmean(rp5[weight][documents]), -weight))

    fold = np.random.default_rng(0).permutation(len(scored.scores)) % FOLDS
    chosen = np.empty_like(scored.scores)
    for held in range(FOLDS):
        here = fold == held
        chosen[here] = tried[best(~here)][here]
    after, known = scored.measured(chosen), ~np.isnan(rp5[0.0])
    test = randomisation_test(after.counts.per_document("all", "RP@5")[known], rp5[0.0][known])
    return Rule(
        by_weight={
            f"{weight:g}": _figures(measured[weight])
            | {"crowded": Crowding.of(top_k(of, SHOWN).tolist(), scored.relatives).documents}
            for weight, of in tried.items()
        },
        chosen=best(known),
        held_out=_figures(after),
        difference=test.difference,
        p_value=test.p_value,
    )


def _times(weight: float, penalty: Penalty) -> Penalty:
    return lambda one, other: weight * penalty(one, other)


def _figures(measures: Measures) -> dict[str, float]:
    return {name: float(measures["all"][name]) for name in ("RP@5", "nDCG@5")}


def _right(scored: Scored, first: Sequence[Sequence[int]], thesaurus: Thesaurus) -> dict[str, int]:
    kinds = {(True, True): "both", (True, False): "first", (False, True): "second"}
    found = dict.fromkeys((*kinds.values(), "none", "narrower"), 0)
    ids = scored.space.ids
    for row, some in zip(scored.gold, first, strict=True):
        for one, other in pairs(some, scored.relatives):
            kind = kinds.get((bool(row[one]), bool(row[other])), "none")
            found[kind] += 1
            if kind in {"first", "second"}:
                alone, left = (one, other) if kind == "first" else (other, one)
                found["narrower"] += ids[left] in thesaurus[ids[alone]].broader
    return found
