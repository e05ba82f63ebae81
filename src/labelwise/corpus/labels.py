"""The label space: the ordered labels that a model ranks, with their frequency groups."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError

Group = Literal["frequent", "few", "zero"]
GROUPS: tuple[Group, ...] = get_args(Group)

FREQUENT = 50
"""Training documents from which on a label is frequent (the paper's groups need "at least")."""


@dataclass(frozen=True, slots=True)
class Label:
    """A concept: its id, its descriptor, and how many training documents carry it."""

    id: str
    descriptor: str
    count: int

    @property
    def group(self) -> Group:
        return "frequent" if self.count >= FREQUENT else "few" if self.count else "zero"


@dataclass(frozen=True)
class LabelSpace:
    """Labels in the one order used everywhere: frequent, few, zero, each sorted by id.

    >>> space = LabelSpace.from_counts({"693": 60, "1309": 2, "5": 0}, {"693": "citrus fruit"})
    >>> [(label.id, label.group) for label in space.labels]
    [('693', 'frequent'), ('1309', 'few'), ('5', 'zero')]
    >>> space.labels[0].descriptor
    'citrus fruit'
    """

    labels: tuple[Label, ...]

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], descriptors: Mapping[str, str] | None = None
    ) -> LabelSpace:
        names = descriptors or {}
        labels = [Label(id, names.get(id, id), count) for id, count in counts.items()]
        labels.sort(key=lambda label: (GROUPS.index(label.group), label.id))
        return cls(tuple(labels))

    def with_labels(self, extra: Mapping[str, str]) -> LabelSpace:
        """More labels, by id and descriptor, that no training document carries."""
        for id in extra:
            if id in self.index:
                raise LabelwiseError(f"{id} is already a label of this model")
        counts = {label.id: label.count for label in self.labels}
        names = {label.id: label.descriptor for label in self.labels}
        return self.from_counts(counts | dict.fromkeys(extra, 0), names | dict(extra))

    def recounted(self, counts: Mapping[str, int]) -> LabelSpace:
        """The same labels with other counts of training documents; none where none is given."""
        names = {label.id: label.descriptor for label in self.labels}
        return self.from_counts({id: counts.get(id, 0) for id in self.ids}, names)

    @classmethod
    def from_documents(
        cls,
        train: Iterable[Document],
        others: Iterable[Document] = (),
        descriptors: Mapping[str, str] | None = None,
    ) -> LabelSpace:
        """Count the training labels; labels that only the others carry are zero-shot."""
        counts = Counter(label for document in train for label in dict.fromkeys(document.labels))
        for document in others:
            for label in document.labels:
                counts.setdefault(label, 0)
        return cls.from_counts(counts, descriptors)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(label.id for label in self.labels)

    @cached_property
    def index(self) -> dict[str, int]:
        """From a label's id to its column."""
        return {label.id: column for column, label in enumerate(self.labels)}

    @cached_property
    def counts(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Training documents of each label, in label order."""
        return np.array([label.count for label in self.labels], dtype=np.int64)

    @cached_property
    def groups(self) -> dict[Group, slice]:
        """The columns of each group; the order makes every group one slice."""
        slices: dict[Group, slice] = {}
        start = 0
        for group in GROUPS:
            size = sum(label.group == group for label in self.labels)
            slices[group] = slice(start, start + size)
            start += size
        return slices

    @cached_property
    def fingerprint(self) -> str:
        """A digest of ids, descriptors and counts in order: equal spaces, equal fingerprints."""
        text = json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def gold(self, documents: Sequence[Document]) -> sp.csr_matrix:
        """Documents × labels, 1 where a label is gold.

        A gold label outside the space is an error: leaving it out would flatter every measure.
        """
        rows, columns = [], []
        for row, document in enumerate(documents):
            for label in dict.fromkeys(document.labels):
                if label not in self.index:
                    raise LabelwiseError(
                        f"document {document.id} has the label {label}, which is not among the "
                        f"{len(self)} labels of this label space"
                    )
                rows.append(row)
                columns.append(self.index[label])
        return sp.csr_matrix(
            (np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(len(documents), len(self))
        )

    def known_gold(self, documents: Sequence[Document]) -> sp.csr_matrix:
        """The same without labels outside the space, where no model is judged by them.

        >>> space = LabelSpace((Label("693", "citrus fruit", 2),))
        >>> acts = [Document("1", "", (), ("693", "7001")), Document("2", "", ())]
        >>> space.known_gold(acts).toarray().tolist()
        [[1], [0]]
        """
        return self.gold(
            [
                replace(one, labels=tuple(label for label in one.labels if label in self.index))
                for one in documents
            ]
        )

    def to_json(self) -> list[list[Any]]:
        return [[label.id, label.descriptor, label.count] for label in self.labels]

    @classmethod
    def from_json(cls, rows: Iterable[Sequence[Any]]) -> LabelSpace:
        return cls(tuple(Label(str(id), str(name), int(count)) for id, name, count in rows))
