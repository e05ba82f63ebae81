"""What the Z- methods share: labels that are known by the words of their descriptors alone."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import BundleError, LabelwiseError
from labelwise.kernels.label_attention import attention_weights, label_attention
from labelwise.layers import Descriptors
from labelwise.layers.embedding import Learned
from labelwise.methods.attending import AttendingNetwork
from labelwise.methods.base import State, UnknownDescriptorError
from labelwise.methods.network import Material, NetworkMethod, NetworkSettings
from labelwise.schema import WHOLE, array
from labelwise.text.tokenizer import words
from labelwise.text.vocabulary import UNKNOWN
from labelwise.training.batches import Batch
from labelwise.training.prepared import Prepared


@dataclass(frozen=True)
class ZeroShotSettings(NetworkSettings):
    learned_vectors: Learned = "missing"
    """Pre-trained vectors and those of descriptor words stay frozen, so that descriptors and
    documents keep speaking of the same words; the others (numbers, EU jargon) are learned. Without
    a vector file all are frozen as they were drawn."""
    project: bool = True
    """Learn a projection of the encoded tokens to the width of the word vectors, so that the
    encoder may be wider. Off, as published, their widths must agree."""
    learn_zero: bool = False
    """Whether zero-shot labels of the label space are negatives in training. They are not here: a
    network told a thousand times that a descriptor is wrong will not find it right later."""


class ZeroShotNetwork(AttendingNetwork):
    """Descriptor attention and its dot-product decoder; a subclass adds the word encoder."""

    descriptors: Descriptors

    def __init__(self, material: Material, settings: ZeroShotSettings) -> None:
        super().__init__(material, settings)
        self.seen = len(material.prior) if settings.learn_zero else material.seen

    def decode_with_descriptors(self, width: int, material: Material, project: bool) -> None:
        """Add the parts behind the encoder, which is ``width`` wide."""
        words_wide = material.vectors.shape[1]
        if not project and width != words_wide:
            raise LabelwiseError(
                f"without project, encoded tokens ({width} wide) must have the width of the word "
                f"vectors ({words_wide}): set the units or filters for it, or project"
            )
        # One bias for all labels: the logit of the mean share of documents that a label has.
        share = material.prior[: material.seen].sigmoid().mean().clamp(1e-6, 0.5)
        prior = float(share.logit()) if material.seen else 0.0
        self.descriptors = Descriptors(width, material.descriptors, prior, project)

    def encode(self, batch: Batch) -> Tensor:
        raise NotImplementedError

    def forward(self, batch: Batch) -> Tensor:
        h = self.encode(batch)  # (D, T, H)
        v, p = self.descriptors(h)  # (D, T, E) twice
        u = self.descriptors.vectors  # (L, E)
        u = u[: self.seen] if self.training else u
        values = self.scaled(p, batch.lengths)
        return label_attention(v, batch.cpu_lengths, u, u, self.descriptors.bias, values=values)

    def weighed(self, batch: Batch, columns: Tensor) -> tuple[Tensor, Tensor]:
        v, p = self.descriptors(self.encode(batch))
        u = self.descriptors.vectors[columns]
        values = self.scaled(p, batch.lengths)
        return attention_weights(v, batch.lengths, u), values @ u.T + self.descriptors.bias


class ZeroShotMethod(NetworkMethod):
    """A method whose label set can change after training."""

    Settings = ZeroShotSettings
    settings: ZeroShotSettings
    network: ZeroShotNetwork
    known: NDArray[np.bool_]
    """(V,) the words that descriptors are made of: those whose vector training leaves alone."""

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Self:
        """The same model with more labels, each scored from its descriptor alone, as all are."""
        old = self.label_space
        space = old.with_labels(extra)
        vectors = torch.zeros(len(space), self.network.words.weight.shape[1])
        there = torch.tensor([space.index[id] for id in old.ids], dtype=torch.int64)
        vectors[there] = self.network.descriptors.vectors.cpu()
        weight = self.network.words.weight.detach().cpu()
        for id, descriptor in extra.items():
            vector = self._vector(descriptor, weight)
            if vector is None:
                raise UnknownDescriptorError(id, descriptor)
            vectors[space.index[id]] = vector
            if unknown := self._unknown(descriptor):
                warnings.warn(
                    f"the label {id} is scored without the words of its descriptor that this model "
                    f"does not know: {', '.join(unknown)}",
                    stacklevel=2,
                )

        wider = type(self)(self.settings)
        wider._label_space, wider.vocabulary, wider.known = space, self.vocabulary, self.known
        wider.take_over(self)
        wider.network = deepcopy(self.network).cpu()
        wider.network.descriptors.vectors = vectors
        return wider

    def _vector(self, descriptor: str, weight: Tensor) -> Tensor | None:
        """The mean vector of a descriptor's known words; None where it has none."""
        rows = [row for row in self.vocabulary.lookup(words(descriptor)) if self.known[row]]
        return weight[torch.tensor(rows, dtype=torch.int64)].mean(0) if rows else None

    def _unknown(self, descriptor: str) -> list[str]:
        """The words of a descriptor that take no part in its vector; a mark is no word."""
        found = words(descriptor)
        rows = self.vocabulary.lookup(found)
        return [
            word
            for word, row in zip(found, rows, strict=True)
            if not self.known[row] and word[0].isalnum()
        ]

    def _material(self, prepared: Prepared) -> Material:
        material = super()._material(prepared)
        word_vectors, self.known = self._frozen(material.vectors, prepared.found)
        vectors = [
            self._vector(label.descriptor, word_vectors) for label in self.label_space.labels
        ]
        if unknown := [
            f"{label.id} ('{label.descriptor}')"
            for label, vector in zip(self.label_space.labels, vectors, strict=True)
            if vector is None
        ]:
            shown = ", ".join(unknown[:5]) + (" and more" if len(unknown) > 5 else "")
            warnings.warn(
                f"{len(unknown)} labels have a descriptor without a known word, so that "
                f"{self.name} scores them alike: {shown}",
                stacklevel=2,
            )
        nothing = torch.zeros(word_vectors.shape[1])
        return Material(
            vectors=word_vectors,
            found=torch.from_numpy(self.known.copy()),
            prior=material.prior,
            descriptors=torch.stack([nothing if v is None else v for v in vectors]),
            seen=material.seen,
        )

    def _frozen(
        self, vectors: Tensor, found: NDArray[np.bool_]
    ) -> tuple[Tensor, NDArray[np.bool_]]:
        """The word vectors, and which of them training leaves alone.

        These are the pre-trained ones, and those of descriptor words that have none: a random
        vector still says that a document and a descriptor hold the same word, if it is as long as
        the others. Without a vector file all vectors are random, and all are left alone.
        """
        known = found.copy()
        if not found.any():
            known[UNKNOWN + 1 :] = True
            return vectors / vectors.std(), known
        descriptors = (
            word for label in self.label_space.labels for word in words(label.descriptor)
        )
        rows = self.vocabulary.lookup(sorted(set(descriptors)))
        missing = rows[(rows > UNKNOWN) & ~found[rows]]
        known[missing] = True
        vectors = vectors.clone()
        if len(missing):
            longer = vectors[torch.from_numpy(found.copy())].std() / vectors[missing].std()
            vectors[missing] *= longer
        return vectors, known

    def state(self) -> State:
        state = super().state()
        return State({**state.arrays, "known": self.known.astype(np.uint8)}, state.values)

    def _restore(self, state: State) -> None:
        arrays = dict(state.arrays)
        self.known = array(arrays, "known", (None,), WHOLE).astype(bool)
        del arrays["known"]
        super()._restore(State(arrays, state.values))
        if len(self.known) != len(self.vocabulary):
            raise BundleError(
                f"this {self.name} says of {len(self.known)} words that it knows them, and has "
                f"{len(self.vocabulary)}"
            )
