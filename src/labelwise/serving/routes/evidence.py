"""The words that speak for labels, and scores of concepts that no training document had."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel

from labelwise.errors import LabelwiseError
from labelwise.model import DIGITS
from labelwise.serving.answers import (
    MOST_SECTIONS_EXPLAINED,
    LinesResponse,
    answer,
    check_length,
    lines,
    made_apart,
)
from labelwise.serving.bodies import described, sent
from labelwise.serving.documents import Read
from labelwise.serving.explaining import by_document, by_section
from labelwise.serving.models import Model
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.service import Here, Service
from labelwise.serving.shapes import (
    MOST_EXPLAINED,
    EndEvent,
    EvidenceEvent,
    EvidenceRequest,
    EvidenceResponse,
    EvidenceStreamEvent,
    LabelEvidence,
    Prediction,
    ScoreRequest,
    ScoreResponse,
    SectionText,
    UnseenConcept,
    UnseenScore,
)
from labelwise.serving.tagging import invalid, language_of_labels, start_event

router = APIRouter(prefix="/v1", tags=["evidence"])
PROBLEMS = documented(404, 408, 413, 415, 422, 504)


@router.post(
    "/evidence",
    response_model=EvidenceResponse,
    responses=PROBLEMS,
    openapi_extra=described(EvidenceRequest),
)
async def evidence(body: Annotated[EvidenceRequest, sent(EvidenceRequest)], here: Here) -> Response:
    """The words that speak for each label, by section, with their weights."""
    model, named, notes = await _model(body, here)
    (read,) = await here.reader.read([body])
    _check_sections(read, body, named)
    asked = await _asked(model, read, body, named)
    found = (
        await by_section(model, read.document, asked)
        if body.by_section
        else [one async for one in by_document(model, read.document, asked)]
    )
    return await made_apart(
        lambda: EvidenceResponse.model_construct(
            model=model.id,
            document=read.document.id,
            evidence=found,
            sections=_sections(read) if body.text is not None else None,
            notes=notes,
        )
    )


@router.post(
    "/evidence/stream",
    response_model=EvidenceStreamEvent,
    response_class=LinesResponse,
    responses=PROBLEMS,
    openapi_extra=described(EvidenceRequest),
)
async def evidence_stream(
    body: Annotated[EvidenceRequest, sent(EvidenceRequest)], here: Here
) -> Response:
    """The same, one label after another; one JSON object a line."""
    model, named, _ = await _model(body, here)
    (read,) = await here.reader.read([body])
    _check_sections(read, body, named)
    return lines(_events(model, read, body, named))


async def _events(
    model: Model, read: Read, body: EvidenceRequest, named: list[str]
) -> AsyncIterator[BaseModel]:
    began = time.perf_counter()
    asked = await _asked(model, read, body, named)
    yield start_event(model, read, len(asked))
    done = 0
    async for one in _explained(model, read, asked, body.by_section):
        done += 1
        yield EvidenceEvent.model_construct(
            event="evidence", done=done, steps=len(asked), evidence=one
        )
    yield EndEvent(event="end", seconds=round(time.perf_counter() - began, 3))


async def _explained(
    model: Model, read: Read, asked: list[Prediction], sections: bool
) -> AsyncIterator[LabelEvidence]:
    if sections:
        for one in await by_section(model, read.document, asked):
            yield one
        return
    async for one in by_document(model, read.document, asked):
        yield one


async def _model(body: EvidenceRequest, here: Service) -> tuple[Model, list[str], list[str]]:
    """The model that explains, with the concepts of the request among its labels; the ids of all
    that are asked for by name; and notes."""
    model = here.models.widening(body.model) if body.concepts else here.models.get(body.model)
    language_of_labels(model, body.names, "names")
    meant = _meant(model, body.labels)
    check_length(len(meant), MOST_EXPLAINED, "labels", field="labels")
    wider, notes = await _widened(model, body.concepts)
    return wider, list(dict.fromkeys([*meant, *(one.id for one in body.concepts)])), notes


async def _widened(model: Model, concepts: list[UnseenConcept]) -> tuple[Model, list[str]]:
    ids = [one.id for one in concepts]
    if len(set(ids)) < len(ids):
        raise ProblemError(422, "invalid", "concepts: an id is given twice", field="concepts")
    index = model.method.label_space.index
    try:
        return await model.with_concepts(
            {one.id: one.descriptor for one in concepts if one.id not in index}
        )
    except LabelwiseError as error:
        raise ProblemError(422, "invalid", f"concepts: {error}", field="concepts") from error


def _meant(model: Model, words: list[str]) -> list[str]:
    """The labels that the words of a request mean, each once."""
    found: dict[str, None] = {}
    for place, word in enumerate(words):
        field = f"labels[{place}]"
        try:
            ids, unknown = model.front.meant([word])
        except LabelwiseError as error:
            raise invalid(field, f"{field}: {error}") from error
        if unknown:
            raise invalid(field, f"{field}: {model.id} has no label with this id")
        found.update(dict.fromkeys(ids))
    if words and not found:  # not to be taken for a request that names none
        raise invalid("labels", f"labels: no label of {model.id} is meant by {', '.join(words)}")
    return list(found)


async def _asked(
    model: Model, read: Read, body: EvidenceRequest, named: list[str]
) -> list[Prediction]:
    """The labels that were named, in their order, or the best ones."""
    row = (await model.scores([read.document]))[0]
    language = language_of_labels(model, body.names, "names")
    front = model.front_in(language)
    if named:
        tags = front.ranked(row, top=len(named), allowed=front.columns(named, ()))
        tags.sort(key=lambda tag: named.index(tag.id))
    else:
        tags = front.ranked(row, top=body.top) if read.total else []
    return [model.labels.prediction(tag, language) for tag in tags]


def _check_sections(read: Read, body: EvidenceRequest, named: list[str]) -> None:
    if body.by_section:
        entries = len(read.document.sections) * (len(named) or body.top)
        check_length(entries, MOST_SECTIONS_EXPLAINED, "explained sections", field="by_section")


def _sections(read: Read) -> list[SectionText]:
    return [
        SectionText.model_construct(kind=one.kind, text=one.text) for one in read.document.sections
    ]


@router.post(
    "/score",
    response_model=ScoreResponse,
    responses=PROBLEMS,
    openapi_extra=described(ScoreRequest),
)
async def score(body: Annotated[ScoreRequest, sent(ScoreRequest)], here: Here) -> Response:
    """Scores of concepts that the model was not trained on, from the words of their names."""
    model = here.models.widening(body.model)
    wider, notes = await _widened(model, body.concepts)
    (read,) = await here.reader.read([body])
    row = (await wider.scores([read.document]))[0]
    columns = wider.method.label_space.index
    return answer(
        ScoreResponse(
            model=model.id,
            document=read.document.id,
            scores=[
                UnseenScore(
                    id=one.id,
                    descriptor=one.descriptor,
                    score=round(float(row[columns[one.id]]), DIGITS),
                    in_model=one.id in model.method.label_space.index,
                )
                for one in body.concepts
            ],
            threshold=model.info.threshold,
            notes=notes,
        )
    )
