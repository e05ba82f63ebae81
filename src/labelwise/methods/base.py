"""What every method is: settings in, ``fit``, ``scores``, ``evidence``, and a state to save."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self, cast, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.shard import Shard
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.calibration import Calibration
from labelwise.evaluation.threshold import tune_threshold
from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.methods.spans import Span
from labelwise.training.recipe import Recipe

Scores = NDArray[np.float32]
"""Documents × labels, in label order; higher is more likely."""

EvidenceKind = Literal["match", "contribution", "attention", "attribution"]

OF_EVERY_WORD: tuple[EvidenceKind, ...] = ("attention", "attribution")
"""Kinds that have a weight for every word read, however little it matters."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a label was ranked where it was.

    ``match``: spans where the descriptor stands, equal weights summing to one.
    ``contribution``: what each n-gram adds to the label's score, or takes from it (negative), as
    a share: the sizes sum to one.
    ``attention``: weight of each word read; non-negative, summing to one.
    ``attribution``: the same, where a weight is attention times how much the word moved the score.
    """

    label: str
    kind: EvidenceKind
    spans: Sequence[Span]


@dataclass(frozen=True)
class State:
    """What a fitted method needs to work again elsewhere: arrays, and values that JSON can hold."""

    arrays: Mapping[str, NDArray[Any]]
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def halved(self) -> State:
        """The same with fractions in half precision, as a bundle may keep a network's.

        >>> State({"x": np.float32([0.1])}).halved().arrays["x"].dtype
        dtype('float16')
        """
        half = {
            name: array.astype(np.float16) if array.dtype == np.float32 else array
            for name, array in self.arrays.items()
        }
        return State(half, self.values)


@dataclass(frozen=True)
class Settings:
    """The base of all settings: one flat dataclass beside each method."""

    seed: int = 0
    """Same seed, same model, where the method says so."""


@dataclass(frozen=True)
class VectorSettings(Settings):
    """Of a method that reads words by their vectors."""

    vectors: str | None = None
    """A file of pre-trained word vectors (GloVe or word2vec text, may be compressed). Without one
    the vectors start at random."""


@dataclass(frozen=True)
class PretrainedSettings(Settings):
    """Of a method that reads with an encoder that has read before."""

    encoder: str = ""
    """The folder of a pretrained encoder (config.json, model.safetensors, tokenizer.json), or its
    name: in the folder that LABELWISE_ENCODERS names, in `encoders`, on the Hugging Face Hub."""


def require(settings: object, **lowest: float) -> None:
    """Raise an error for the first of these settings that is below the lowest it may be.

    >>> require(Settings(seed=3), seed=0)
    """
    for name, least in lowest.items():
        value = getattr(settings, name)
        if not value >= least:
            raise LabelwiseError(f"{name} must be at least {least:g}, not {value:g}")


def require_as_trained(members: Sequence[Method]) -> None:
    """Raise an error for a method to be joined whose scores are on another scale already."""
    for member in members:
        if member.unseen is not None or member.calibration is not None:
            what = (
                "the unseen labels of this" if member.unseen is not None else "the scores of this"
            )
            raise LabelwiseError(
                f"{what} {member.name} were put on another scale by `labelwise calibrate`: join "
                "models as they were trained, and calibrate what is made of them"
            )


AnySettings = Settings
"""The same class under a name that ``Method.Settings`` does not hide."""


class Method(ABC):
    """A way to score labels. ``__init__`` stores the settings and does nothing else.

    What some methods can do and others cannot is said here: by attributes, which have a value for
    every method, and by the protocols below.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[Settings]] = Settings
    settings: AnySettings
    """As they were given; a method names the type of its own."""
    reads: ClassVar[Literal["documents", "words", "pieces"]] = "documents"
    """What it is trained on: documents or, as networks are, their words or the pieces of an
    encoder, which `labelwise prepare` may number beforehand."""
    readings: ClassVar[tuple[str, ...]] = ()
    """Settings of what is read of a document, which may be others once the method is trained
    (`labelwise evaluate --try`)."""
    half_precision: bool = False
    """Whether a bundle may keep its weights in half precision, which loading widens again."""
    joined_from: ClassVar[tuple[str, ...]] = ()
    """The methods from whose bundles the published table has it joined (``Joining``)."""
    threshold: float = 0.5
    """The score above which a label is assigned: the one with the best micro-F1 on dev."""
    unseen: UnseenScale | None = None
    """How the scores of labels without training documents are put on the scale of the others, those
    added after training included (`labelwise calibrate`); None leaves them as they are."""
    calibration: Calibration | None = None
    """How scores become chances on documents like those that it was chosen on
    (`labelwise calibrate --on`); None leaves them as they are."""
    deterministic: ClassVar[bool] = True
    """Whether the same seed gives the same scores."""
    cache: Path | None = None
    """A folder where ``fit`` may keep what it can make again, such as the tokenised corpus."""
    thesaurus: Thesaurus | None = None
    """What ``fit`` may know of the labels beside their descriptors: alternative labels and broader
    concepts. What a method needs of it later it keeps in its state."""
    explainers: ClassVar[tuple[str, ...]] = ()
    """What ``evidence`` may be found by, where there is a choice: names that it takes."""
    explainer: ClassVar[str] = ""
    """The one of them that is taken where none is named."""

    def __init__(self, settings: AnySettings | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()
        self._label_space: LabelSpace | None = None

    @property
    def label_space(self) -> LabelSpace:
        if self._label_space is None:
            raise LabelwiseError(f"{self.name} is not fitted yet: call fit, or load a bundle")
        return self._label_space

    @classmethod
    def is_network(cls) -> bool:
        """Whether it is trained by a ``recipe``, on words or pieces that may be numbered."""
        return cls.reads != "documents"

    @property
    def recipe(self) -> Recipe | None:
        """How a network is trained, which its settings say; None where the method is none."""
        return cast(Recipe, self.settings) if self.is_network() else None

    @property
    def parts(self) -> tuple[Method, ...]:
        """The methods that it is made of, where it is made of others."""
        return ()

    @property
    def max_tokens(self) -> int | None:
        """How many tokens of a document it reads at most; None where it reads all of them."""
        return None

    @property
    def limits(self) -> dict[str, int]:
        """The same by its name or, where it reads all, of those of its parts that do not."""
        if self.max_tokens is not None:
            return {self.name: self.max_tokens}
        return {name: most for part in self.parts for name, most in part.limits.items()}

    @property
    def card(self) -> dict[str, Any]:
        """What a reader of its bundle should know besides, such as what was chosen on dev."""
        return {}

    def fit(
        self,
        train: Sequence[Document],
        dev: Sequence[Document],
        label_space: LabelSpace,
    ) -> None:
        """Learn from the training documents; choose on the dev documents."""
        if not train:
            raise LabelwiseError("there are no training documents")
        if not len(label_space):
            raise LabelwiseError("there are no labels to learn: no document carries one")
        self._label_space = label_space
        self._fit(train, dev)
        gold = label_space.gold(dev)
        if gold.nnz:
            self.threshold = tune_threshold(self.scores(dev), gold)

    def scores(self, documents: Sequence[Document]) -> Scores:
        """Score all labels for each document, whatever its batch mates."""
        labels = len(self.label_space)
        if not documents:
            return np.zeros((0, labels), dtype=np.float32)
        return self.finished(self._scores(documents))

    def finished(self, scores: Scores) -> Scores:
        """Scores as they are given: unseen labels on the scale of the others, and calibrated."""
        given = self.placed(scores)
        if self.calibration is not None:
            given = self.calibration(given, self.label_space.groups)
        if not np.isfinite(given).all():
            raise LabelwiseError(
                f"this {self.name} gives scores that are no numbers, for its settings or weights "
                "are too large to compute with: train it again"
            )
        return given

    def placed(self, scores: Scores) -> Scores:
        """Scores with those of unseen labels on the scale of the others, where there is one."""
        if self.unseen is None:
            return scores
        zero = self.label_space.groups["zero"].start
        return np.concatenate([scores[:, :zero], self.unseen(scores[:, zero:])], axis=1)

    def certified(self, precision: float) -> float:
        """The score above which labels are right at least so often, as it was certified."""
        if self.calibration is None:
            raise LabelwiseError(
                "no precision is certified for this model: `labelwise calibrate --on` does that"
            )
        return self.calibration.threshold(precision)

    def best_scores(self, documents: Sequence[Document]) -> Scores:
        """The same where the best labels are all that matters: a method may find them sooner.
        Theirs are exact; those of labels that are far behind may be off."""
        return self.finished(self._best_scores(documents)) if documents else self.scores(documents)

    def evidence(
        self, document: Document, labels: Sequence[str], explainer: str | None = None
    ) -> list[Evidence]:
        """The words of the document that speak for each of the labels, in their order.

        Without the name of an explainer, in the method's own way (``docs/evidence.md`` says why
        that is attention for networks).
        """
        self._require_labels(labels)
        if explainer is None:
            # Of no label nothing is asked: a text of marks alone has none.
            return self._evidence(document, labels) if len(labels) else []
        if explainer not in self.explainers:
            known = ", ".join(self.explainers)
            raise LabelwiseError(
                f"the evidence of {self.name} cannot be found by '{explainer}': "
                + (f"it can by {known}" if known else "there is one way to find it")
            )
        return self._explained(document, labels, explainer) if len(labels) else []

    def _explained(
        self, document: Document, labels: Sequence[str], explainer: str
    ) -> list[Evidence]:
        """Of a method with ``explainers``: the evidence that one of them finds."""
        raise NotImplementedError

    def take_over(self, other: Method) -> None:
        """What was chosen for another method after its training holds for this one, made of it or
        its twin."""
        self.threshold, self.unseen = other.threshold, other.unseen
        self.calibration = other.calibration

    def _require_labels(self, labels: Sequence[str]) -> None:
        for label in labels:
            if label not in self.label_space.index:
                raise LabelwiseError(f"{label} is not a label of this model")

    @classmethod
    def restore(cls, settings: AnySettings, label_space: LabelSpace, state: State) -> Method:
        """Bring a fitted method back from its state, under newer labels and with what it learned
        from decisions where it has them."""
        if "relabelled" in state.values:
            from labelwise.methods import relabelled

            return relabelled.restored(cls, settings, label_space, state)
        if "learned" in state.values:
            from labelwise.methods import learned

            return learned.restored(cls, settings, label_space, state)
        method = cls(settings)
        method._label_space = label_space
        method._restore(state)
        return method

    @abstractmethod
    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None: ...

    @abstractmethod
    def _scores(self, documents: Sequence[Document]) -> Scores: ...

    def _best_scores(self, documents: Sequence[Document]) -> Scores:
        return self._scores(documents)

    @abstractmethod
    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]: ...

    @abstractmethod
    def state(self) -> State:
        """The fitted state, for a bundle."""

    @abstractmethod
    def _restore(self, state: State) -> None: ...


@runtime_checkable
class Widening(Protocol):
    """A method whose labels may grow after training."""

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Method:
        """The same model with more labels, by id and descriptor. Of those that a thesaurus has, its
        other names count as well, where they would have counted in training."""


@runtime_checkable
class Resumable(Protocol):
    """A method that keeps checkpoints while it learns: a network, or several."""

    run_dir: Path | None
    resume: bool


@runtime_checkable
class Rounding(Protocol):
    """A method whose large weights may be rounded to 8 bits."""

    def in_eight_bits(self) -> Method: ...


@runtime_checkable
class Joining(Protocol):
    """A method that is made of trained ones, and chooses on dev what each of them counts for."""

    @classmethod
    def from_methods(cls, members: Sequence[Method], dev: Sequence[Document] = ()) -> Self: ...

    def choose(self, scores: Sequence[Scores], gold: sp.csr_matrix) -> None:
        """Choose by the members' scores of dev documents."""

    def joined(self, scores: Sequence[Scores]) -> Scores:
        """Its scores from those of its members."""


@runtime_checkable
class Twinning(Protocol):
    """A joined method that may be weighed as another of its kind was, without documents."""

    @classmethod
    def like(cls, members: Sequence[Method], twin: Self) -> Self: ...


@runtime_checkable
class Sharding(Protocol):
    """A method whose labels may be trained part by part, each on a machine of its own."""

    shard: Shard | None

    @classmethod
    def from_shards(cls, shards: Sequence[Self], dev: Sequence[Document]) -> Self: ...


def within(method: Method) -> Iterator[Method]:
    """A method and all that it is made of."""
    yield method
    for part in method.parts:
        yield from within(part)


class UnknownDescriptorError(LabelwiseError):
    """A label that cannot be added, for its descriptor says nothing to the method."""

    def __init__(self, label: str, descriptor: str) -> None:
        super().__init__(
            f"the label {label} cannot be added: this model knows no word of its descriptor "
            f"'{descriptor}'"
        )
        self.label = label
