"""From scores to the predictions that are sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError
from labelwise.evidence.predictions import EVERY, Cut
from labelwise.model import ALONE
from labelwise.serving.documents import Read
from labelwise.serving.models import Model
from labelwise.serving.problems import ProblemError
from labelwise.serving.shapes import Choice, Prediction, StartEvent, Tagging


class Chooser:
    """Which labels of a model a request wants."""

    def __init__(
        self,
        model: Model,
        include: Sequence[str],
        exclude: Sequence[str],
        language: str | None = None,
    ) -> None:
        self.model, self.language = model, language_of_labels(model, language)
        self._front = model.front_in(self.language)
        self.notes: list[str] = []
        self.allowed: NDArray[np.bool_] | None = None
        if include or exclude:
            wanted, dropped = self._meant(include, "include"), self._meant(exclude, "exclude")
            try:
                self.allowed = model.front.columns(wanted if include else None, dropped)
            except LabelwiseError as error:
                raise invalid("include" if include else "exclude", f"include: {error}") from error

    def _meant(self, words: Sequence[str], name: str) -> list[str]:
        """The labels that the words of a list mean; those that mean none make a note."""
        try:
            found, unknown = self.model.front.meant(words)
        except LabelwiseError as error:
            raise invalid(name, f"{name}: {error}") from error
        if unknown:
            self.notes.append(
                f"{len(unknown)} of the {len(words)} labels in {name} are not in the model and "
                "were left out"
            )
        return found

    def predictions(
        self, scores: NDArray[np.float32], top: int, cut: Cut = EVERY
    ) -> list[Prediction]:
        """The best labels of one row of scores."""
        return [
            self.model.labels.prediction(tag, self.language)
            for tag in self._front.ranked(scores, top=top, cut=cut, allowed=self.allowed)
        ]

    def tagging(self, read: Read, scores: NDArray[np.float32], top: int, cut: Cut) -> Tagging:
        """The predictions of a document; none for one without a word, where all labels are as
        likely as any other."""
        return Tagging(
            document=read.document.id,
            predictions=self.predictions(scores, top, cut) if read.total else [],
            words=read.total,
            words_read=words_read(self.model, read),
            language=read.language,
        )


def chooser(model: Model, choice: Choice) -> Chooser:
    made = Chooser(model, choice.include, choice.exclude, choice.labels)
    if choice.precision is not None and not model.info.calibrated:
        made.notes.append(
            f"the scores of {model.id} are not calibrated, so that precision is a rough guess"
        )
    return made


def cut_of(model: Model, choice: Choice) -> Cut:
    """How far down the ranked labels a request wants to go."""
    if choice.best > choice.top:
        raise invalid("best", f"best: {choice.best} is more than top, which is {choice.top}")
    cuts = (choice.threshold, choice.certified, choice.precision)
    if choice.best and all(one is None for one in cuts):
        raise invalid("best", f"best: {ALONE}")
    if choice.certified is not None and choice.threshold is not None:
        raise invalid("certified", "certified: it is a threshold, and another one is given")
    try:
        return model.front.cut(
            threshold=choice.threshold,
            certified=choice.certified,
            precision=choice.precision,
            best=choice.best,
        )
    except LabelwiseError as error:
        raise invalid("certified", f"certified: {error}") from error


def invalid(field: str, sentence: str) -> ProblemError:
    """What is wrong with a field, whose name begins the sentence."""
    return ProblemError(422, "invalid", sentence, field=field)


def words_read(model: Model, read: Read) -> int:
    most = model.info.max_words
    return read.total if most is None else min(read.total, most)


def start_event(model: Model, read: Read, steps: int) -> StartEvent:
    """What a stream begins with."""
    return StartEvent(
        event="start",
        model=model.id,
        document=read.document.id,
        words=read.total,
        words_read=words_read(model, read),
        sections=list(read.words),
        steps=steps,
    )


def shown(model: Model, id: str, language: str | None = None) -> dict[str, Any]:
    """The fields of a label, for whatever shows one."""
    return model.labels.info(id, language).__dict__


def language_of_labels(model: Model, wanted: str | None, field: str = "labels") -> str | None:
    """The language that names are asked for in; None where it is the model's own."""
    if wanted is None or wanted == model.info.language:
        return None
    if wanted not in model.labels.thesaurus.languages:
        there = ", ".join((model.info.language, *model.labels.thesaurus.languages))
        raise invalid(field, f"{field}: {model.id} has names in {there}, not in '{wanted}'")
    return wanted
