"""A trained method that has learned from decisions; the method itself stays as it is.

It bears the name and the settings of the method that it is made of, and is saved as one. The scores
are the method's, in log-odds, and what decided acts add to them (``lessons``). It reads acts as the
linear part of the method does, so that one is needed: a linear model or a tree, or a blend with
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.decisions import Decided
from labelwise.corpus.document import Document
from labelwise.corpus.labels import GROUPS, LabelSpace
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.calibration import Calibration, Curve
from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.methods.around import Around
from labelwise.methods.base import (
    Evidence,
    Method,
    Rounding,
    Scores,
    Settings,
    State,
    Widening,
    within,
)
from labelwise.methods.blend import member_odds, together
from labelwise.methods.lessons import Belief, Lessons
from labelwise.methods.sparse_rows import from_arrays, named, parts_of, to_arrays
from labelwise.methods.taught import FLOOR, MOST_ACTS, Taught, heaviest
from labelwise.methods.tfidf_method import TfidfMethod
from labelwise.schema import FLOATS, WHOLE, array, number, places, texts, value


class Learned(Around):
    """The method, what it was taught, and what it learned from that."""

    def __init__(self, method: Method, taught: Taught, lessons: Lessons) -> None:
        super().__init__(method)
        self._label_space, self.taught, self.lessons = method.label_space, taught, lessons
        self._reader = reader_of(method)
        if method.calibration is not None:
            # The scores are chances as before; what was certified is so of the method alone.
            self.calibration = Calibration({group: Curve("as it is") for group in GROUPS})

    @classmethod
    def of(cls, method: Method, taught: Taught, lessons: Lessons) -> Learned:
        """The method with lessons; its labels may grow where the method's may."""
        kind = WideningLearned if isinstance(method, Widening) else Learned
        return kind(method, taught, lessons)

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        raise LabelwiseError("a model that learned from decisions is not trained: its method is")

    def _scores(self, documents: Sequence[Document]) -> Scores:
        return self._with_lessons(documents, self._inner().scores(documents))

    def _best_scores(self, documents: Sequence[Document]) -> Scores:
        return self._with_lessons(documents, self._inner().best_scores(documents))

    def _inner(self) -> Method:
        self.method.cache = self.cache
        return self.method

    def _with_lessons(self, documents: Sequence[Document], scores: Scores) -> Scores:
        features = heaviest(self._reader.features(documents))
        return self.lessons(scores, self.taught.similar(features))

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        """The method's evidence, and the words by which decided acts move the score, each for as
        much as it moves it from where an unknown label is."""
        own = self._inner().evidence(document, labels)
        at = {column: place for place, column in enumerate(self.lessons.columns.tolist())}
        index = self.label_space.index
        taught = [label for label in labels if index[label] in at]
        if not taught:
            return own
        moved: dict[str, float] = {}

        def contributions(x: sp.csr_matrix) -> NDArray[np.float64]:
            read = heaviest(x)
            similar = self.taught.similar(read)[0]
            words = read.toarray().ravel()[x.indices]
            added = np.zeros((len(taught), len(x.data)))
            for row, label in enumerate(taught):
                weights = self.lessons.words(self.taught, similar, at[index[label]])
                added[row] = words * weights[x.indices]
                moved[label] = abs(float(added[row].sum()))
            return added

        found = self._reader.spread(document, taught, contributions)
        of_lessons = {one.label: one for one in found}
        given = member_odds(self.method.scores([document])[0])
        return [
            together(
                one.label,
                [
                    (max(float(given[index[one.label]]) - FLOOR, 0.0), one),
                    (moved[one.label], of_lessons[one.label]),
                ],
            )
            if moved.get(one.label)
            else one
            for one in own
        ]

    @property
    def counts(self) -> dict[str, int]:
        """What it was taught: acts, verdicts on labels, labels learned of and those with a unit."""
        return {
            "acts": len(self.taught),
            "decisions": int(self.taught.verdicts.nnz),
            "labels": len(self.lessons.columns),
            "units": int(self.lessons.has_unit.sum()),
        }

    def in_eight_bits(self) -> Learned:
        """The same model, with the large weights of its encoders in 8 bits."""
        inner = self.method
        return self._around(inner.in_eight_bits() if isinstance(inner, Rounding) else inner)

    def _around(self, method: Method) -> Learned:
        """The same lessons for another shape of the method, which may have more labels."""
        ids, space = self.label_space.ids, method.label_space
        columns = np.array([space.index[id] for id in ids], dtype=np.intp)
        method.take_over(self.method)
        made = self.of(
            method,
            self.taught.under(columns, len(space)),
            replace(self.lessons, columns=columns[self.lessons.columns]),
        )
        made.take_over(self)
        return made

    def state(self) -> State:
        inner, lessons = self.method.state(), self.lessons
        arrays: dict[str, NDArray[Any]] = {
            "columns": lessons.columns.astype(np.int32),
            "offsets": lessons.offsets,
            "has_unit": lessons.has_unit.astype(np.uint8),
            **named("weights", to_arrays(lessons.weights)),
            **self.taught.arrays(),
        }
        unseen, calibration = self.method.unseen, self.method.calibration
        return State(
            {**inner.arrays, **named("learned", arrays)},
            {
                "learned": {
                    "acts": list(self.taught.acts),
                    "belief": asdict(lessons.belief),
                    "threshold": self.method.threshold,
                    "unseen": asdict(unseen) if unseen else None,
                    "calibration": calibration.to_json() if calibration else None,
                },
                "values": inner.values,
            },
        )

    def _restore(self, state: State) -> None:
        raise NotImplementedError  # Method.restore makes one of what ``state`` gave


class WideningLearned(Learned):
    """One whose labels may grow."""

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Method:
        """The same model with more labels, each scored from its names."""
        return self._around(cast(Widening, self.method).with_labels(extra, thesaurus))


def restored(cls: type[Method], settings: Settings, space: LabelSpace, state: State) -> Method:
    """A method of a class that has learned, from its state."""
    written = value(state.values, "learned", dict)
    arrays = parts_of(state.arrays, "learned")
    own = {name: one for name, one in state.arrays.items() if not name.startswith("learned.")}
    method = cls.restore(settings, space, State(own, value(state.values, "values", dict)))
    method.threshold = number(written, "threshold")
    if unseen := written.get("unseen"):
        method.unseen = UnseenScale(number(unseen, "slope"), number(unseen, "offset"))
    if calibration := written.get("calibration"):
        method.calibration = Calibration.from_json(calibration)
    acts, columns = texts(written, "acts"), places(arrays, "columns", len(space))
    belief = value(written, "belief", dict)
    lessons = Lessons(
        Belief(number(belief, "calibration"), number(belief, "memory"), number(belief, "unit")),
        columns.astype(np.intp),
        array(arrays, "offsets", (len(columns),), FLOATS),
        from_arrays(parts_of(arrays, "weights"), (len(acts), len(columns))),
        array(arrays, "has_unit", (len(columns),), WHOLE).astype(bool),
    )
    taught = Taught.restored(acts, arrays, reader_of(method).width, len(space))
    return Learned.of(method, taught, lessons)


def learn(
    method: Method,
    documents: Mapping[str, Document],
    decided: Mapping[str, Decided],
    *,
    most: int = MOST_ACTS,
) -> Learned:
    """The method with what these decisions teach, beside what it was taught before.

    ``documents`` has the texts of acts; what was decided of other acts is not learned from. The
    last acts are remembered, so ``most`` of them.
    """
    before = method.taught if isinstance(method, Learned) else None
    inner = method.method if isinstance(method, Learned) else method
    asked = {id: one for id, one in decided.items() if id in documents}
    acts = [documents[id] for id in asked]
    if not acts:
        raise LabelwiseError("there is no decided act to learn from")
    features = heaviest(reader_of(inner).features(acts))
    now = Taught.of(asked, features, inner.scores(acts), inner.label_space)
    taught = (before.followed_by(now) if before is not None else now).part(slice(-most, None))
    made = Learned.of(inner, taught, Lessons.learned(taught, inner.label_space, Belief()))
    if before is not None:
        made.take_over(method)
    return made


def reader_of(method: Method) -> TfidfMethod:
    """The part of a method that reads acts as words."""
    for one in within(method):
        if isinstance(one, TfidfMethod):
            return one
    raise LabelwiseError(
        f"{method.name} cannot learn from decisions: that takes a linear model (svm, logistic), a "
        "tree, or a blend with one"
    )
