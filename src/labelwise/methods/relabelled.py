"""A trained method under the labels of a newer thesaurus; nothing is trained.

Each label has one or more of the trained method's labels to be scored by: itself, what it took the
place of, or both. Its score is the highest of theirs, so that it is still a probability and the
threshold still means what it meant; its evidence is that of the label with this score. A label
that remains and took no other's place keeps its score. Where the method knows labels by their
words, concepts that are new to it are scored from their names.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.relabelling import Relabelling, relabelling
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.methods.around import Around
from labelwise.methods.base import (
    Evidence,
    Method,
    Scores,
    Settings,
    State,
    UnknownDescriptorError,
    Widening,
)


@dataclass(frozen=True)
class Changes:
    """What was made of the labels, for the card and the reader."""

    labels: Relabelling
    added: tuple[str, ...]
    """Concepts that the model did not know and can score."""
    notes: tuple[str, ...]
    """What a reader should know of those that it cannot, or not well."""


class Relabelled(Around):
    """It bears the name and the settings of the method that it is made of, and is saved as one."""

    def __init__(
        self, method: Method, space: LabelSpace, sources: Mapping[str, Sequence[str]]
    ) -> None:
        super().__init__(method)
        own = cast(Any, self)
        own.explainers, own.explainer = method.explainers, method.explainer
        self._label_space, self.sources = space, {id: tuple(sources[id]) for id in space.ids}
        columns = [[method.label_space.index[one] for one in self.sources[id]] for id in space.ids]
        self._first = np.array([some[0] for some in columns], dtype=np.intp)
        self._further = [(at, one) for at, some in enumerate(columns) for one in some[1:]]

    @classmethod
    def of(
        cls, method: Method, space: LabelSpace, sources: Mapping[str, Sequence[str]]
    ) -> Relabelled:
        """The method under other labels; its labels may grow where the method's may."""
        kind = WideningRelabelled if isinstance(method, Widening) else Relabelled
        return kind(method, space, sources)

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        raise LabelwiseError("a relabelled model is not trained: train its method, and relabel it")

    def _scores(self, documents: Sequence[Document]) -> Scores:
        return self._taken(self._inner().scores(documents))

    def _best_scores(self, documents: Sequence[Document]) -> Scores:
        return self._taken(self._inner().best_scores(documents))

    def _inner(self) -> Method:
        """The method as it was trained, but for the place of its unseen labels: the scores are
        calibrated once, under the labels that they have now."""
        self.method.cache, self.method.unseen = self.cache, self.unseen
        self.method.calibration = None
        return self.method

    def _taken(self, scores: Scores) -> Scores:
        """Documents × labels from now on: the highest score of the labels that stand for each."""
        taken = scores[:, self._first]
        for column, other in self._further:
            np.maximum(taken[:, column], scores[:, other], out=taken[:, column])
        return taken

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        asked = self._standing_for(document, labels)
        return _renamed(self.method.evidence(document, asked), labels)

    def _explained(
        self, document: Document, labels: Sequence[str], explainer: str
    ) -> list[Evidence]:
        asked = self._standing_for(document, labels)
        return _renamed(self.method.evidence(document, asked, explainer), labels)

    def _standing_for(self, document: Document, labels: Sequence[str]) -> list[str]:
        """The label of the method whose score each of these has in the document."""
        if all(len(self.sources[label]) == 1 for label in labels):
            return [self.sources[label][0] for label in labels]
        scores, index = self._inner().scores([document])[0], self.method.label_space.index
        return [max(self.sources[label], key=lambda one: scores[index[one]]) for label in labels]

    def state(self) -> State:
        inner = self.method.state()
        return State(
            inner.arrays,
            {
                "relabelled": {
                    "labels": self.method.label_space.to_json(),
                    "sources": {id: list(old) for id, old in self.sources.items()},
                },
                "values": inner.values,
            },
        )

    def _restore(self, state: State) -> None:
        raise NotImplementedError  # Method.restore makes one of what ``state`` gave


class WideningRelabelled(Relabelled):
    """A relabelled method whose labels may grow further."""

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Method:
        """The same model with more labels, each scored from its names."""
        space = self.label_space.with_labels(extra)
        inner = cast(Widening, self.method)
        known = self.method.label_space.index
        # A label that was dropped may come back: the method has it still.
        new = {id: name for id, name in extra.items() if id not in known}
        wider = inner.with_labels(new, thesaurus)
        made = Relabelled.of(wider, space, self.sources | {id: (id,) for id in extra})
        made.take_over(self)
        return made


def restored(cls: type[Method], settings: Settings, space: LabelSpace, state: State) -> Method:
    """A relabelled method of a class from its state."""
    written = state.values["relabelled"]
    inner = cls.restore(
        settings,
        LabelSpace.from_json(written["labels"]),
        State(state.arrays, state.values["values"]),
    )
    return Relabelled.of(inner, space, written["sources"])


def relabel(method: Method, thesaurus: Thesaurus) -> tuple[Method, Changes]:
    """The method under the labels of the thesaurus, with all of its concepts where it can."""
    labels = relabelling(method.label_space, thesaurus)
    new = {id: thesaurus.descriptors[id] for id in thesaurus.assignable if id not in labels.sources}
    wider, added, notes = _widened(method, new, thesaurus)
    space = labels.space.with_labels({id: new[id] for id in added})
    sources = dict(labels.sources) | {id: (id,) for id in added}
    made = Relabelled.of(wider, space, sources)
    made.take_over(method)
    return made, Changes(labels, added, notes)


def _widened(
    method: Method, new: Mapping[str, str], thesaurus: Thesaurus
) -> tuple[Method, tuple[str, ...], tuple[str, ...]]:
    """The method with as many of these labels as it can score, which these are, and what a reader
    should know of them."""
    if not new:
        return method, (), ()
    if not isinstance(method, Widening):
        note = (
            f"{len(new):,} concepts of the thesaurus are new to the model, and it cannot suggest "
            f"them: {method.name} knows labels by their training documents alone"
        )
        return method, (), (note,)
    asked, wider = dict(new), cast(Method, method)
    caught: Sequence[object] = ()
    while asked:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                wider = method.with_labels(asked, thesaurus)
            break
        except UnknownDescriptorError as error:
            del asked[error.label]
        except LabelwiseError as error:
            return method, (), (f"{len(new):,} concepts are new to the model, but {error}",)
    notes = []
    if strange := len(new) - len(asked):
        notes.append(
            f"{strange:,} new concepts are left out: the model knows no word of their names"
        )
    if caught and asked:
        notes.append(
            f"{len(caught):,} new concepts are scored without those words of their "
            "names that the model does not know"
        )
    return wider, tuple(asked), tuple(notes)


def _renamed(found: Sequence[Evidence], labels: Sequence[str]) -> list[Evidence]:
    return [replace(one, label=label) for one, label in zip(found, labels, strict=True)]
