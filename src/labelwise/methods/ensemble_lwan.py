"""ENSEMBLE-LWAN: what was seen in training from BIGRU-LWAN, what was not from Z-BIGRU-LWAN.

Within a group the ranking is that of the member that scores it. Between groups the two are not on
one scale: the one has a bias for every label, the other one for all. So the logits of the zero-shot
labels are shifted by one number, chosen on dev for the highest RP@5 over all labels; of several as
good, the one closest to zero. Without dev documents nothing is shifted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import BundleError, LabelwiseError
from labelwise.evaluation.counts import at_k, bitmask
from labelwise.evaluation.odds import log_odds, sigmoid
from labelwise.evaluation.ranking import top_k
from labelwise.methods.base import Evidence, Method, Scores, State, require_as_trained
from labelwise.methods.base_network import require_whole
from labelwise.methods.bigru_lwan import BigruLwan, BigruLwanSettings
from labelwise.methods.members import members_state, restored_members
from labelwise.methods.network import NetworkSettings
from labelwise.methods.sparse_rows import named, parts_of
from labelwise.methods.z_bigru_lwan import ZBigruLwan, ZBigruLwanSettings
from labelwise.schema import number, value

SHIFTS = np.arange(-40, 41) / 4
"""What is tried on dev: logits from -10 to 10."""


@dataclass(frozen=True)
class EnsembleLwanSettings(NetworkSettings):
    """The settings that both members share; what they do not is named after the member."""

    units: int = 300
    """A direction, of BIGRU-LWAN."""
    layers: int = 1
    """Of both encoders."""
    z_units: int = 200
    """A direction, of Z-BIGRU-LWAN."""
    z_epochs: int = 11
    """Of Z-BIGRU-LWAN."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, units=1, layers=1, z_units=1, z_epochs=1)

    def members(self) -> tuple[BigruLwanSettings, ZBigruLwanSettings]:
        """The settings of BIGRU-LWAN, and those of Z-BIGRU-LWAN."""
        shared = {f.name: getattr(self, f.name) for f in dataclasses.fields(BigruLwanSettings)}
        of_z = shared | {"units": self.z_units, "epochs": self.z_epochs}
        del of_z["learned_vectors"]  # never those of the descriptors' words
        return BigruLwanSettings(**shared), ZBigruLwanSettings(**of_z)


class EnsembleLwan(Method):
    """BIGRU-LWAN for labels seen in training, Z-BIGRU-LWAN for those never seen."""

    name = "ensemble-lwan"
    Settings = EnsembleLwanSettings
    settings: EnsembleLwanSettings
    reads = "words"
    half_precision = True
    joined_from = (BigruLwan.name, ZBigruLwan.name)
    explainers = BigruLwan.explainers
    explainer = BigruLwan.explainer
    run_dir: Path | None = None
    """Where ``fit`` keeps the checkpoints and logs of the members; without it, nowhere."""
    resume: bool = False
    """Whether ``fit`` goes on from the checkpoints in ``run_dir``."""

    lwan: BigruLwan
    z: ZBigruLwan
    shift: float = 0.0
    """Added to the logits of zero-shot labels."""

    @property
    def parts(self) -> tuple[Method, ...]:
        return self.lwan, self.z

    @property
    def max_tokens(self) -> int:
        return self.settings.max_tokens

    @property
    def card(self) -> dict[str, Any]:
        """How far unseen labels are shifted."""
        return {"shift": self.shift}

    @classmethod
    def from_methods(cls, members: Sequence[Method], dev: Sequence[Document] = ()) -> Self:
        """Join two fitted methods, such as two loaded bundles; dev documents set the scale."""
        if len(members) != 2:
            raise LabelwiseError("ensemble-lwan joins two bundles: a bigru-lwan and a z-bigru-lwan")
        require_as_trained(members)
        lwan, z = members
        if not isinstance(lwan, BigruLwan) or not isinstance(z, ZBigruLwan):
            raise LabelwiseError(
                f"ensemble-lwan joins a bigru-lwan and a z-bigru-lwan, not {lwan.name} and {z.name}"
            )
        if lwan.label_space.fingerprint != z.label_space.fingerprint:
            raise LabelwiseError(
                "the two models have different labels or label counts: train both on the same "
                "data set"
            )
        shared = {
            f.name: getattr(lwan.settings, f.name) for f in dataclasses.fields(BigruLwanSettings)
        }
        method = cls(
            EnsembleLwanSettings(**shared, z_units=z.settings.units, z_epochs=z.settings.epochs)
        )
        method._label_space, method.lwan, method.z = lwan.label_space, lwan, z
        method._scale(dev)
        return method

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        settings, z_settings = self.settings.members()
        self.lwan, self.z = BigruLwan(settings), ZBigruLwan(z_settings)
        for member in (self.lwan, self.z):
            member.cache, member.resume = self.cache, self.resume
            member.thesaurus = self.thesaurus
            member.run_dir = self.run_dir / member.name if self.run_dir else None
            member.fit(train, dev, self.label_space)
        self._scale(dev)

    def _scale(self, dev: Sequence[Document]) -> None:
        gold = self.label_space.gold(dev)
        self.shift = 0.0
        if gold.nnz:
            self.choose([self.lwan.scores(dev), self.z.scores(dev)], gold)

    def choose(self, scores: Sequence[Scores], gold: sp.csr_matrix) -> None:
        """Choose the shift by the members' scores of dev documents."""
        lwan_scores, z_scores = scores
        zero = zero_logits(z_scores, self._seen)
        self.shift = best_shift(lwan_scores, zero, gold.toarray() > 0, self._seen)

    @property
    def _seen(self) -> int:
        """Columns that BIGRU-LWAN scores: they come before the zero-shot ones."""
        return int(self.label_space.groups["zero"].start)

    def _scores(self, documents: Sequence[Document]) -> Scores:
        return self.joined([self.lwan.scores(documents), self.z.scores(documents)])

    def joined(self, scores: Sequence[Scores]) -> Scores:
        """The scores of the ensemble from those of its members."""
        lwan_scores, z_scores = scores
        zero = sigmoid(zero_logits(z_scores, self._seen) + self.shift)
        return np.concatenate([lwan_scores[:, : self._seen], zero.astype(np.float32)], axis=1)

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        return self._explained(document, labels, self.explainer)

    def _explained(
        self, document: Document, labels: Sequence[str], explainer: str
    ) -> list[Evidence]:
        """The evidence of the member that scores each label; one pass a member."""
        unseen = [label for label in labels if self.label_space.index[label] >= self._seen]
        seen = [label for label in labels if label not in unseen]
        found = self.lwan.evidence(document, seen, explainer) if seen else []
        found += self.z.evidence(document, unseen, explainer) if unseen else []
        by_label = {one.label: one for one in found}
        return [by_label[label] for label in labels]

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Self:
        """The same model with more labels, each scored from its descriptor alone."""
        wider = type(self)(self.settings)
        wider.lwan, wider.z = self.lwan, self.z.with_labels(extra, thesaurus)
        wider._label_space = wider.z.label_space
        wider.shift = self.shift
        wider.take_over(self)
        return wider

    def state(self) -> State:
        space = self.label_space  # says so where the method is not fitted yet
        members = members_state((self.lwan, self.z), space)
        return State(members.arrays, {**members.values, "shift": self.shift})

    def _restore(self, state: State) -> None:
        self.shift = number(state.values, "shift")
        if "members" not in state.values:
            state = _in_order(state)
        members = restored_members(state, self.label_space)
        match members:
            case BigruLwan() as lwan, ZBigruLwan() as z:
                self.lwan, self.z = lwan, z
            case _:
                names = " and ".join(member.name for member in members)
                raise BundleError(f"its members are bigru-lwan and z-bigru-lwan, not {names}")


def _in_order(state: State) -> State:
    """The state of an ensemble that was saved when its members stood there by name."""
    settings, values = (value(state.values, name, dict) for name in ("settings", "values"))
    arrays: dict[str, NDArray[Any]] = {}
    members = []
    for at, (key, cls) in enumerate({"lwan": BigruLwan, "z": ZBigruLwan}.items()):
        arrays |= named(str(at), parts_of(state.arrays, key))
        labels = state.values.get(f"{key}_labels")  # those of z are the ensemble's
        members.append(
            {
                "method": cls.name,
                "settings": settings.get(key),
                "labels": labels,
                "values": values.get(key),
            }
        )
    return State(arrays, {"members": members})


def zero_logits(z_scores: Scores, seen: int) -> NDArray[np.float64]:
    """The logits of the zero-shot labels, which come after those seen."""
    return log_odds(z_scores[:, seen:])


def best_shift(
    seen_scores: Scores, zero_logits: NDArray[np.float64], gold: NDArray[np.bool_], seen: int
) -> float:
    """The shift of the zero-shot logits with the highest RP@5 over all labels."""
    labels = gold.sum(1)
    kept = labels > 0
    figures = []
    for shift in SHIFTS:
        zero = sigmoid(zero_logits + shift)
        scores = np.concatenate([seen_scores[:, :seen], zero.astype(np.float32)], axis=1)
        ranked = top_k(scores, 5)
        hits = np.take_along_axis(gold, np.maximum(ranked, 0), axis=1) & (ranked >= 0)
        figures.append(float(at_k("RP@5", bitmask(hits[kept]), labels[kept]).mean()))
    best = max(range(len(SHIFTS)), key=lambda at: (figures[at], -abs(SHIFTS[at])))
    return float(SHIFTS[best])
