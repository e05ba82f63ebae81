"""Labels hidden from training: unseen ones whose gold is known, as many as a figure needs.

Few documents carry a label that really was never seen, so that figures on those labels are loose.
A view of a data set hides others at random: the training documents lose them, the label space
counts them zero, dev and test keep them. Every method, group and measure then works as it is, with
the hidden labels in the zero group beside the real zero-shot ones.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError


@dataclass(frozen=True)
class Hiding:
    """Which labels are hidden. The draw follows from the ids of the labels alone.

    >>> space = LabelSpace.from_counts({"1309": 60, "693": 2, "5255": 1, "5": 0})
    >>> [sorted(Hiding(1, draw).labels(space)) for draw in (1, 2)]
    [['1309'], ['5255']]
    """

    amount: float
    """How many of the training labels; below one, which share of them."""
    draw: int = 0
    """Another draw hides others."""
    drop: bool = False
    """Whether training documents with a hidden label are left out; else they lose the label."""

    def __post_init__(self) -> None:
        if not (0 < self.amount < 1 or (self.amount >= 1 and self.amount == int(self.amount))):
            raise LabelwiseError(
                "labels are hidden by their share of the training labels, above 0 and below 1, or "
                f"by their number, not {self.amount:g}"
            )

    def labels(self, space: LabelSpace) -> frozenset[str]:
        """The hidden ones among the labels that have training documents."""
        seen = [label.id for label in space.labels if label.count]
        size = round(self.amount * len(seen)) if self.amount < 1 else int(self.amount)
        if not 0 < size < len(seen):
            raise LabelwiseError(
                f"{size} of {len(seen)} training labels cannot be hidden: at least one has to be "
                "hidden, and one to be seen"
            )

        def lot(id: str) -> bytes:
            return hashlib.sha256(f"{self.amount:g} {self.draw} {id}".encode()).digest()

        return frozenset(sorted(seen, key=lot)[:size])

    def name(self, data: str) -> str:
        """What the view of a data set is called."""
        return f"{data}-hidden-{self.amount:g}-draw-{self.draw}" + ("-dropped" if self.drop else "")

    def fingerprint(self, data: str) -> str:
        """The fingerprint of the view, from that of the whole data set."""
        return hashlib.sha256(f"{data} {self.name('')}".encode()).hexdigest()[:16]

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Hiding:
        return cls(values["amount"], values["draw"], values["drop"])


@dataclass(frozen=True)
class HiddenDataset(Dataset):
    """A view of a data set in which some training labels are hidden."""

    whole: Dataset = field(kw_only=True)
    hiding: Hiding = field(kw_only=True)

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The hidden labels; the other labels of the zero group are zero-shot in the whole too."""
        return self.hiding.labels(self.whole.label_space)

    @cached_property
    def train(self) -> Sequence[Document]:
        hidden = self.hidden
        if self.hiding.drop:
            return tuple(one for one in self.whole.train if hidden.isdisjoint(one.labels))
        return tuple(
            one
            if hidden.isdisjoint(one.labels)
            else replace(one, labels=tuple(label for label in one.labels if label not in hidden))
            for one in self.whole.train
        )

    @cached_property
    def dev(self) -> Sequence[Document]:
        return self.whole.dev

    @cached_property
    def test(self) -> Sequence[Document]:
        return self.whole.test

    @cached_property
    def label_space(self) -> LabelSpace:
        """All labels of the whole, grouped by the training documents of the view."""
        counts = Counter(label for one in self.train for label in dict.fromkeys(one.labels))
        return self.whole.label_space.recounted(counts)

    @cached_property
    def fingerprint(self) -> str:
        return self.hiding.fingerprint(self.whole.fingerprint)


def hide(dataset: Dataset, hiding: Hiding) -> HiddenDataset:
    """The view of a data set in which labels are hidden from training."""
    return HiddenDataset(
        hiding.name(dataset.name),
        dataset.paths,
        dataset.thesaurus_path,
        dataset.skipped,
        dataset.additions,
        dataset.repeated,
        whole=dataset,
        hiding=hiding,
    )
