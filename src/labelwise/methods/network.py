"""What the networks have in common as methods: from documents to rows of numbers and back."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from labelwise.corpus.document import Document
from labelwise.errors import BundleError, LabelwiseError
from labelwise.layers import Embedding, prior_logits
from labelwise.layers.embedding import Learned
from labelwise.methods.base import (
    AnySettings,
    Evidence,
    EvidenceKind,
    Method,
    Scores,
    Settings,
    Span,
    State,
)
from labelwise.methods.explainers import EXPLAINERS, Asked, ExplainerName
from labelwise.methods.saved_weights import as_weights_of, load_weights, widened
from labelwise.schema import value
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.tokenizer import tokenize
from labelwise.text.vocabulary import Vocabulary
from labelwise.training.batches import Batch, Gatherer
from labelwise.training.device import choose_device
from labelwise.training.loop import Progress, RunFolder, train
from labelwise.training.numbered import Numbered, Reading, number
from labelwise.training.predict import predict
from labelwise.training.prepared import NumberedSplit, Prepared, prepare
from labelwise.training.recipe import Recipe, settings_of_result


@dataclass(frozen=True)
class NetworkSettings(Settings, Recipe):
    """The settings that all networks share: what is read, and how it is trained."""

    vectors: str | None = None
    """A file of pre-trained word vectors (GloVe or word2vec text, may be compressed). Without one
    the vectors start at random."""
    dim: int = 100
    """The width of random word vectors; a vector file has its own."""
    learned_vectors: Learned = "all"
    """Vectors are fine-tuned unless the method forbids it; freezing them was not compared."""
    min_count: int = 2
    """How often a word without a pre-trained vector must stand in the training documents to have a
    row of its own: nothing can be learned of a word met once."""
    max_tokens: int = 1200
    """The longest document, in tokens; what follows is not read. A BiGRU costs by its length."""
    dropout: float = 0.3
    """Spatial dropout, of word vectors and of encoded tokens; what was tried is in ``configs/``."""
    word_dropout: float = 0.0
    """Share of words read as unknown in training; 0 in every configuration that is kept."""
    scale_by_length: bool = False
    """The published formulas divide the attended sum by the number of tokens. The weights already
    sum to one and no known implementation divides: this is for those who want to try."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, dim=1, min_count=1, max_tokens=1)
        for name in ("dropout", "word_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise LabelwiseError(f"{name} must be from 0 to below 1, not {getattr(self, name)}")
        if self.learned_vectors not in ("all", "missing", "none"):
            raise LabelwiseError(
                f"learned_vectors must be all, missing or none, not {self.learned_vectors!r}"
            )


@dataclass(frozen=True)
class SectionSettings(NetworkSettings):
    """What the networks that read section by section share besides."""

    max_sections: int = 40
    """Sections kept of a document."""
    section_tokens: int = 400
    """The longest section, in tokens; what follows is not read."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, max_sections=1, section_tokens=1)


def require_whole(settings: object, **lowest: int) -> None:
    """Raise an error for the first of these settings that is not a whole number high enough."""
    for name, least in lowest.items():
        value = getattr(settings, name)
        if not isinstance(value, int) or value < least:
            raise LabelwiseError(f"{name} must be a whole number from {least}, not {value!r}")


@dataclass(frozen=True, eq=False)
class Material:
    """What a network is built from."""

    vectors: Tensor  # (V, E) word vectors by row of the vocabulary
    found: Tensor  # (V,) whether a row is a pre-trained vector
    prior: Tensor  # (L,) the logit of each label's share of the training documents
    descriptors: Tensor  # (L, E) mean word vector of each label's descriptor; Z- methods alone
    seen: int  # labels with training documents: the first columns


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


class Network(BaseNetwork):
    """A network that reads words by their vectors."""

    words: Embedding

    def __init__(self, material: Material, settings: Any) -> None:
        super().__init__()
        self.words = Embedding(
            material.vectors,
            material.found,
            settings.learned_vectors,
            settings.dropout,
            settings.word_dropout,
        )
        self.scale_by_length = settings.scale_by_length

    def scaled(self, x: Tensor, lengths: Tensor) -> Tensor:
        """What attention sums, or its sum, divided by the length where the setting asks for it."""
        if not self.scale_by_length:
            return x
        return x / lengths.view(-1, *[1] * (x.dim() - 1))


class NetworkMethod(Method):
    """A network as a method: a subclass names its network, its settings, and how it reads."""

    Settings: ClassVar[type[AnySettings]] = NetworkSettings
    network_type: ClassVar[type[Any]]
    by_section: ClassVar[bool] = False
    explainers = tuple(EXPLAINERS)
    explainer: ClassVar[str] = "attention"
    """Of the trained BIGRU-LWAN of results/eurlex57k it is far more faithful than gradient × input.
    Small networks (results/eurlex57k-seventh) say the opposite: to be measured on all networks."""

    run_dir: Path | None = None
    """Where ``fit`` keeps its checkpoint and its log; without it, nowhere."""
    resume: bool = False
    """Whether ``fit`` goes on from the checkpoint in ``run_dir``."""

    network: Any  # a BaseNetwork
    vocabulary: Any  # the Vocabulary of its words, or the Pieces of an encoder

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        settings = self.settings
        prepared = prepare(
            train,
            dev,
            self.label_space,
            vectors=settings.vectors,
            dim=settings.dim,
            min_count=settings.min_count,
            seed=settings.seed,
            cache=self.cache,
        )
        self.fit_prepared(prepared)

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
        with torch.random.fork_rng([]):
            torch.manual_seed(settings.seed)
            self.network = self._built(prepared)
        return train(
            self.network,
            prepared.train.examples(self.reading),
            prepared.dev.examples(self.reading),
            settings,
            name=self.name,
            run=RunFolder(self.run_dir, self.resume) if self.run_dir else None,
            identity=identity,
        )

    def _built(self, prepared: Prepared) -> BaseNetwork:
        """The network before it has learned anything."""
        network: BaseNetwork = self.network_type(self._material(prepared), self.settings)
        return network

    @property
    def reading(self) -> Reading:
        """How much of a document is read, and whether in one row or section by section."""
        if not self.by_section:
            return Reading(self.settings.max_tokens)
        s = self.settings
        return Reading(s.max_tokens, True, s.max_sections, s.section_tokens)

    def scores_of(self, split: NumberedSplit) -> Scores:
        """Score documents that are numbered already."""
        rows = split.examples(self.reading).documents
        return self._predict(rows)

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

        def weigh(rows: Numbered, columns: Tensor) -> Any:
            device = self._device()
            self.network.to(device).eval()
            gather = Gatherer(rows, device)
            asked = Asked(self.network, gather, columns.to(device), self.settings.precision)
            together = _in_order(explain(asked), gather([0]))
            sizes = abs(together).sum(axis=0)
            return together / np.where(sizes, sizes, 1)  # shares: their sizes sum to one

        return self._weigh(document, labels, kind, weigh)

    def _weigh(
        self,
        document: Document,
        labels: Sequence[str],
        kind: EvidenceKind,
        weigh: Callable[[Numbered, Tensor], Any],
    ) -> list[Evidence]:
        """Put the weights of the words read, which ``weigh`` gives, in their places in the text."""
        places = [
            (start + first, start + last)
            for start, section in zip(document.section_starts(), document.sections, strict=True)
            for first, last in self._places(section.text)
        ]
        rows = self._number([document])
        if not places:
            return [Evidence(label, kind, ()) for label in labels]
        columns = torch.tensor([self.label_space.index[label] for label in labels])
        weights = weigh(rows, columns)  # words read × labels
        read = [
            place
            for start, length in zip(rows.starts, rows.lengths, strict=True)
            for place in places[start : start + length]
        ]
        return [
            Evidence(
                label,
                kind,
                tuple(
                    Span(start, end, float(weight))
                    for (start, end), weight in zip(read, weights[:, column], strict=True)
                ),
            )
            for column, label in enumerate(labels)
        ]

    def _places(self, text: str) -> list[tuple[int, int]]:
        """Where the tokens of a section stand in its text."""
        return [(token.start, token.end) for token in tokenize(text)]

    def _number(self, documents: Sequence[Document]) -> Numbered:
        corpus = tokenize_corpus(documents)
        tokens = self.vocabulary.numbers(corpus)
        return number(tokens, corpus.section_starts, corpus.document_starts, self.reading)

    def _device(self) -> torch.device:
        """The device of the settings or, where this machine has no such, any."""
        try:
            return choose_device(self.settings.device)
        except LabelwiseError:
            return choose_device("auto")

    def _material(self, prepared: Prepared) -> Material:
        # Counted here: the label space may have been made from more documents than these.
        counts = np.asarray(prepared.train.gold.sum(axis=0, dtype=np.int64)).ravel()
        return Material(
            vectors=torch.from_numpy(prepared.vectors),
            found=torch.from_numpy(prepared.found.copy()),
            prior=prior_logits(counts, len(prepared.train.ids)),
            descriptors=torch.zeros(len(counts), 0),
            seen=int((self.label_space.counts > 0).sum()),
        )

    def state(self) -> State:
        _ = self.label_space  # says so where the method is not fitted yet
        arrays = {name: x.cpu().numpy() for name, x in self.network.state_dict().items()}
        return State(arrays, {"vocabulary": self.vocabulary.to_json()})

    def _restore(self, state: State) -> None:
        self.vocabulary = Vocabulary.from_json(value(state.values, "vocabulary", dict))
        tensors = widened(state.arrays)
        with as_weights_of(self):
            vectors, labels = tensors["words.weight"], len(self.label_space)
            if len(vectors) != len(self.vocabulary):
                raise BundleError(
                    f"this {self.name} has {len(vectors)} word vectors for "
                    f"{len(self.vocabulary)} words"
                )
            material = Material(
                vectors=vectors,
                found=torch.ones(len(vectors), dtype=torch.bool),
                prior=torch.zeros(labels),
                descriptors=torch.zeros(labels, vectors.shape[1]),
                seen=int((self.label_space.counts > 0).sum()),
            )
            self.network = self.network_type(material, self.settings)
            load_weights(self.network, tensors)


def _in_order(weights: Tensor, batch: Batch) -> Any:
    """The weights (S, T, columns) of the one document of a batch, word after word."""
    in_order = sorted(range(len(weights)), key=batch.position.tolist().__getitem__)
    weights = weights.double().cpu()
    read = [weights[row, : int(batch.cpu_lengths[row])] for row in in_order]
    return torch.cat(read).numpy()
