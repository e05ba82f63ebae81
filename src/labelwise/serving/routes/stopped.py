"""Concepts that are not suggested to anybody any more, because people refuse them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from labelwise.serving.answers import answer
from labelwise.serving.bodies import described, sent
from labelwise.serving.desk_shapes import Stopped, StopRequest
from labelwise.serving.places import bare_info
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.routes.worklist import label_info
from labelwise.serving.service import Here, Service
from labelwise.serving.signing_in import Reviewer, Who

router = APIRouter(prefix="/v1/desk", tags=["worklist"])


@router.get("/stopped", response_model=Stopped, responses=documented())
def stopped(here: Here, who: Who) -> Response:
    """The concepts that the page leaves out of its suggestions."""
    return answer(_shown(here))


@router.post(
    "/stopped",
    response_model=Stopped,
    responses=documented(408, 413, 415, 422),
    openapi_extra=described(StopRequest),
)
def stop(here: Here, who: Reviewer, body: Annotated[StopRequest, sent(StopRequest)]) -> Response:
    """Suggest a concept to nobody any more; for reviewers."""
    if label_info(here, body.concept, None) is None:
        raise ProblemError(
            422, "invalid", "concept: neither a model nor its thesaurus has it", field="concept"
        )
    here.worklist.store.stop(body.concept, who.name)
    return answer(_shown(here))


@router.delete("/stopped/{concept:path}", response_model=Stopped, responses=documented(422))
def allow(here: Here, who: Reviewer, concept: Annotated[str, Path(max_length=500)]) -> Response:
    """Suggest it again."""
    here.worklist.store.allow(concept)
    return answer(_shown(here))


def _shown(here: Service) -> Stopped:
    concepts = here.worklist.store.stopped()
    return Stopped(
        concepts=[label_info(here, one, None) or bare_info(one, None, None) for one in concepts]
    )
