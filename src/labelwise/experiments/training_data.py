"""Documents to train on and to measure: from files, as numbers, or with scores kept of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import scipy.sparse as sp

from labelwise.corpus.dataset import NOTHING, Additions, Dataset, open_dataset
from labelwise.corpus.hidden import Hiding, hide
from labelwise.corpus.more import repeated_note
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import DataRecord
from labelwise.experiments.kept_scores import read_kept
from labelwise.experiments.scoring import score
from labelwise.methods import Method, Scores
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.methods.base_network import BaseNetworkMethod
    from labelwise.training.prepared import NumberedSplit


class TrainingData(Protocol):
    """Documents to train on and to measure."""

    record: DataRecord

    @property
    def places(self) -> Thesaurus | None:
        """What says where the labels stand, for a bundle to keep."""

    def fit(self, method: Method) -> None: ...
    def scores(self, method: Method, split: str) -> Scores: ...
    def gold(self, split: str) -> sp.csr_matrix: ...


class Documents:
    """A data set, as `labelwise train` reads it."""

    def __init__(
        self, folder: Path, additions: Additions = NOTHING, hiding: Hiding | None = None
    ) -> None:
        dataset = open_dataset(folder, additions)
        self.dataset = hide(dataset, hiding) if hiding else dataset
        self.record = DataRecord.of(self.dataset)
        if dataset.repeated:
            note(repeated_note(dataset.repeated))

    @property
    def places(self) -> Thesaurus | None:
        return places_of(self.dataset)

    def fit(self, method: Method) -> None:
        method.thesaurus = self.dataset.thesaurus
        method.fit(self.dataset.train, self.dataset.dev, self.dataset.label_space)

    def scores(self, method: Method, split: str) -> Scores:
        return score(method, getattr(self.dataset, split), f"{method.name}: scoring {split}")

    def gold(self, split: str) -> sp.csr_matrix:
        return self.dataset.label_space.gold(getattr(self.dataset, split))


def places_of(dataset: Dataset) -> Thesaurus | None:
    """Of the thesaurus, what says where the labels stand: a bundle tells it without the data."""
    known = dataset.thesaurus
    return None if known is None else known.around(dataset.label_space.ids)


class Numbers:
    """A prepared corpus, from which networks alone can be trained."""

    def __init__(self, folder: Path, rows: Path | None, hiding: Hiding | None = None) -> None:
        from labelwise.training.hidden import hide_prepared
        from labelwise.training.prepared import read_prepared, read_record
        from labelwise.training.vector_rows import with_vector_rows

        self.record = DataRecord(**read_record(folder)["data"])
        self.prepared, test = read_prepared(folder)
        if rows is not None:
            self.prepared, _ = with_vector_rows(self.prepared, rows)
        if hiding is not None:
            self.prepared, test = hide_prepared(self.prepared, test, hiding)
            train, space = self.prepared.train, self.prepared.label_space
            self.record = self.record.view(hiding, space, len(train.ids))
        self.splits: dict[str, NumberedSplit] = {"dev": self.prepared.dev}
        if test is not None:
            self.splits["test"] = test

    @property
    def places(self) -> Thesaurus | None:
        return None  # of a thesaurus it has no more than the names right above

    def fit(self, method: Method) -> None:
        from labelwise.methods.network import NetworkSettings

        network = self._network(method)
        if isinstance(network.settings, NetworkSettings) and network.settings.vectors:
            width = self.prepared.vectors.shape[1]
            network.settings = dataclasses.replace(network.settings, dim=width)
        network.fit_prepared(self.prepared)

    def scores(self, method: Method, split: str) -> Scores:
        network = self._network(method)
        if network.vocabulary != self.prepared.vocabulary:
            raise LabelwiseError(
                f"this {method.name} has another vocabulary than the prepared corpus: train it "
                "again from this corpus"
            )
        return method.finished(network.scores_of(self.splits[split]))

    def gold(self, split: str) -> sp.csr_matrix:
        return self.splits[split].gold

    def _network(self, method: Method) -> BaseNetworkMethod:
        from labelwise.methods.base_network import BaseNetworkMethod

        if not isinstance(method, BaseNetworkMethod):
            raise LabelwiseError(
                f"{method.name} reads documents, and not a prepared corpus: give the documents, or "
                "the scores that were kept of it beside its bundle"
            )
        return method


class Kept:
    """The same documents, with the scores that were kept of saved models where they were."""

    def __init__(self, documents: TrainingData, members: Mapping[str, Method]) -> None:
        self.documents, self.record = documents, documents.record
        self.paths = {id(member): Path(path) for path, member in members.items()}

    @property
    def places(self) -> Thesaurus | None:
        return self.documents.places

    def fit(self, method: Method) -> None:
        self.documents.fit(method)

    def scores(self, method: Method, split: str) -> Scores:
        path = self.paths[id(method)]
        kept = read_kept(path, split, method.label_space, self.record)
        return self.documents.scores(method, split) if kept is None else kept

    def gold(self, split: str) -> sp.csr_matrix:
        return self.documents.gold(split)
