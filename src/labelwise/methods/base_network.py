"""What all networks have in common as methods: from documents to rows of numbers and back."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.methods.base import (
    Evidence,
    EvidenceKind,
    Method,
    Scores,
    Settings,
)
from labelwise.methods.explainers import EXPLAINERS, Asked, ExplainerName
from labelwise.methods.spans import Spans
from labelwise.text.pieces import Pieces
from labelwise.text.vocabulary import Vocabulary
from labelwise.training.batches import Batch, Gatherer
from labelwise.training.device import choose_device
from labelwise.training.loop import Progress, RunFolder, train
from labelwise.training.numbered import Numbered, Reading
from labelwise.training.predict import predict
from labelwise.training.prepared import NumberedSplit, Prepared
from labelwise.training.recipe import Recipe, settings_of_result
from labelwise.training.siblings import siblings

Weights = NDArray[np.float64]
"""Words read × labels."""


@dataclass(frozen=True)
class BaseNetworkSettings(Settings, Recipe):
    """The settings that all networks share: how they are trained."""


def require_whole(settings: object, **lowest: int) -> None:
    """Raise an error for the first of these settings that is not a whole number high enough."""
    for name, least in lowest.items():
        value = getattr(settings, name)
        if not isinstance(value, int) or value < least:
            raise LabelwiseError(f"{name} must be a whole number from {least}, not {value!r}")


class BaseNetwork(nn.Module, ABC):
    """A network reads a batch and scores all labels. Its parts are attributes of the subclass."""

    words: nn.Module
    """The first part: from the tokens (S, T) to a vector each (S, T, E)."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """The logits: (D, L)."""

    @abstractmethod
    def attend(self, batch: Batch, columns: Tensor) -> Tensor:
        """What the one document of the batch is attended to for these labels: (S, T, columns).

        The weights of a label sum to one over all its sections.
        """

    def logits(self, batch: Batch, columns: Tensor) -> Tensor:
        """The logits of these labels alone: (D, columns). Faster where a network can."""
        found: Tensor = self(batch)[:, columns]
        return found


class BaseNetworkMethod(Method):
    """A network as a method: a subclass says what it reads, and how it is built and saved."""

    Settings: ClassVar[type[BaseNetworkSettings]] = BaseNetworkSettings
    settings: BaseNetworkSettings
    half_precision = True
    explainers = tuple(EXPLAINERS)
    explainer: ClassVar[str] = "attention"
    """On dev AttInGrad is a little more faithful (docs/evidence.md), but needs a pass back for each
    label, where attention costs hardly more for ten labels than for one."""

    run_dir: Path | None = None
    """Where ``fit`` keeps its checkpoint and its log; without it, nowhere."""
    resume: bool = False
    """Whether ``fit`` goes on from the checkpoint in ``run_dir``."""

    network: BaseNetwork
    vocabulary: Vocabulary | Pieces

    def fit_prepared(self, prepared: Prepared) -> Progress:
        """Learn from a corpus that is numbered already."""
        self._label_space, self.vocabulary = prepared.label_space, prepared.vocabulary
        settings = self.settings
        identity = settings_of_result(settings) | {
            "method": self.name,
            "labels": self.label_space.fingerprint,
            "vocabulary": self.vocabulary.fingerprint,
            "training documents": prepared.train.digest,
            "dev documents": prepared.dev.digest,
            "vectors": zlib.crc32(prepared.vectors.tobytes()),
        }
        groups = None
        if settings.loss == "hbm":
            groups = siblings(self.label_space, prepared.thesaurus)
            identity["siblings"] = zlib.crc32(groups.tobytes())
        with torch.random.fork_rng([]):
            torch.manual_seed(settings.seed)
            self.network = self._built(prepared)
        return train(
            self.network,
            prepared.train.rows(self.reading),
            prepared.dev.rows(self.reading),
            settings,
            name=self.name,
            run=RunFolder(self.run_dir, self.resume) if self.run_dir else None,
            identity=identity,
            siblings=groups,
        )

    @abstractmethod
    def _built(self, prepared: Prepared) -> BaseNetwork:
        """The network before it has learned anything."""

    @property
    @abstractmethod
    def reading(self) -> Reading:
        """How much of a document is read, and whether in one row or section by section."""

    @property
    def max_tokens(self) -> int:
        return self.reading.max_tokens

    def scores_of(self, split: NumberedSplit) -> Scores:
        """Score documents that are numbered already."""
        return self._predict(split.rows(self.reading))

    def _scores(self, documents: Sequence[Document]) -> Scores:
        return self._predict(self._number(documents))

    def _predict(self, rows: Numbered, forward: Callable[[Batch], Tensor] | None = None) -> Scores:
        device = self._device()
        self.network.to(device)
        labels = len(self.label_space)
        return predict(self.network, Gatherer(rows, device), self.settings, labels, forward)

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        return self._explained(document, labels, self.explainer)

    def _explained(
        self, document: Document, labels: Sequence[str], explainer: str
    ) -> list[Evidence]:
        """A weight for each word read, by an explainer of ``methods.explainers``."""
        kind, explain = EXPLAINERS[cast(ExplainerName, explainer)]

        def weights_of(rows: Numbered, columns: Tensor) -> Weights:
            device = self._device()
            self.network.to(device).eval()
            gather = Gatherer(rows, device)
            asked = Asked(self.network, gather, columns.to(device), self.settings.precision)
            together = in_order(explain(asked), gather([0]))
            sizes = abs(together).sum(axis=0)
            return together / np.where(sizes, sizes, 1)  # shares: their sizes sum to one

        return self._spread(document, labels, kind, weights_of)

    def _spread(
        self,
        document: Document,
        labels: Sequence[str],
        kind: EvidenceKind,
        weights_of: Callable[[Numbered, Tensor], Weights],
    ) -> list[Evidence]:
        """Put what ``weights_of`` gives for the words read in their places in the text."""
        rows = self._number([document])
        places = [
            (start + first, start + last)
            for start, section in zip(document.section_starts(), document.sections, strict=True)
            for first, last in self._places(section.text)
        ]
        if not places:
            return [Evidence(label, kind, ()) for label in labels]
        columns = torch.tensor([self.label_space.index[label] for label in labels])
        weights = weights_of(rows, columns)  # words read × labels
        read = [
            place
            for start, length in zip(rows.starts, rows.lengths, strict=True)
            for place in places[start : start + length]
        ]
        starts, ends = np.array(read, dtype=np.int64).T
        return [
            Evidence(label, kind, Spans(starts, ends, weights[:, column]))
            for column, label in enumerate(labels)
        ]

    @abstractmethod
    def _places(self, text: str) -> list[tuple[int, int]]:
        """Where the tokens of a section stand in its text."""

    @abstractmethod
    def _number(self, documents: Sequence[Document]) -> Numbered: ...

    def _device(self) -> torch.device:
        """The device of the settings or, where this machine has no such, any."""
        try:
            return choose_device(self.settings.device)
        except LabelwiseError:
            return choose_device("auto")


def in_order(weights: Tensor, batch: Batch) -> Weights:
    """The weights (S, T, columns) of the one document of a batch, word after word."""
    in_order = sorted(range(len(weights)), key=batch.position.tolist().__getitem__)
    weights = weights.double().cpu()
    read = [weights[row, : int(batch.cpu_lengths[row])] for row in in_order]
    return torch.cat(read).numpy()
