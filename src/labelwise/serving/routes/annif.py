"""The routes of Annif's REST interface, so that its `http` backend and its clients work here.

A model is a project. Learning from feedback is refused, as Annif refuses it for a project that is
not set up for it, unless the service was started to learn.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from numpy.typing import NDArray
from pydantic import FailFast, ValidationError

from labelwise import __version__
from labelwise.corpus.concept_ids import concept_id
from labelwise.corpus.decisions import Decided
from labelwise.errors import LabelwiseError
from labelwise.evidence.predictions import rank
from labelwise.model import DIGITS
from labelwise.serving import forms
from labelwise.serving.annif_shapes import (
    ApiInfo,
    BatchDocument,
    BatchRequest,
    BatchSuggestionList,
    IndexedDocument,
    IndexedSubject,
    Project,
    ProjectBackend,
    ProjectList,
    SuggestForm,
    Suggestion,
    SuggestionList,
    Vocabulary,
    VocabularyList,
)
from labelwise.serving.answers import (
    MOST_SUGGESTED,
    answer,
    check_length,
    in_pieces,
    made_apart,
)
from labelwise.serving.bodies import described, sent
from labelwise.serving.documents import Read
from labelwise.serving.models import Model
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.routes.tag import check_documents
from labelwise.serving.service import Here
from labelwise.serving.shapes import DocumentText

router = APIRouter(prefix="/v1", tags=["Annif"])
ProjectId = Annotated[str, Path(max_length=200, description="Id of a model.")]
PROBLEMS = documented(404, 408, 413, 415, 422, 504)

FORM = "application/x-www-form-urlencoded"
_FORM_BODY = {
    "requestBody": {
        "required": True,
        "content": {FORM: {"schema": {"$ref": "#/components/schemas/SuggestForm"}}},
    }
}


@router.get("/", response_model=ApiInfo, responses=documented())
async def info() -> Response:
    """Which service this is."""
    return answer(ApiInfo(title="labelwise, with Annif's REST API", version=__version__))


@router.get("/vocabs", response_model=VocabularyList, responses=documented())
async def vocabularies(here: Here) -> Response:
    """The vocabularies, one a model."""
    here.models.require_ready()
    vocabs = [_vocabulary(model) for model in here.models.loaded.values()]
    return answer(VocabularyList(vocabs=vocabs))


@router.get("/projects", response_model=ProjectList, responses=documented())
async def projects(here: Here) -> Response:
    """The models as Annif's projects."""
    here.models.require_ready()
    return answer(ProjectList(projects=[_project(one) for one in here.models.loaded.values()]))


@router.get("/projects/{project_id}", response_model=Project, responses=documented(404, 422))
async def project(here: Here, project_id: ProjectId) -> Response:
    """One of them."""
    return answer(_project(here.models.get(project_id)))


@router.post(
    "/projects/{project_id}/suggest",
    response_model=SuggestionList,
    responses=PROBLEMS,
    openapi_extra=_FORM_BODY,
)
async def suggest(here: Here, project_id: ProjectId, request: Request) -> Response:
    """Suggestions for a text."""
    model = here.models.get(project_id)
    kind = request.headers.get("content-type", "")
    form = await asyncio.to_thread(_form, kind, await request.body())
    _check_language(model, form.language)
    (read,) = await here.reader.read([DocumentText(text=form.text)])
    scores = await model.scores([read.document])
    return await made_apart(
        lambda: SuggestionList.model_construct(
            results=_suggestions(model, read, scores[0], form.limit, form.threshold)
        )
    )


@router.post(
    "/projects/{project_id}/suggest-batch",
    response_model=list[BatchSuggestionList],
    responses=PROBLEMS,
    openapi_extra=described(BatchRequest),
)
async def suggest_batch(
    *,
    here: Here,
    project_id: ProjectId,
    body: Annotated[BatchRequest, sent(BatchRequest)],
    limit: Annotated[int, Query(ge=0, le=2**31 - 1)] = 10,
    threshold: Annotated[float, Query(ge=0, le=1)] = 0.0,
    language: str | None = None,
) -> Response:
    """Suggestions for up to 32 texts."""
    model = here.models.get(project_id)
    _check_language(model, language)
    most = min(limit, len(model.method.label_space))
    check_length(len(body.documents) * most, MOST_SUGGESTED, "labels", field="limit")
    read = await here.reader.read([DocumentText(text=one.text) for one in body.documents])
    scores = await model.scores([one.document for one in read]) if read else np.zeros((0, 0))

    def suggested(document: BatchDocument, one: Read, row: NDArray[Any]) -> BatchSuggestionList:
        return BatchSuggestionList.model_construct(
            results=_suggestions(model, one, row, limit, threshold),
            document_id=document.document_id,
        )

    return in_pieces(
        [partial(suggested, *each) for each in zip(body.documents, read, scores, strict=True)],
        each=most,
    )


@router.post(
    "/projects/{project_id}/learn",
    status_code=204,
    responses=documented(403, 404, 408, 413, 415, 422, 504),
    openapi_extra=described(IndexedDocument, several=True),
)
async def learn(
    here: Here,
    project_id: ProjectId,
    body: Annotated[list[IndexedDocument], sent(Annotated[list[IndexedDocument], FailFast()])],
) -> Response:
    """Learn from documents with all their subjects; the model is another one from then on.

    Refused unless the service was started with `--learn`.
    """
    model = here.models.get(project_id)
    if not here.limits.learned_acts:
        raise ProblemError(
            403, "not-allowed", f"{model.id} does not learn here: start the service with --learn"
        )
    check_documents(len(body), here)
    chosen = [_label_ids(model, one.subjects) for one in body]
    read = await here.reader.read([DocumentText(text=one.text) for one in body])
    # The same text again, with other subjects, takes the place of what was learned before.
    ids = [hashlib.sha256(one.text.encode("utf-8", "replace")).hexdigest()[:16] for one in body]
    documents = {id: one.document for id, one in zip(ids, read, strict=True)}
    decided = {
        id: Decided(labels, set(), done=True) for id, labels in zip(ids, chosen, strict=True)
    }
    if documents:
        try:
            await model.learn(documents, decided, here.limits.learned_acts)
        except LabelwiseError as error:
            raise ProblemError(403, "not-allowed", str(error)) from error
    return Response(status_code=204)


def _label_ids(model: Model, subjects: Sequence[IndexedSubject]) -> set[str]:
    """The labels that subjects name by their URIs."""
    index = model.method.label_space.index
    found = {concept_id(one.uri) for one in subjects}
    for id in found:
        if id not in index:
            raise ProblemError(
                422, "invalid", f"subjects: {id[:200]} is no label of {model.id}", field="subjects"
            )
    return found


def _form(content_type: str, body: bytes) -> SuggestForm:
    if content_type.partition(";")[0].strip().lower() != FORM:
        raise ProblemError(415, "media-type", f"the body of this request is {FORM}")
    found: dict[str, Any] = dict(forms.pairs(body))
    try:
        return SuggestForm(**{key: found[key] for key in SuggestForm.model_fields if key in found})
    except ValidationError as error:
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        ) from error


def _check_language(model: Model, language: str | None) -> None:
    if language and language != model.info.language:
        raise ProblemError(
            400,
            "bad-request",
            f"language: the labels of {model.id} are in '{model.info.language}' alone",
            field="language",
        )


def _suggestions(
    model: Model, read: Read, row: NDArray[Any], limit: int, threshold: float
) -> list[Suggestion]:
    """The labels that score at least the threshold, and more than nothing, as Annif cuts them."""
    if not read.total:
        return []
    space = model.method.label_space
    found = rank(row, space, top=min(limit, len(space)), allowed=(row >= threshold) & (row > 0))
    return [
        Suggestion.model_construct(
            uri=model.labels.info(one.label.id).uri,
            label=one.label.descriptor,
            notation=None,
            score=round(one.score, DIGITS),
        )
        for one in found
    ]


def _vocabulary(model: Model) -> Vocabulary:
    info = model.info
    return Vocabulary(vocab_id=info.id, languages=[info.language], size=info.labels, loaded=True)


def _project(model: Model) -> Project:
    info = model.info
    return Project(
        project_id=info.id,
        name=f"{info.id} ({info.method}, {info.labels:,} labels)",
        language=info.language,
        backend=ProjectBackend(backend_id=info.method),
        vocab=_vocabulary(model),
        vocab_language=info.language,
        is_trained=True,
        modification_time=model.saved,
    )
