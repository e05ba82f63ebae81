"""A pretrained transformer that reads, and label-wise attention for seen and unseen labels.

word encoder       a transformer (BERT, MPNet), over pieces of up to 512 tokens side by side
document encoder   label-wise attention over the tokens of all pieces
document decoder   one linear unit a label
label side         a label's query and output are a projection of its descriptor's embedding, by the
                   encoder as it was before training, and a learned part (``layers.described``)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.kernels.eight_bits import asked_for as products_in_8_bits
from labelwise.kernels.eight_bits import is_asked
from labelwise.kernels.label_attention import attention_weights, label_attention
from labelwise.layers import prior_logits
from labelwise.layers.described import DescribedLabels
from labelwise.layers.encoder_files import (
    EncoderShape,
    find_encoder,
    read_shape,
    read_tokenizer,
    read_weights,
)
from labelwise.layers.first_look import FirstLook
from labelwise.layers.transformer import PackedRows, Transformer
from labelwise.methods.base import Evidence, EvidenceKind, PretrainedSettings, Scores, State
from labelwise.methods.base_network import (
    BaseNetwork,
    BaseNetworkMethod,
    BaseNetworkSettings,
    Weights,
    require_whole,
)
from labelwise.methods.saved_weights import (
    SCALE,
    as_weights_of,
    halved,
    in_bytes,
    load_weights,
    widened,
)
from labelwise.methods.spans import Spans
from labelwise.schema import value
from labelwise.text.pieces import Pieces
from labelwise.training.batches import Batch, Gatherer
from labelwise.training.device import autocast
from labelwise.training.loop import Progress
from labelwise.training.numbered import Numbered, Reading, number
from labelwise.training.prepared import Prepared, prepare_pieces

TEXTS = 256
"""Names of labels that are embedded at a time."""

LOOKED_AT = 128
"""Documents whose tokens the first look is learned from."""

SHORTLISTED = 8
"""One label in so many is attended to in full after the first look, at least: of 7,414 labels 500
were too few on dev, where they lost .002 of RP@5, and 1,000 hardly anything (``benchmarks/``)."""

RIDGE = 1e-2
"""How much the bridge to new labels is held back, as a share of the embeddings' own size."""


@dataclass(frozen=True)
class EncoderSettings(PretrainedSettings, BaseNetworkSettings):
    """What is read, by what, and how it is trained."""

    pieces: int = 2
    """Pieces of a document that are read: EURLEX57K's acts seldom say more in a third."""
    piece_tokens: int = 510
    """Tokens of a piece; with the two around them, as many as the encoder has positions for."""
    stride: int = 510
    """Tokens from the beginning of a piece to that of the next; with less than a piece, a word at
    a border is read twice, with what stands on both sides of it."""
    dropout: float = 0.1
    """Of encoded tokens, in every layer, as the encoders were trained."""
    label_dropout: float = 0.2
    """Labels whose learned part is left out at a step, so that descriptors learn to do without."""
    alternatives: float = 0.3
    """What a label's alternative names count beside its descriptor."""
    broader: float = 0.4
    """What the names of its broader concepts count."""
    encoder_rate: float = 3e-4
    """The learning rate of the encoder: what was learned before is not to be forgotten, but with
    1e-4 a small encoder learned too slowly."""
    layer_decay: float = 1.0
    """A layer learns at this share of the rate of the layer above it."""
    frozen_layers: int = 0
    """Layers from below, and the word vectors with them, that are not trained at all; with all of
    the encoder's, its features are used as they are."""
    look: int = 128
    """On a CPU, labels are first looked at in so many dimensions that their products with tokens
    need most (``layers.first_look``), and attended to in full if they are among the best."""
    shortlist: int = 500
    """Labels that are attended to in full after the first look, where the best are asked for; an
    eighth of the labels, where that is more. A processor that multiplies bytes attends to all."""
    batch: int = 64
    """A smaller batch is more steps, which is what an encoder of few epochs lacks."""
    learning_rate: float = 2e-3
    """Of the label side, which starts from nothing."""
    warmup: int = 10_000
    """At most a tenth of the training, as for every network: a tenth."""
    epochs: int = 10
    weight_decay: float = 0.01
    """As the encoders were trained; biases and norms do not decay."""
    beta2: float = 0.98
    clip: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, pieces=1, piece_tokens=1, stride=1, frozen_layers=0)
        require_whole(self, look=1, shortlist=1)
        if self.stride > self.piece_tokens:
            raise LabelwiseError(
                f"stride must be at most piece_tokens ({self.piece_tokens}), not {self.stride}: "
                "what lies between two pieces would not be read"
            )
        for name in ("dropout", "label_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise LabelwiseError(f"{name} must be from 0 to below 1, not {getattr(self, name)}")
        for name in ("encoder_rate", "layer_decay"):
            if not getattr(self, name) > 0:
                raise LabelwiseError(f"{name} must be above zero, not {getattr(self, name)!r}")

    @property
    def max_tokens(self) -> int:
        """The longest part of a document that is read."""
        return (self.pieces - 1) * self.stride + self.piece_tokens


@dataclass(frozen=True, eq=False)
class EncoderMaterial:
    """What the network is built from."""

    shape: EncoderShape
    first: int  # the token that opens a piece, and the one that closes it
    last: int
    descriptors: Tensor  # (L, H) the embedding of each label's names
    prior: Tensor  # (seen,)
    centre: Tensor  # (H,) what all of them have in common, which is left out of descriptors
    bridge: Tensor  # (H, H) from what the trained encoder makes of a name to what it made before


@dataclass(frozen=True, eq=False)
class Encoded:
    """What encoded tokens hang on: the tokens, whether products are in 8 bits, the weights."""

    tokens: Tensor
    in_eight_bits: bool
    versions: int

    def is_like(self, other: Encoded) -> bool:
        same = (self.in_eight_bits, self.versions) == (other.in_eight_bits, other.versions)
        return same and torch.equal(self.tokens, other.tokens)


class Last:
    """The document that was encoded last; a copy of a network begins without."""

    found: tuple[Encoded, tuple[Tensor, PackedRows]] | None = None

    def __deepcopy__(self, memo: Any) -> Last:
        return Last()


class EncoderNetwork(BaseNetwork):
    words: nn.Embedding
    centre: Tensor
    bridge: Tensor

    def __init__(self, material: EncoderMaterial, settings: EncoderSettings) -> None:
        super().__init__()
        shape = material.shape
        if settings.piece_tokens + 2 > shape.positions:
            raise LabelwiseError(
                f"piece_tokens is {settings.piece_tokens}, but this encoder reads rows of "
                f"{shape.positions} tokens, two of them around the piece: set at most "
                f"{shape.positions - 2}"
            )
        self.special = material.first, material.last
        self._last = Last()
        self.words = nn.Embedding(shape.rows, shape.width)
        self.encoder = Transformer(shape, settings.dropout)
        self.labels = DescribedLabels(
            material.descriptors, material.prior, shape.width, settings.label_dropout
        )
        self.look = FirstLook(shape.width, min(settings.look, shape.width))
        self.shortlist = settings.shortlist
        self.register_buffer("centre", material.centre)
        self.register_buffer("bridge", material.bridge)
        self.learning_shares = self._learning_shares(settings)
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(not self._is_frozen(name, settings.frozen_layers))

    def _learning_shares(self, settings: EncoderSettings) -> dict[str, float]:
        """Of the learning rate of the label side: by the beginning of a parameter's name."""
        layers = len(self.encoder.layers)
        top = settings.encoder_rate / settings.learning_rate
        of_layers = {
            f"encoder.layers.{at}.": top * settings.layer_decay ** (layers - 1 - at)
            for at in range(layers)
        }
        below = top * settings.layer_decay**layers
        return {"words.": below, "encoder.": below, **of_layers}

    def _is_frozen(self, name: str, layers: int) -> bool:
        if not layers or name.startswith("labels."):
            return False
        part, _, rest = name.removeprefix("encoder.layers.").partition(".")
        return not name.startswith("encoder.layers.") or (bool(rest) and int(part) < layers)

    def encode(self, batch: Batch) -> tuple[Tensor, PackedRows]:
        """(N, H) the tokens of all pieces, and where they are."""
        packed = PackedRows.of(
            batch.cpu_lengths.numpy(),
            batch.cpu_owner.numpy(),
            batch.cpu_position.numpy(),
            len(batch),
            batch.tokens.device,
        )
        return self._encoded(batch.tokens, packed), packed

    def _encode_once(self, batch: Batch) -> tuple[Tensor, PackedRows]:
        """The same of one document on a CPU, which is kept until another one comes: first it is
        scored, then it is explained."""
        if batch.tokens.is_cuda or len(batch) > 1 or torch.is_grad_enabled():
            return self.encode(batch)
        versions = sum(one._version for one in self.parameters())
        made = Encoded(batch.tokens, is_asked(), versions)
        last = self._last.found
        if last is None or not last[0].is_like(made):
            last = self._last.found = made, self.encode(batch)
        return last[1]

    def train(self, mode: bool = True) -> Self:
        if mode != self.training:
            self.forget()
        return super().train(mode)

    def forget(self) -> None:
        """The next document is encoded, also where it is the last one again."""
        self._last.found = None

    def _encoded(self, tokens: Tensor, packed: PackedRows) -> Tensor:  # (S, T) to (N, H)
        first, last = self.words.weight[list(self.special)]
        x = packed.pack(self.words(tokens), first, last)
        h: Tensor = self.encoder(x, packed.places, packed.rows)
        return h

    def forward(self, batch: Batch) -> Tensor:
        h, packed = self.encode(batch)
        h = packed.by_document(h)  # (D, M, H)
        return label_attention(h, packed.lengths, *self.labels())  # (D, L)

    def best(self, batch: Batch) -> Tensor:
        """The logits (D, L), exact for the best labels: for all, where that costs hardly more than
        a first look at them."""
        labels = self.labels()
        most = max(self.shortlist, len(labels[2]) // SHORTLISTED)
        is_quick = batch.tokens.is_cuda or products_in_8_bits(labels[0])
        if is_quick or len(labels[2]) <= 2 * most:
            h, packed = self._encode_once(batch)
            return label_attention(packed.by_document(h), packed.lengths, *labels)
        return self.looked_at(batch, most)

    def looked_at(self, batch: Batch, most: int) -> Tensor:
        """The logits (D, L), exact for so many labels that a first look finds best."""
        h, packed = self._encode_once(batch)
        return self.look.forward(packed.by_document(h), packed.lengths, self.labels(), most)

    def attend(self, batch: Batch, columns: Tensor) -> Tensor:
        h, packed = self._encode_once(batch)
        queries, _, _ = self.labels()
        weights = attention_weights(packed.by_document(h), packed.lengths, queries[columns])
        return packed.by_row(weights)  # (S, T, columns)

    def embed(self, texts: Sequence[np.ndarray[Any, Any]]) -> Tensor:
        """What the encoder makes of short texts, of at least a piece each: (texts, H), length one.

        The mean over all tokens, those that open and close a text among them, as these encoders
        were trained to compare texts.
        """
        device = self.words.weight.device
        most = self.encoder.shape.positions - 2
        found = torch.zeros(len(texts), self.encoder.shape.width)
        for start in range(0, len(texts), TEXTS):
            some = [text[:most] for text in texts[start : start + TEXTS]]
            lengths = np.array([len(text) for text in some])
            tokens = np.zeros((len(some), lengths.max()), dtype=np.int64)
            tokens[np.arange(lengths.max()) < lengths[:, None]] = np.concatenate(some)
            each = np.arange(len(some))
            packed = PackedRows.of(lengths, each, np.zeros_like(each), len(some), device)
            h = self._encoded(torch.from_numpy(tokens).to(device), packed)  # (N, H)
            row = torch.from_numpy(np.repeat(each, lengths + 2)).to(device)
            sums = torch.zeros(len(some), h.shape[1], device=device).index_add_(0, row, h.float())
            found[start : start + len(some)] = functional.normalize(sums).cpu()
        return found


class EncoderMethod(BaseNetworkMethod):
    """A pretrained encoder and label-wise attention; its labels may change after training."""

    Settings = EncoderSettings
    settings: EncoderSettings
    reads = "pieces"
    readings = ("pieces", "stride")
    network: EncoderNetwork
    vocabulary: Pieces
    is_small: bool = False
    """Whether its bundle keeps the large weights in 8 bits (``in_eight_bits``)."""

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        pieces = read_tokenizer(find_encoder(self.settings.encoder))
        known = self.thesaurus.about(self.label_space.ids) if self.thesaurus else None
        most = self.settings.max_tokens
        self.fit_prepared(
            prepare_pieces(train, dev, self.label_space, pieces, thesaurus=known, most=most)
        )

    def fit_prepared(self, prepared: Prepared) -> Progress:
        if not isinstance(prepared.vocabulary, Pieces):
            raise LabelwiseError(
                f"{self.name} reads the word pieces of its encoder, and this corpus was prepared "
                "in words: prepare it with the encoder"
            )
        folder = find_encoder(self.settings.encoder)
        if read_tokenizer(folder) != prepared.vocabulary:
            raise LabelwiseError(
                f"the corpus was prepared with another tokenizer than that of the encoder {folder}"
            )
        progress = super().fit_prepared(prepared)
        self._build_bridge()
        self._build_look(prepared)
        # A bundle keeps half precision; what is scored here is what it will score.
        for tensor in self.network.state_dict().values():
            tensor.copy_(tensor.half())
        self.network.eval()
        # Where its folder lay means nothing elsewhere; a bundle has the weights.
        self.settings = dataclasses.replace(self.settings, encoder=folder.name)
        return progress

    @property
    def reading(self) -> Reading:
        s = self.settings
        return Reading(
            s.max_tokens,
            piece_tokens=s.piece_tokens,
            stride=s.stride,
            unknown=self.vocabulary.unknown,
        )

    def _built(self, prepared: Prepared) -> EncoderNetwork:
        folder = find_encoder(self.settings.encoder)
        shape, space = read_shape(folder), self.label_space
        counts = np.asarray(prepared.train.gold.sum(axis=0, dtype=np.int64)).ravel()
        seen = int((space.counts > 0).sum())
        material = self._material_of(
            shape, len(space), prior_logits(counts, len(prepared.train.ids))[:seen]
        )
        network = EncoderNetwork(material, self.settings)
        network.load_state_dict(network.state_dict() | read_weights(folder))
        names = label_names(space, prepared.thesaurus)
        vectors = self._embedded(network, [name for label in names for name, _ in label])
        descriptors = self._of_names(names, vectors)
        centre = descriptors.mean(0)
        network.centre.copy_(centre)
        network.labels.descriptors.copy_(functional.normalize(descriptors - centre))
        return network

    def _material_of(self, shape: EncoderShape, labels: int, prior: Tensor) -> EncoderMaterial:
        return EncoderMaterial(
            shape,
            self.vocabulary.first,
            self.vocabulary.last,
            torch.zeros(labels, shape.width),
            prior,
            torch.zeros(shape.width),
            torch.eye(shape.width),
        )

    def _embedded(self, network: EncoderNetwork, names: Sequence[str]) -> dict[str, Tensor]:
        """The embedding of each name, on the device of the settings."""
        distinct = list(dict.fromkeys(names))
        device = self._device()
        network.to(device).eval()
        unknown = np.array([self.vocabulary.unknown], dtype=np.int32)
        texts = [text if len(text) else unknown for text in self.vocabulary.numbers(distinct)]
        with torch.inference_mode(), autocast(device, "float32"):
            vectors = network.embed(texts)
        return dict(zip(distinct, vectors.clone(), strict=True))

    def _of_names(
        self, names: Sequence[Sequence[tuple[str, str]]], vectors: Mapping[str, Tensor]
    ) -> Tensor:
        """(labels, H) the names of each label together, each kind by what it counts."""
        share = {"own": 1.0, "other": self.settings.alternatives, "broader": self.settings.broader}
        found = []
        for label in names:
            kinds = [
                (kind, torch.stack([vectors[name] for name, _ in some]).mean(0))
                for kind, some in groupby(label, key=lambda one: one[1])
            ]
            found.append(torch.stack([share[kind] * mean for kind, mean in kinds]).sum(0))
        return functional.normalize(torch.stack(found))

    def _build_look(self, prepared: Prepared) -> None:
        """Learn the first look from encoded tokens of dev documents, or training ones."""
        split = prepared.dev if len(prepared.dev.ids) else prepared.train
        rows = split.rows(self.reading)
        device = self._device()
        self.network.to(device).eval()
        gather, some = Gatherer(rows, device), range(min(len(rows), LOOKED_AT))
        with torch.inference_mode(), autocast(device, self.settings.precision):
            tokens = torch.cat([self.network.encode(gather([one]))[0].float() for one in some])
            queries, outputs, _ = self.network.labels()
            self.network.look.learn(tokens, torch.cat([queries, outputs]))

    def _best_scores(self, documents: Sequence[Document]) -> Scores:
        return self._predict(self._number(documents), self.network.best)

    def _build_bridge(self) -> None:
        """Find what turns the trained encoder's embedding of a name into that of the encoder as it
        was: the least squares over the names of all labels. Labels that come later need it."""
        folder = find_encoder(self.settings.encoder)
        before = EncoderNetwork(
            self._material_of(read_shape(folder), 1, torch.zeros(1)), self.settings
        )
        before.load_state_dict(before.state_dict() | read_weights(folder))
        names = [label.descriptor for label in self.label_space.labels]
        old = torch.stack([*self._embedded(before, names).values()]).double()
        new = torch.stack([*self._embedded(self.network, names).values()]).double()
        held = RIDGE * len(new) / new.shape[1] * torch.eye(new.shape[1], dtype=torch.float64)
        bridge = torch.linalg.solve(new.T @ new + held, new.T @ old)
        self.network.bridge.copy_(bridge)

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Self:
        """The same model with more labels, each scored from its descriptor and, where a thesaurus
        has it, from all names that a trained label is known by (``label_names``)."""
        old = self.label_space
        space = old.with_labels(extra)
        labels = self.network.labels
        vectors = torch.zeros(len(space), labels.descriptors.shape[1])
        there = torch.tensor([space.index[id] for id in old.ids], dtype=torch.int64)
        vectors[there] = labels.descriptors.cpu()
        added = LabelSpace.from_counts(dict.fromkeys(extra, 0), extra)
        names = label_names(added, thesaurus)
        embedded = self._embedded(self.network, [name for label in names for name, _ in label])
        bridge, centre = self.network.bridge.cpu(), self.network.centre.cpu()
        before = {
            name: functional.normalize(vector @ bridge, dim=0) for name, vector in embedded.items()
        }
        for id, own in zip(added.ids, names, strict=True):
            (vector,) = self._of_names([own], before)
            vectors[space.index[id]] = functional.normalize(vector - centre, dim=0)
        wider = type(self)(self.settings)
        wider._label_space, wider.vocabulary = space, self.vocabulary
        wider.take_over(self)
        wider.network = deepcopy(self.network).cpu()
        wider.network.labels.descriptors, wider.is_small = vectors, self.is_small
        load_weights(wider.network, widened(wider.state().arrays))  # as a bundle keeps them
        wider.network.eval()
        return wider

    def in_eight_bits(self) -> Self:
        """The same model with its large weights rounded to 8 bits, row by row, in half the room."""
        small = type(self)(self.settings)
        small._label_space, small.vocabulary = self.label_space, self.vocabulary
        small.take_over(self)
        small.network, small.is_small = deepcopy(self.network).cpu(), True
        load_weights(small.network, widened(in_bytes(small.network.state_dict())))
        return small

    def _number(self, documents: Sequence[Document]) -> Numbered:
        return number(self.vocabulary.corpus(documents, self.settings.max_tokens), self.reading)

    def _places(self, text: str) -> list[tuple[int, int]]:
        return self.vocabulary.places(text)

    def _spread(
        self,
        document: Document,
        labels: Sequence[str],
        kind: EvidenceKind,
        weights_of: Callable[[Numbered, Tensor], Weights],
    ) -> list[Evidence]:
        """A word's pieces count as one word, and what was read twice as one place."""
        found = super()._spread(document, labels, kind, weights_of)
        words = whole_words([Spans.of(one.spans) for one in found], document.text)
        return [
            Evidence(one.label, one.kind, spans) for one, spans in zip(found, words, strict=True)
        ]

    def state(self) -> State:
        _ = self.label_space  # says so where the method is not fitted yet
        weights = self.network.state_dict()
        arrays = in_bytes(weights) if self.is_small else halved(weights)
        shape = dataclasses.asdict(self.network.encoder.shape)
        return State(arrays, {**self.vocabulary.to_json(), "encoder": shape})

    def _restore(self, state: State) -> None:
        self.vocabulary = Pieces.from_json(state.values)
        with as_weights_of(self):
            self.is_small = any(name.endswith(SCALE) for name in state.arrays)
            tensors = widened(state.arrays)
            shape = EncoderShape(**value(state.values, "encoder", dict))
            prior = torch.zeros(len(tensors["labels.bias"]))
            material = self._material_of(shape, len(self.label_space), prior)
            self.network = EncoderNetwork(material, self.settings)
            load_weights(self.network, tensors)


def label_names(space: LabelSpace, thesaurus: Thesaurus | None) -> list[list[tuple[str, str]]]:
    """The names of each label: its own, others that mean the same, those of what is broader."""
    found = []
    for label in space.labels:
        names = [(label.descriptor, "own")]
        if thesaurus is not None and label.id in thesaurus.concepts:
            concept = thesaurus[label.id]
            names += [(name, "other") for name in concept.alt_labels]
            names += [(thesaurus[id].label, "broader") for id in concept.broader]
        found.append(names)
    return found


def whole_words(spans: Sequence[Spans], text: str) -> list[Spans]:
    """Of several labels, in the same places: spans of one place added up, and those within a word
    put together.

    >>> whole_words([Spans.of([(0, 3, 0.5), (3, 7, 0.25), (8, 9, 0.5)])], "imports of")
    [Spans([Span(start=0, end=7, weight=0.75), Span(start=8, end=9, weight=0.5)])]
    """
    if not spans or not spans[0]:
        return list(spans)
    order = np.lexsort((spans[0].ends, spans[0].starts))
    starts, ends = spans[0].starts[order], spans[0].ends[order]
    joined = (starts[1:] == starts[:-1]) & (ends[1:] == ends[:-1])
    touching = np.flatnonzero(ends[:-1] == starts[1:])
    borders = starts[1:][touching].tolist()
    joined[touching] |= np.array([text[at - 1 : at + 1].isalnum() for at in borders], dtype=bool)
    first = np.flatnonzero(np.append(True, ~joined))  # of each word
    starts, ends = starts[first], ends[np.append(first[1:], len(ends)) - 1]
    return [Spans(starts, ends, np.add.reduceat(one.weights[order], first)) for one in spans]
