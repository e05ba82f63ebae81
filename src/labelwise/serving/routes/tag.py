"""Tag one document, several, or a long one section by section; compare models on one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Response
from numpy.typing import NDArray
from pydantic import BaseModel

from labelwise.evaluation.ranking import ranked
from labelwise.evidence.predictions import Cut
from labelwise.model import DIGITS
from labelwise.serving.answers import (
    MOST_PREDICTED,
    MOST_SECTION_LABELS,
    MOST_SECTION_SCORES,
    LinesResponse,
    answer,
    check_length,
    in_pieces,
    lines,
    made_apart,
)
from labelwise.serving.bodies import described, sent
from labelwise.serving.documents import Read
from labelwise.serving.models import Model
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.service import Here, Service
from labelwise.serving.shapes import (
    Compared,
    CompareRequest,
    CompareResponse,
    DocumentEvent,
    EndEvent,
    SectionEvent,
    TagBatchRequest,
    TagBatchResponse,
    TagEvent,
    TagRequest,
    TagResponse,
    TagStreamRequest,
)
from labelwise.serving.tagging import (
    Chooser,
    chooser,
    cut_of,
    shown,
    start_event,
    words_read,
)
from labelwise.text.language import mismatch

router = APIRouter(prefix="/v1", tags=["tag"])
PROBLEMS = documented(404, 408, 413, 415, 422, 504)


@router.post(
    "/tag", response_model=TagResponse, responses=PROBLEMS, openapi_extra=described(TagRequest)
)
async def tag(body: Annotated[TagRequest, sent(TagRequest)], here: Here) -> Response:
    """The ranked labels of one document."""
    model = here.models.get(body.model)
    chosen, cut = chooser(model, body), cut_of(model, body)
    (read,) = await here.reader.read([body])
    return answer(await _tagged(model, chosen, read, body, cut))


async def _tagged(
    model: Model, chosen: Chooser, read: Read, body: TagRequest, cut: Cut
) -> TagResponse:
    await _look_at(read)
    scores = await model.scores([read.document])
    tagging = await asyncio.to_thread(chosen.tagging, read, scores[0], body.top, cut)
    return TagResponse.model_construct(
        **tagging.__dict__,
        model=model.id,
        threshold=model.info.threshold,
        notes=_notes(model, chosen, [read]),
    )


@router.post(
    "/tag/batch",
    response_model=TagBatchResponse,
    responses=PROBLEMS,
    openapi_extra=described(TagBatchRequest),
)
async def tag_batch(
    body: Annotated[TagBatchRequest, sent(TagBatchRequest)], here: Here
) -> Response:
    """The ranked labels of several documents, in their order."""
    check_documents(len(body.documents), here)
    model = here.models.get(body.model)
    top = min(body.top, len(model.method.label_space))
    check_length(len(body.documents) * top, MOST_PREDICTED, "labels", field="top")
    chosen, cut = chooser(model, body), cut_of(model, body)
    read = await here.reader.read(body.documents)
    await _look_at(*read)
    scores = await model.scores([one.document for one in read])
    return in_pieces(
        [
            partial(chosen.tagging, one, row, body.top, cut)
            for one, row in zip(read, scores, strict=True)
        ],
        each=top,
        before=(("model", model.id), ("threshold", model.info.threshold)),
        name="documents",
        after=(("notes", _notes(model, chosen, read)),),
    )


@router.post(
    "/tag/stream",
    response_model=TagEvent,
    response_class=LinesResponse,
    responses=PROBLEMS,
    openapi_extra=described(TagStreamRequest),
)
async def tag_stream(
    body: Annotated[TagStreamRequest, sent(TagStreamRequest)], here: Here
) -> Response:
    """One long document, as a whole and then section by section; one JSON object a line."""
    model = here.models.get(body.model)
    chosen, cut = chooser(model, body), cut_of(model, body)
    (read,) = await here.reader.read([body])
    sections = len(read.words)
    check_length(
        sections * body.section_top,
        MOST_SECTION_LABELS,
        "labels of sections",
        field="section_top",
    )
    check_length(sections * body.top, MOST_SECTION_SCORES, "scores of sections", field="top")
    return lines(_events(model, chosen, read, body, cut))


async def _events(
    model: Model, chosen: Chooser, read: Read, body: TagStreamRequest, cut: Cut
) -> AsyncIterator[BaseModel]:
    began = time.perf_counter()
    steps = 1 + len(read.words)
    yield start_event(model, read, steps)
    tagging = await _tagged(model, chosen, read, body, cut)
    yield DocumentEvent.model_construct(event="document", done=1, steps=steps, tagging=tagging)
    columns = {one.id: model.method.label_space.index[one.id] for one in tagging.predictions}
    for number, section in enumerate(read.document.sections):
        alone = replace(read.document, sections=(section,))
        row = (await model.scores([alone]))[0]
        yield SectionEvent.model_construct(
            event="section",
            done=number + 2,
            steps=steps,
            section=number,
            scores={id: round(float(row[column]), DIGITS) for id, column in columns.items()},
            predictions=(
                chosen.predictions(row, body.section_top)
                if body.section_top and read.words[number]
                else []
            ),
        )
    yield EndEvent(event="end", seconds=round(time.perf_counter() - began, 3))


@router.post(
    "/compare",
    response_model=CompareResponse,
    responses=PROBLEMS,
    openapi_extra=described(CompareRequest),
)
async def compare(body: Annotated[CompareRequest, sent(CompareRequest)], here: Here) -> Response:
    """The labels that any of two to four models puts among its best, and what each says of them."""
    if len(set(body.models)) < len(body.models):
        raise ProblemError(422, "invalid", "models: one model is named twice", field="models")
    models = [here.models.get(id, f"models[{n}]") for n, id in enumerate(body.models)]
    chosen = [Chooser(model, body.include, body.exclude, body.labels) for model in models]
    (read,) = await here.reader.read([body])
    await _look_at(read)
    rows = [
        scores[0]
        for scores in await asyncio.gather(*(model.scores([read.document]) for model in models))
    ]
    return await made_apart(lambda: _comparison(body, chosen, read, rows))


def _comparison(
    body: CompareRequest, chosen: list[Chooser], read: Read, rows: list[NDArray[np.float32]]
) -> CompareResponse:
    models = [one.model for one in chosen]
    best: dict[str, Model] = {}
    if read.total:
        for one, row in zip(chosen, rows, strict=True):
            for prediction in one.predictions(row, body.top):
                best.setdefault(prediction.id, one.model)
    ranks = [_ranks(one, row) for one, row in zip(chosen, rows, strict=True)]
    labels = [_compared(id, model, chosen, rows, ranks) for id, model in best.items()]
    worst = max(len(one.method.label_space) for one in models) + 1
    labels.sort(key=lambda one: sorted(rank or worst for rank in one.ranks))
    return CompareResponse.model_construct(
        document=read.document.id,
        models=body.models,
        thresholds=[model.info.threshold for model in models],
        labels=labels,
        notes=[
            f"{one.model.id}: {note}" for one in chosen for note in _notes(one.model, one, [read])
        ],
    )


def _ranks(chosen: Chooser, row: NDArray[np.float32]) -> NDArray[np.int64]:
    """(labels,) the rank of each label among those that are wanted; 0 for the others."""
    columns = np.arange(len(row)) if chosen.allowed is None else chosen.allowed.nonzero()[0]
    ranks = np.zeros(len(row), dtype=np.int64)
    ranks[columns[ranked(row[columns])]] = np.arange(1, len(columns) + 1)
    return ranks


def _compared(
    id: str,
    first: Model,
    chosen: list[Chooser],
    rows: list[NDArray[np.float32]],
    ranks: list[NDArray[np.int64]],
) -> Compared:
    models = [one.model for one in chosen]
    columns = [model.method.label_space.index.get(id) for model in models]
    scores = [
        0.0 if column is None else float(row[column])
        for column, row in zip(columns, rows, strict=True)
    ]
    return Compared.model_construct(
        **shown(first, id, chosen[0].language),
        scores=[round(score, DIGITS) for score in scores],
        ranks=[
            0 if column is None else int(rank[column])
            for column, rank in zip(columns, ranks, strict=True)
        ],
        assigned=[
            score > model.method.threshold for score, model in zip(scores, models, strict=True)
        ],
    )


async def _look_at(*read: Read) -> None:
    """Find the languages of documents, away from the thread that serves everybody."""
    await asyncio.to_thread(lambda: [one.language for one in read])


def check_documents(count: int, here: Service) -> None:
    if count > here.limits.max_documents:
        raise ProblemError(
            413,
            "too-large",
            f"documents: {count} were sent, and {here.limits.max_documents} are read at a time",
            field="documents",
        )


def _notes(model: Model, chosen: Chooser, read: list[Read]) -> list[str]:
    notes = list(chosen.notes)
    if cut := sum(words_read(model, one) < one.total for one in read):
        which = "the document is" if len(read) == 1 else f"{cut} of the documents are"
        notes.append(
            f"{which} longer than the {model.info.max_words:,} words that this model reads"
        )
    unread = [told for one in read if not cut and (told := model.front.unread(one.total))]
    if unread:
        notes.append(
            unread[0]
            if len(read) == 1
            else f"{len(unread)} of the documents are longer than a part of this model reads"
        )
    for one in read:
        if (wrong := mismatch(one.language, model.reads)) and wrong not in " ".join(notes):
            notes.append(f"{one.document.id or 'the document'} {wrong}")
    return notes
