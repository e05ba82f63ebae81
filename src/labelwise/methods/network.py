"""Networks that read words by their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from labelwise.corpus.document import Document
from labelwise.errors import BundleError, LabelwiseError
from labelwise.layers import Embedding, SequenceDropout, prior_logits
from labelwise.layers.embedding import Learned
from labelwise.methods.base import State, VectorSettings
from labelwise.methods.base_network import (
    BaseNetwork,
    BaseNetworkMethod,
    BaseNetworkSettings,
    require_whole,
)
from labelwise.methods.saved_weights import as_weights_of, load_weights, widened
from labelwise.schema import value
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.tokenizer import tokenize
from labelwise.text.vocabulary import Vocabulary
from labelwise.training.numbered import Numbered, Reading, number
from labelwise.training.prepared import Prepared, prepare


@dataclass(frozen=True)
class NetworkSettings(VectorSettings, BaseNetworkSettings):
    """The settings of networks that read words: what is read, and how they are trained."""

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
    """Of word vectors and of encoded tokens."""
    encoded_dropout: float | None = None
    """Of encoded tokens, where another one than that of word vectors is wanted."""
    plain_dropout: bool = False
    """Dropout leaves out each number by itself; else whole channels, at every token of a row."""
    word_dropout: float = 0.0
    """Share of words read as unknown in training; 0 in every configuration that is kept."""
    scale_by_length: bool = False
    """The published formulas divide the attended sum by the number of tokens. The weights already
    sum to one and no known implementation divides: this is for those who want to try."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, dim=1, min_count=1, max_tokens=1)
        for name in ("dropout", "encoded_dropout", "word_dropout"):
            rate = getattr(self, name)
            if rate is not None and not 0 <= rate < 1:
                raise LabelwiseError(f"{name} must be from 0 to below 1, not {rate}")
        if self.learned_vectors not in ("all", "missing", "none"):
            raise LabelwiseError(
                f"learned_vectors must be all, missing or none, not {self.learned_vectors!r}"
            )

    @property
    def dropout_of_encoded(self) -> float:
        return self.dropout if self.encoded_dropout is None else self.encoded_dropout


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


@dataclass(frozen=True, eq=False)
class Material:
    """What a network is built from."""

    vectors: Tensor  # (V, E) word vectors by row of the vocabulary
    found: Tensor  # (V,) whether a row is a pre-trained vector
    prior: Tensor  # (L,) the logit of each label's share of the training documents
    descriptors: Tensor  # (L, E) mean word vector of each label's descriptor; Z- methods alone
    seen: int  # labels with training documents: the first columns


class Network(BaseNetwork):
    """A network that reads words by their vectors."""

    words: Embedding

    def __init__(self, material: Material, settings: NetworkSettings) -> None:
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


class NetworkMethod(BaseNetworkMethod):
    """A network of words as a method: a subclass names its network and its settings."""

    Settings: ClassVar[type[BaseNetworkSettings]] = NetworkSettings
    settings: NetworkSettings
    reads = "words"
    readings: ClassVar[tuple[str, ...]] = ("max_tokens",)
    network_type: ClassVar[type[Network]]
    network: Network
    vocabulary: Vocabulary

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
            thesaurus=self.thesaurus.about(self.label_space.ids) if self.thesaurus else None,
        )
        self.fit_prepared(prepared)

    def _built(self, prepared: Prepared) -> Network:
        network = self.network_type(self._material(prepared), self.settings)
        for part in network.modules():
            if isinstance(part, SequenceDropout):
                part.plain = self.settings.plain_dropout
        return network

    @property
    def reading(self) -> Reading:
        s = self.settings
        if isinstance(s, SectionSettings):
            return Reading(s.max_tokens, True, s.max_sections, s.section_tokens)
        return Reading(s.max_tokens)

    def _places(self, text: str) -> list[tuple[int, int]]:
        return [(token.start, token.end) for token in tokenize(text)]

    def _number(self, documents: Sequence[Document]) -> Numbered:
        corpus = tokenize_corpus(documents)
        return number(corpus.renumbered(self.vocabulary.numbers(corpus)), self.reading)

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
