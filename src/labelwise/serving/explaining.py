"""From evidence to what a page can mark: stretches by section, weights, the strongest words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from labelwise.corpus.document import Document
from labelwise.evidence.heat import heat_of, phrases_of
from labelwise.methods.base import Evidence, EvidenceKind, Span
from labelwise.model import DIGITS
from labelwise.serving.models import Model
from labelwise.serving.shapes import LabelEvidence, Phrase, Run, SectionEvidence

PHRASES = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """A label of the model and its score for the document."""

    id: str
    descriptor: str
    score: float


async def by_document(
    model: Model, document: Document, labels: Sequence[Asked]
) -> AsyncIterator[LabelEvidence]:
    """The evidence of each label in the document as a whole.

    The model's thread is asked for one label, then two, four, ...: a network explains many labels
    as fast as one, and a tree takes seconds for each, and whoever waits may go away meanwhile.
    """
    at, size = 0, 1
    while at < len(labels):
        some = labels[at : at + size]

        def explained(some: Sequence[Asked] = some) -> list[LabelEvidence]:
            found = model.method.evidence(document, [one.id for one in some])
            return [_shown(document, *pair) for pair in zip(some, found, strict=True)]

        for one in await model.explain(explained):
            yield one
        at, size = at + size, size * 2


async def by_section(
    model: Model, document: Document, labels: Sequence[Asked]
) -> list[LabelEvidence]:
    """The evidence of each label in every section, read on its own."""
    starts = document.section_starts()
    found: list[list[SectionEvidence]] = [[] for _ in labels]
    spans: list[list[Span]] = [[] for _ in labels]
    left_out = [0] * len(labels)
    kinds: list[EvidenceKind] = ["attention"] * len(labels)
    columns = [model.method.label_space.index[one.id] for one in labels]
    for number, section in enumerate(document.sections):
        alone = replace(document, sections=(section,))
        scores = (await model.scores([alone]))[0]

        def explained(alone: Document = alone) -> list[Evidence]:
            return model.method.evidence(alone, [one.id for one in labels])

        for place, evidence in enumerate(await model.explain(explained)):
            kinds[place] = evidence.kind
            if not evidence.spans:
                continue
            marked = heat_of(evidence)
            left_out[place] += marked.left_out
            spans[place] += [
                Span(starts[number] + one.start, starts[number] + one.end, one.weight)
                for one in evidence.spans
            ]
            found[place].append(
                SectionEvidence.model_construct(
                    section=number,
                    weight=round(sum(abs(one.weight) for one in evidence.spans), DIGITS),
                    score=round(float(scores[columns[place]]), DIGITS),
                    spans=[_run(run, 0) for run in marked.runs],
                )
            )
    text = document.text
    return [
        LabelEvidence.model_construct(
            label=one.id,
            descriptor=one.descriptor,
            score=one.score,
            kind=kinds[place],
            strongest=max(
                (abs(run.weight) for section in found[place] for run in section.spans), default=0.0
            ),
            sections=found[place],
            phrases=_phrases(text, Evidence(one.id, kinds[place], tuple(spans[place]))),
            left_out=left_out[place],
        )
        for place, one in enumerate(labels)
    ]


def _shown(document: Document, asked: Asked, evidence: Evidence) -> LabelEvidence:
    starts = document.section_starts()
    marked = heat_of(evidence)
    weights = [0.0] * len(starts)
    runs: list[list[Run]] = [[] for _ in starts]
    for span in evidence.spans:
        weights[bisect_right(starts, span.start) - 1] += abs(span.weight)
    for run in marked.runs:
        number = bisect_right(starts, run.start) - 1
        runs[number].append(_run(run, starts[number]))
    return LabelEvidence.model_construct(
        label=asked.id,
        descriptor=asked.descriptor,
        score=asked.score,
        kind=evidence.kind,
        strongest=round(marked.strongest, DIGITS),
        sections=[
            SectionEvidence.model_construct(
                section=number, weight=round(weights[number], DIGITS), score=None, spans=found
            )
            for number, found in enumerate(runs)
            if weights[number]
        ],
        phrases=_phrases(document.text, evidence),
        left_out=marked.left_out,
    )


def _run(run: Span, offset: int) -> Run:
    return Run.model_construct(
        start=run.start - offset, end=run.end - offset, weight=round(run.weight, DIGITS)
    )


def _phrases(text: str, evidence: Evidence) -> list[Phrase]:
    return [
        Phrase.model_construct(text=one.text, weight=round(one.weight, DIGITS), times=one.times)
        for one in phrases_of(text, evidence, top=PHRASES)
    ]
