"""The worklist: acts come in, are listed, opened, decided and done."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Path, Query, Response
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.desk.records import OF_ACTS, Change, Concept, Decision, Reading, State
from labelwise.desk.undo import last_step
from labelwise.desk.worklist import Sort, Wanted, next_act, page
from labelwise.model import DIGITS
from labelwise.serving.answers import answer
from labelwise.serving.bodies import described, sent
from labelwise.serving.desk_shapes import (
    ActResponse,
    AddedAct,
    AddRequest,
    AddResponse,
    Decided,
    DecideRequest,
    Deciding,
    NextResponse,
    ReadingResponse,
    Undoable,
    Worklist,
    WorklistEntry,
)
from labelwise.serving.models import Model
from labelwise.serving.places import bare_info
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.routes.tag import check_documents
from labelwise.serving.service import Here, Service
from labelwise.serving.shapes import LabelInfo, Prediction, SectionText
from labelwise.serving.signing_in import Who

router = APIRouter(prefix="/v1/desk", tags=["worklist"])
ActPath = Annotated[str, Path(max_length=600, description="The id of the act.")]
ReadingQuery = Annotated[
    int, Query(ge=1, le=2, description="1 is the indexer's reading, 2 the second reader's.")
]


@router.post(
    "/acts",
    response_model=AddResponse,
    responses=documented(408, 413, 415, 422, 504),
    openapi_extra=described(AddRequest),
)
async def add(here: Here, who: Who, body: Annotated[AddRequest, sent(AddRequest)]) -> Response:
    """Put acts on the worklist. The same text is one act, whatever it is called."""
    check_documents(len(body.acts), here)
    read = await here.reader.read(body.acts)
    for place, one in enumerate(read):
        if not one.document.sections:
            name = f"acts[{place}]"
            raise ProblemError(422, "invalid", f"{name}: there is no text to read", field=name)
    documents = [
        (_labelled(one.document, given.labels), one.total)
        for one, given in zip(read, body.acts, strict=True)
    ]
    added = await asyncio.to_thread(
        here.worklist.store.add, documents, source=body.source, who=who.name
    )
    here.worklist.advance.more()
    return answer(AddResponse(acts=[AddedAct(id=id, new=new) for id, new in added]))


@router.get("/acts", response_model=Worklist, responses=documented(422))
def acts(
    *,
    here: Here,
    who: Who,
    state: Annotated[State | None, Query(description="Only acts in this state.")] = None,
    by: Annotated[
        str | None, Query(max_length=100, description="Only acts of this person.")
    ] = None,
    q: Annotated[str, Query(max_length=200, description="Words in the id or the title.")] = "",
    sort: Annotated[Sort, Query(description="The column to sort by.")] = "added",
    descending: Annotated[bool, Query(description="The largest or latest first.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """The acts of the worklist."""
    found = page(
        here.worklist.store.database,
        Wanted(state, by, q, sort, descending),
        fingerprint=here.models.get(None).fingerprint,
        limit=limit,
        offset=offset,
    )
    return answer(
        Worklist(
            acts=[WorklistEntry(**vars(one)) for one in found.entries],
            total=found.total,
            states=found.states,
            people=found.people,
        )
    )


@router.get("/next", response_model=NextResponse, responses=documented(422))
def next_one(
    here: Here,
    who: Who,
    after: Annotated[str | None, Query(max_length=600, description="The act before it.")] = None,
) -> Response:
    """The act to work on next: one that nobody has begun, or that you have."""
    return answer(NextResponse(id=next_act(here.worklist.store.database, who.name, after=after)))


@router.get("/acts/{act:path}", response_model=ActResponse, responses=documented(404, 422))
def act(here: Here, who: Who, act: ActPath, reading: ReadingQuery = 1) -> Response:
    """An act with its text, how its reading stands, and what the first model suggests.

    A second reader does not see the first reading.
    """
    store, model = here.worklist.store, here.models.get(None)
    found = store.act(act)
    if reading == 2:
        _check_reviewer(who.may("reviewer"))
    predictions = store.suggestions(act, model.fingerprint)
    stopped = set(store.stopped()) if predictions else set()
    return answer(
        ActResponse(
            id=found.document.id,
            uuid=found.uuid,
            title=found.document.title,
            source=found.source,
            words=found.words,
            sections=[SectionText(kind=x.kind, text=x.text) for x in found.document.sections],
            labels=list(found.document.labels),
            added=found.added,
            added_by=found.added_by,
            reading=shown_reading(here, store.reading(act, reading)),
            model=model.id,
            predictions=None
            if predictions is None
            else [Prediction(**one) for one in predictions if one["id"] not in stopped],
            undo=[
                Undoable(
                    what=one.what,
                    concept=one.concept or "",
                    descriptor=one.descriptor,
                    before=None if before is None else _decided(here, before),
                )
                for one, before in last_step(store.written(act, reading), who.name)
            ],
        )
    )


@router.post(
    "/acts/{act:path}/decisions",
    response_model=ReadingResponse,
    responses=documented(404, 408, 409, 413, 415, 422),
    openapi_extra=described(DecideRequest),
)
async def decide(
    here: Here, who: Who, act: ActPath, body: Annotated[DecideRequest, sent(DecideRequest)]
) -> Response:
    """Write decisions, all of them or none, upon the version that you saw.

    A concept that is added without a score gets the one that the model gives it for this act.
    Where somebody has written since, nothing is written, and the answer (409) says what changed
    (`changed`) and how things stand (`now`).
    """
    if body.reading == 2:
        _check_reviewer(who.may("reviewer"))
    store = here.worklist.store
    reading = await asyncio.to_thread(store.reading, act, body.reading)
    withdraws = any(one.what == "withdraw" for one in body.decisions)
    if (withdraws or reading.state == "withdrawn") and not who.may("admin"):
        raise ProblemError(403, "not-allowed", "acts are withdrawn and brought back by admins")
    changes = _changes(here, body, {one.concept or "": one for one in reading.decisions})
    written = await asyncio.to_thread(
        store.decide,
        act,
        await _scored(here, act, changes),
        version=body.version,
        who=who.name,
        reading=body.reading,
        key=body.key,
    )
    return answer(await asyncio.to_thread(shown_reading, here, written))


def _changes(here: Service, body: DecideRequest, known: dict[str, Decision]) -> list[Change]:
    changes = []
    for place, one in enumerate(body.decisions):
        name = f"decisions[{place}].concept"
        if (one.concept is None) != (one.what in OF_ACTS):
            needs = "names no concept" if one.what in OF_ACTS else "needs a concept"
            raise ProblemError(422, "invalid", f"{name}: '{one.what}' {needs}", field=name)
        if (one.what == "rename") != bool(one.new_id or one.new_title):
            name = f"decisions[{place}].new_id"
            needs = "needs a new id or title" if one.what == "rename" else "gives no new name"
            raise ProblemError(422, "invalid", f"{name}: '{one.what}' {needs}", field=name)
        if one.concept is None:
            changes.append(_change(here, one, None))
            continue
        info = label_info(here, one.concept, one.model)
        if info is None and one.concept in known:
            info = bare_info(one.concept, known[one.concept].uri, known[one.concept].descriptor)
        if info is None:
            raise ProblemError(
                422, "invalid", f"{name}: neither a model nor its thesaurus has it", field=name
            )
        changes.append(_change(here, one, info))
    return changes


def _change(here: Service, given: Deciding, info: LabelInfo | None) -> Change:
    model = here.models.loaded.get(given.model or "")
    return Change(
        given.what,
        None if info is None else Concept(info.id, info.uri, info.descriptor),
        given.model,
        None if model is None else model.fingerprint,
        given.score,
        given.rank,
        given.new_id,
        given.new_title,
    )


async def _scored(here: Service, act: str, changes: list[Change]) -> list[Change]:
    """What was added without a score, with that of the model, where it has such a label."""
    rows: dict[str, NDArray[np.float32]] = {}  # by model: (labels,)
    return [
        await _with_score(here, act, one, rows) if one.what == "add" and one.score is None else one
        for one in changes
    ]


async def _with_score(
    here: Service, act: str, change: Change, rows: dict[str, NDArray[np.float32]]
) -> Change:
    try:
        model = here.models.get(change.model)
        column = model.method.label_space.index.get(change.concept.id if change.concept else "")
        if column is None:
            return change
        if model.id not in rows:
            stored = await asyncio.to_thread(here.worklist.store.act, act)
            rows[model.id] = (await model.scores([stored.document]))[0]
    except ProblemError:  # no such model, or it has too much to do: the decision is written
        return change
    score = round(float(rows[model.id][column]), DIGITS)
    return replace(change, model=model.id, fingerprint=model.fingerprint, score=score)


def shown_reading(here: Service, reading: Reading) -> ReadingResponse:
    return ReadingResponse(
        act=reading.act,
        title=reading.title,
        reading=reading.reading,
        state=reading.state,
        version=reading.version,
        who=reading.who,
        when=reading.when,
        decisions=[_decided(here, one) for one in reading.decisions],
    )


def _decided(here: Service, one: Decision) -> Decided:
    known = label_info(here, one.concept or "", one.model)
    return Decided(**vars(one), info=known or bare_info(one.concept or "", one.uri, one.descriptor))


def label_info(here: Service, concept: str, model: str | None) -> LabelInfo | None:
    """What the named model knows of a concept, or any other that does."""
    first = here.models.loaded.get(model or "")
    candidates: list[Model] = [*([first] if first else []), *here.models.loaded.values()]
    return next((one.labels.info(concept) for one in candidates if concept in one.labels), None)


def _labelled(document: Document, labels: list[str]) -> Document:
    return replace(document, labels=tuple(labels))


def _check_reviewer(may: bool) -> None:
    if not may:
        raise ProblemError(403, "not-allowed", "a second reading is for reviewers")
