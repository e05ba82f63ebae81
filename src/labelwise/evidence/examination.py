"""Attention examined, as Jain and Wallace (2019) did and Wiegreffe and Pinter (2019) answered.

Jain and Wallace: attention is no explanation if it disagrees with gradients, or if another one
gives the same score. For a document and a label:

correlation   Kendall's τ of attention and |gradient × input| over the words. Their gradients stop
              at the attention; ours go through it, as the score does
permutation   the attention shuffled over the words, many times: the median change of the score
adversary     the attention that is furthest from the network's own, by the Jensen-Shannon
              divergence (0 the same, ln 2 = .693 no word in common), and moves the score by less
              than ε

Wiegreffe and Pinter: that another attention exists does not make this one wrong; ask also

uniform       the same network with equal weights for all words: does it need attention at all?
              They train such a network anew; this one is only read so
other seed    how far the attention of a network trained from another seed lies from this one

Their trained adversary is left out: it is one more training of each network, with the attention of
every document and label in its loss.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau
from torch import Tensor

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.odds import sigmoid
from labelwise.evidence.predictions import rank
from labelwise.methods.attending import Attended, attended
from labelwise.methods.network import NetworkMethod

FURTHEST = math.log(2)
"""The divergence of two attentions without a word in common."""

PENALTY = 3.0
"""Of a logit that leaves its range, by as much as one: far more than divergence can gain."""

PACE = 0.3
"""Adam's learning rate at first, for the logarithms of attention weights; it falls to zero."""


@dataclass(frozen=True)
class ExaminationPlan:
    """What is examined."""

    top: int = 3
    """The best labels of each document."""
    permutations: int = 100
    """As Jain and Wallace took."""
    epsilon: float = 0.01
    """What the adversary may move a score by: theirs for two classes."""
    starts: int = 4
    """Beginnings of the adversary, of which the best counts."""
    steps: int = 300
    """Of the adversary; twice as many find next to nothing more in a document of 300 words."""
    seed: int = 0
    """Of all that is drawn."""


@dataclass(frozen=True)
class Pair:
    """A document and a label."""

    document: str
    label: str
    score: float
    strongest: float
    """The largest attention weight."""
    correlation: float
    permuted: float
    """The median change of the score."""
    adversary: float
    """The largest divergence found within ε."""
    uniform: float
    """The change of the score."""
    other_divergence: float | None = None
    other_change: float | None = None


@dataclass(frozen=True)
class Examination:
    """All pairs, and RP@5 of the documents with the network's attention and with equal weights."""

    plan: ExaminationPlan
    pairs: tuple[Pair, ...]
    precision: float
    precision_uniform: float


def examine(
    method: NetworkMethod,
    documents: Iterable[Document],
    plan: ExaminationPlan | None = None,
    other: NetworkMethod | None = None,
) -> Examination:
    """Examine the attention of a network; ``other`` is the same one trained from another seed.

    Documents of fewer than two words have no attention to speak of, and are left out.
    """
    plan = plan or ExaminationPlan()
    space = method.label_space
    if other is not None and other.label_space.fingerprint != space.fingerprint:
        raise LabelwiseError("the two networks have different labels: train both on the same data")
    pairs: list[Pair] = []
    read: list[Document] = []
    own, equal = [], []  # (L,) scores of each document
    for document in documents:
        whole = attended(method, document, space.ids)
        if len(whole.attention) < 2:
            continue
        own.append(sigmoid(whole.logits))
        equal.append(sigmoid(whole.judged.mean(axis=0)))
        labels = [one.label.id for one in rank(own[-1].astype(np.float32), space, top=plan.top)]
        columns = [space.index[label] for label in labels]
        chosen = Attended(whole.attention[:, columns], whole.judged[:, columns])
        felt = method.evidence(document, labels, "gradient")
        sizes = np.array([[abs(span.weight) for span in one.spans] for one in felt]).T
        pairs += _pairs(document, labels, chosen, sizes, plan)
        if other is not None:
            pairs[-len(labels) :] = _beside(
                pairs[-len(labels) :], chosen, attended(other, document, labels)
            )
        read.append(document)
    if not pairs:
        raise LabelwiseError("no document has two words")
    gold = space.gold(read)

    def precision(scores: Sequence[NDArray[np.float64]]) -> float:
        rows = np.stack(scores).astype(np.float32)
        return float(evaluate(rows, gold, space).values["all"]["RP@5"])

    return Examination(plan, tuple(map(_rounded, pairs)), precision(own), precision(equal))


def _pairs(
    document: Document,
    labels: Sequence[str],
    chosen: Attended,
    felt: NDArray[np.float64],  # |gradient × input|, (words, labels)
    plan: ExaminationPlan,
) -> list[Pair]:
    random = np.random.default_rng([plan.seed, zlib.crc32(document.id.encode("utf-8", "replace"))])
    scores = sigmoid(chosen.logits)  # (labels,)
    moved = sigmoid(chosen.judged.mean(axis=0)) - scores
    furthest = adversary(chosen, plan, random)
    pairs = []
    for place, label in enumerate(labels):
        weights, judged = chosen.attention[:, place], chosen.judged[:, place]
        shuffled = random.permuted(np.tile(weights, (plan.permutations, 1)), axis=1)
        changes = abs(sigmoid(shuffled @ judged) - scores[place])
        pairs.append(
            Pair(
                document=document.id,
                label=label,
                score=float(scores[place]),
                strongest=float(weights.max()),
                correlation=float(kendalltau(weights, felt[:, place]).statistic),
                permuted=float(np.median(changes)),
                adversary=float(furthest[place]),
                uniform=float(abs(moved[place])),
            )
        )
    return pairs


def _rounded(pair: Pair) -> Pair:
    """With as many digits as a figure can show."""
    figures: dict[str, Any] = {
        name: round(value, 5) for name, value in vars(pair).items() if isinstance(value, float)
    }
    return replace(pair, **figures)


def _beside(pairs: Sequence[Pair], chosen: Attended, theirs: Attended) -> list[Pair]:
    """The pairs of one document with how far the other network's attention and score lie."""
    if len(theirs.attention) != len(chosen.attention):
        raise LabelwiseError(
            f"the two networks do not read the same words of {pairs[0].document}: train both with "
            "the same settings"
        )
    apart = divergence(
        torch.from_numpy(chosen.attention.T), torch.from_numpy(theirs.attention.T)
    ).tolist()
    changes = abs(sigmoid(theirs.logits) - sigmoid(chosen.logits)).tolist()
    return [
        replace(pair, other_divergence=far, other_change=change)
        for pair, far, change in zip(pairs, apart, changes, strict=True)
    ]


def adversary(
    chosen: Attended, plan: ExaminationPlan, random: np.random.Generator
) -> NDArray[np.float64]:
    """The largest divergence found, for each label, of an attention that moves its score by less
    than ε: (labels,). Zero, the network's own attention, where none was found.

    The scores follow from the attention by a product, so that thousands of steps cost little.
    """
    weights = torch.from_numpy(chosen.attention).T[:, None]  # (labels, 1, words)
    judged = torch.from_numpy(chosen.judged).T[:, None]
    scores = torch.from_numpy(sigmoid(chosen.logits))[:, None]  # (labels, 1)
    lowest, highest = (scores - plan.epsilon).clamp(min=0), (scores + plan.epsilon).clamp(max=1)
    drawn = random.standard_normal((len(weights), plan.starts, weights.shape[2]))
    logarithms = torch.from_numpy(drawn).requires_grad_()
    adam = torch.optim.Adam([logarithms])
    best = torch.zeros(len(weights), dtype=weights.dtype)
    with torch.enable_grad():
        for step in range(plan.steps):
            adam.param_groups[0]["lr"] = PACE * (1 - step / plan.steps)
            tried = logarithms.softmax(2)  # (labels, starts, words)
            logits = (tried * judged).sum(2)
            apart = divergence(weights, tried)  # (labels, starts)
            within = (logits.sigmoid() - scores).abs() < plan.epsilon
            best = torch.maximum(best, torch.where(within, apart, 0).amax(1).detach())
            # On logits: where the score is near 0 or 1 it hardly moves, and tells no way back.
            beyond = (lowest.logit() - logits).relu() + (logits - highest.logit()).relu()
            loss = (PENALTY * beyond - apart).sum()
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
    return best.numpy()


def divergence(one: Tensor, other: Tensor) -> Tensor:
    """The Jensen-Shannon divergence of two attentions, over the last axis.

    >>> round(divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])).item(), 3)
    0.693
    """
    middle = (one + other) / 2

    def from_middle(weights: Tensor) -> Tensor:
        return torch.xlogy(weights, weights / middle.clamp(min=1e-300)).sum(-1)

    return (from_middle(one) + from_middle(other)) / 2
