"""From evidence to what a page can mark: stretches by section, weights, the strongest words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.evidence.heat import MOST, heat_of, phrases_of
from labelwise.methods.base import Evidence, EvidenceKind
from labelwise.methods.spans import Span, Spans
from labelwise.model import DIGITS
from labelwise.serving.models import Model
from labelwise.serving.shapes import LabelEvidence, Phrase, Prediction, SectionEvidence, Stretch

PHRASES = 12

CHARACTERS = 10_000_000
"""Characters that are explained at a time, counted once for each label."""

REMEMBERED = 20_000
"""Words of a label that its phrases are chosen from, where every section is read on its own."""


async def by_document(
    model: Model, document: Document, labels: Sequence[Prediction]
) -> AsyncIterator[LabelEvidence]:
    """The evidence of each label in the document as a whole.

    To read the document takes most of the time, and many labels take hardly more of it than one.
    """
    step = _at_once(document)
    for at in range(0, len(labels), step):

        def explained(some: Sequence[Prediction] = labels[at : at + step]) -> list[LabelEvidence]:
            found = model.front.evidence(document, [one.id for one in some])
            return [_shown(document, *pair) for pair in zip(some, found, strict=True)]

        for one in await model.explain(explained):
            yield one


def _at_once(document: Document) -> int:
    """Labels that a document of this length is explained for at a time: the evidence of every word
    for every label would fill the memory."""
    length = sum(len(section.text) for section in document.sections)
    return max(1, CHARACTERS // max(1, length))


async def by_section(
    model: Model, document: Document, labels: Sequence[Prediction]
) -> list[LabelEvidence]:
    """The evidence of each label in every section, read on its own."""
    starts = document.section_starts()
    found = [_Sections(one, model.method.label_space.index[one.id]) for one in labels]
    for number, section in enumerate(document.sections):
        alone = replace(document, sections=(section,))
        scores = (await model.scores([alone]))[0]
        step = _at_once(alone)
        for at in range(0, len(found), step):

            def explained(
                some: Sequence[_Sections] = found[at : at + step],
                alone: Document = alone,
                scores: NDArray[np.float32] = scores,
                number: int = number,
            ) -> None:
                each = model.front.evidence(alone, [one.asked.id for one in some])
                for one, evidence in zip(some, each, strict=True):
                    one.add(number, starts[number], evidence, scores)

            await model.explain(explained)
    return await model.explain(lambda: [one.shown(document.text) for one in found])


class _Sections:
    """What is found for one label, section after section, and no more of it than is shown."""

    def __init__(self, asked: Prediction, column: int) -> None:
        self.asked, self._column = asked, column
        self._kind: EvidenceKind = "attention"
        self._sections: list[SectionEvidence] = []
        self._spans: list[Spans] = []
        self._runs = self._left_out = 0

    def add(self, number: int, start: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        self._kind = evidence.kind
        if not evidence.spans:
            return
        marked = heat_of(evidence)
        self._left_out += marked.left_out
        spans = Spans.of(evidence.spans)
        self._spans.append(Spans(spans.starts + start, spans.ends + start, spans.weights))
        self._sections.append(
            SectionEvidence.model_construct(
                section=number,
                weight=round(float(np.abs(spans.weights).sum()), DIGITS),
                score=round(float(scores[self._column]), DIGITS),
                spans=[_stretch(run, 0) for run in marked.runs],
            )
        )
        self._runs += len(marked.runs)
        if self._runs > 2 * MOST:
            self._drop_the_weakest()
        if sum(map(len, self._spans)) > 2 * REMEMBERED:  # what is said most of all stays what it is
            spans = Spans.added(self._spans)
            kept = np.sort(np.lexsort((spans.starts, -np.abs(spans.weights)))[:REMEMBERED])
            self._spans = [Spans(spans.starts[kept], spans.ends[kept], spans.weights[kept])]

    def _drop_the_weakest(self) -> None:
        """Keep the strongest stretches, as many as are marked in a document."""
        if self._runs <= MOST:
            return
        weights = [abs(run.weight) for section in self._sections for run in section.spans]
        weakest = sorted(weights, reverse=True)[MOST - 1]
        equal = MOST - sum(weight > weakest for weight in weights)
        for section in self._sections:
            kept = []
            for run in section.spans:
                equal -= abs(run.weight) == weakest
                if abs(run.weight) > weakest or (abs(run.weight) == weakest and equal >= 0):
                    kept.append(run)
            section.spans = kept
        self._left_out += self._runs - MOST
        self._runs = MOST

    def shown(self, text: str) -> LabelEvidence:
        self._drop_the_weakest()
        spans = Spans.added(self._spans) if self._spans else ()
        evidence = Evidence(self.asked.id, self._kind, spans)
        return LabelEvidence.model_construct(
            **self.asked.__dict__,
            label=self.asked.id,
            kind=self._kind,
            strongest=max(
                (abs(run.weight) for section in self._sections for run in section.spans),
                default=0.0,
            ),
            sections=self._sections,
            phrases=_phrases(text, evidence),
            left_out=self._left_out,
        )


def _shown(document: Document, asked: Prediction, evidence: Evidence) -> LabelEvidence:
    starts = document.section_starts()
    marked = heat_of(evidence)
    spans = Spans.of(evidence.spans)
    inside = np.searchsorted(starts, spans.starts, side="right") - 1  # the section of each span
    weights = np.bincount(inside, np.abs(spans.weights), minlength=len(starts)).tolist()
    stretches: list[list[Stretch]] = [[] for _ in starts]
    for run in marked.runs:
        number = bisect_right(starts, run.start) - 1
        stretches[number].append(_stretch(run, starts[number]))
    return LabelEvidence.model_construct(
        **asked.__dict__,
        label=asked.id,
        kind=evidence.kind,
        strongest=round(marked.strongest, DIGITS),
        sections=[
            SectionEvidence.model_construct(
                section=number, weight=round(weights[number], DIGITS), score=None, spans=found
            )
            for number, found in enumerate(stretches)
            if weights[number]
        ],
        phrases=_phrases(document.text, evidence),
        left_out=marked.left_out,
    )


def _stretch(run: Span, offset: int) -> Stretch:
    return Stretch.model_construct(
        start=run.start - offset, end=run.end - offset, weight=round(run.weight, DIGITS)
    )


def _phrases(text: str, evidence: Evidence) -> list[Phrase]:
    return [
        Phrase.model_construct(text=one.text, weight=round(one.weight, DIGITS), times=one.times)
        for one in phrases_of(text, evidence, top=PHRASES)
    ]
