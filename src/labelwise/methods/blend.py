"""Blend: several trained methods as one, weighed by how often a label was seen.

A member's score of a label is a probability p; its log-odds are log(p / (1 - p)). The blend's are a
weighted sum of its members' and an offset, which change smoothly with the number of a label's
training documents (``mixing``) and are chosen on dev. Nothing is trained beyond these few numbers.

An unseen label is scored by the members that know labels by their descriptors (the Z- methods, the
encoders, Lexical, Exact Match) and by no other: what the others say of a label they never saw is
chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise import methods
from labelwise.corpus.document import Document
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import BundleError, LabelwiseError
from labelwise.evaluation.odds import log_odds, sigmoid
from labelwise.evaluation.threshold import tune_threshold
from labelwise.methods.base import (
    Evidence,
    EvidenceKind,
    Method,
    Resumable,
    Rounding,
    Scores,
    Settings,
    State,
    Widening,
    require_as_trained,
)
from labelwise.methods.members import members_state, restored_members
from labelwise.methods.mixing import Mixing
from labelwise.methods.spans import Spans
from labelwise.schema import value

FLOOR, CEILING = 1e-9, 1 - 1e-6
"""The lowest and the highest probability that a member is taken to mean: a zero is not minus
infinity. Below, differences still rank unseen labels; above, float32 tells hardly any apart."""


@dataclass(frozen=True)
class BlendSettings(Settings):
    """What a blend is made of."""

    members: tuple[str, ...] = ("svm", "minilm-lwan", "mpnet-lwan", "lexical")
    """Names of methods. Training a blend trains each with its own defaults; `labelwise join` makes
    one of saved bundles."""

    def __post_init__(self) -> None:
        if len(self.members) < 2:
            raise LabelwiseError("a blend is made of two methods or more")
        for name in self.members:
            methods.get(name)  # says so where there is none of this name


class Blend(Method):
    """Same seed, same scores, where that holds of every member."""

    name = "blend"
    Settings = BlendSettings
    settings: BlendSettings
    joined_from = BlendSettings.members
    run_dir: Path | None = None
    """Where ``fit`` keeps the checkpoints and logs of the networks among the members."""
    resume: bool = False
    """Whether ``fit`` goes on from the checkpoints in ``run_dir``."""

    members: tuple[Method, ...]
    mixing: Mixing

    @property
    def parts(self) -> tuple[Method, ...]:
        return self.members

    @classmethod
    def from_methods(cls, members: Sequence[Method], dev: Sequence[Document] = ()) -> Self:
        """Blend fitted methods, such as loaded bundles; dev documents set the weights.

        Without dev documents the members weigh the same.
        """
        method = cls._of(members)
        method.choose([member.scores(dev) for member in members], method.label_space.gold(dev))
        return method

    @classmethod
    def _of(cls, members: Sequence[Method]) -> Self:
        """A blend of these, not weighed yet."""
        require_as_trained(members)
        names = tuple(member.name for member in members)
        seed = max((int(member.settings.seed) for member in members), default=0)
        method = cls(BlendSettings(seed=seed, members=names))
        if len({member.label_space.fingerprint for member in members}) > 1:
            raise LabelwiseError(
                "the models have different labels or label counts: train all on the same data set"
            )
        method._label_space, method.members = members[0].label_space, tuple(members)
        return method

    @classmethod
    def like(cls, members: Sequence[Method], twin: Self) -> Self:
        """Blend fitted methods as others of the same kinds were: with their weights and threshold.

        Those of the twin were chosen with members that had fewer training documents, say.
        """
        method = cls._of(members)
        if method.settings.members != twin.settings.members:
            raise LabelwiseError(
                f"the blend to be like has the members {', '.join(twin.settings.members)}, not "
                f"{', '.join(method.settings.members)}: give them in that order"
            )
        method.mixing = twin.mixing
        method.take_over(twin)
        return method

    def in_eight_bits(self) -> Self:
        """The same model, with the large weights of its encoders in 8 bits."""
        small = type(self)(self.settings)
        small._label_space, small.mixing = self.label_space, self.mixing
        small.take_over(self)
        small.members = tuple(
            one.in_eight_bits() if isinstance(one, Rounding) else one for one in self.members
        )
        return small

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        trained: list[Method] = []
        for at, name in enumerate(self.settings.members):
            cls = methods.get(name)
            member = cls(cls.Settings(seed=self.settings.seed))
            member.cache, member.thesaurus = self.cache, self.thesaurus
            if isinstance(member, Resumable):
                member.resume = self.resume
                member.run_dir = self.run_dir / f"{at}-{name}" if self.run_dir else None
            member.fit(train, dev, self.label_space)
            trained.append(member)
        self.members = tuple(trained)
        self.choose([member.scores(dev) for member in trained], self.label_space.gold(dev))

    def choose(self, scores: Sequence[Scores], gold: sp.csr_matrix) -> None:
        """Choose the weights, and the threshold, by the members' scores of dev documents."""
        # A method that takes new labels knows them by their words, seen or not.
        knows_words = [isinstance(one, Widening) for one in self.members]
        asked = np.array([knows_words, [True] * len(self.members)])
        is_gold, counts = gold.toarray() > 0, self.label_space.counts
        self.mixing = Mixing.fitted([member_odds(one) for one in scores], is_gold, counts, asked)
        if is_gold.any():
            self.threshold = tune_threshold(self.joined(scores), gold)

    def _scores(self, documents: Sequence[Document]) -> Scores:
        return self._blended(documents, lambda member: member.scores(documents))

    def _best_scores(self, documents: Sequence[Document]) -> Scores:
        return self._blended(documents, lambda member: member.best_scores(documents))

    def _blended(self, documents: Sequence[Document], score: Callable[[Method], Scores]) -> Scores:
        unasked = np.zeros((len(documents), len(self.label_space)), dtype=np.float32)
        return self.joined(
            [
                score(member) if self._is_asked(at) else unasked
                for at, member in enumerate(self.members)
            ]
        )

    def _is_asked(self, member: int) -> bool:
        """Whether a member has weight for any label: what the others say does not matter."""
        return bool(self.mixing.weights[:, member].any())

    def joined(self, scores: Sequence[Scores]) -> Scores:
        """The scores of the blend from those of its members."""
        weights, offsets = self.mixing.for_labels(self.label_space.counts)
        # A label that no member can say anything of is not suggested.
        offsets = np.where(weights.any(axis=1), offsets, member_odds(np.zeros(1))[0])
        logits = np.tile(offsets.astype(np.float32), (len(scores[0]), 1))
        unseen = self.label_space.groups["zero"].start
        for member, of_member in enumerate(scores):
            if self._is_asked(member):
                # Labels may have been added that this member does not have.
                own = slice(None) if weights[unseen:, member].any() else slice(unseen)
                weight = weights[own, member].astype(np.float32)
                logits[:, own] += weight * member_odds(of_member[:, own])
        return sigmoid(logits.astype(np.float64)).astype(np.float32)

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        """The members' evidence, each times its weight for the label; one pass a member.

        Where all of it says how much a word was looked at, so does the sum (attention); where a
        member says what its n-grams add or take away, the sum does (contribution).
        """
        found: dict[str, list[tuple[float, Evidence]]] = {label: [] for label in labels}
        index, counts = self.label_space.index, self.label_space.counts
        of_labels, _ = self.mixing.for_labels(counts[[index[label] for label in labels]])
        for at, member in enumerate(self.members):
            weights = dict(zip(labels, of_labels[:, at].tolist(), strict=True))
            asked = [label for label, weight in weights.items() if weight]
            for one in member.evidence(document, asked) if asked else ():
                found[one.label].append((weights[one.label], one))
        return [together(label, found[label]) for label in labels]

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Self:
        """The same model with more labels, each scored from its names."""
        if not self.mixing.weights[0].any():
            raise LabelwiseError(
                "this blend cannot score a label that it was not trained for: none of its members "
                f"({', '.join(self.settings.members)}) knows labels by their descriptors"
            )
        wider = type(self)(self.settings)
        wider.members = tuple(
            one.with_labels(extra, thesaurus) if isinstance(one, Widening) else one
            for one in self.members
        )
        wider._label_space = max((one.label_space for one in wider.members), key=len)
        wider.mixing = self.mixing
        wider.take_over(self)
        return wider

    @property
    def card(self) -> dict[str, Any]:
        """The members, and what each counts for labels with so many training documents."""
        seen = [0, *np.exp(self.mixing.knots).round().astype(int).tolist()]
        return {
            "members": list(self.settings.members),
            "weights": [
                {"training documents": n, "weights": weights, "offset": offset}
                for n, weights, offset in zip(
                    seen,
                    self.mixing.weights.round(4).tolist(),
                    self.mixing.offsets.round(4).tolist(),
                    strict=True,
                )
            ],
        }

    def state(self) -> State:
        members = members_state(self.members, self.label_space)
        return State(members.arrays, {**members.values, "mixing": self.mixing.to_json()})

    def _restore(self, state: State) -> None:
        if "mixing" not in state.values:
            raise BundleError(
                "this blend was saved by a labelwise that weighed its members by group: join its "
                "members again"
            )
        self.members = restored_members(state, self.label_space)
        self.mixing = Mixing.from_json(value(state.values, "mixing", dict), len(self.members))


def member_odds(scores: NDArray[Any], floor: float = FLOOR) -> NDArray[np.float32]:
    """The log-odds of a member's scores, none of which is taken to be quite zero or one."""
    return log_odds(scores, floor, CEILING).astype(np.float32)


def together(label: str, parts: Sequence[tuple[float, Evidence]]) -> Evidence:
    """The weighted sum of several members' evidence for a label, as shares of the whole."""
    spoken = [(weight, one) for weight, one in parts if one.spans]
    if len(spoken) == 1:
        return spoken[0][1]
    kinds = {one.kind for _, one in spoken}
    telling: tuple[EvidenceKind, ...] = ("contribution", "attribution", "attention")
    kind = next((one for one in telling if one in kinds), "attention" if kinds else telling[0])
    if not spoken:
        return Evidence(label, kind, ())
    summed = Spans.added([Spans.of(one.spans).times(weight) for weight, one in spoken])
    return Evidence(label, kind, summed.times(1 / (np.abs(summed.weights).sum() or 1.0)))
