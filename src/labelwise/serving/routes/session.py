"""Sign in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from labelwise.desk.people import SESSION_HOURS
from labelwise.serving.answers import answer
from labelwise.serving.bodies import described, sent
from labelwise.serving.desk_shapes import Session, SignIn
from labelwise.serving.problems import documented
from labelwise.serving.service import Here
from labelwise.serving.signing_in import COOKIE, AnyAsker, Asker

router = APIRouter(prefix="/v1/desk", tags=["worklist"])


@router.get("/session", response_model=Session, responses=documented())
def session(request: Request, here: Here) -> Response:
    """Who asks, as far as the service knows."""
    return answer(_shown(here.worklist.door.asker(request)))


@router.post(
    "/session",
    response_model=Session,
    responses=documented(408, 413, 415, 422, 429),
    openapi_extra=described(SignIn),
)
def sign_in(body: Annotated[SignIn, sent(SignIn)], request: Request, here: Here) -> Response:
    """Begin a session with a token; the cookie lasts a working day."""
    asker = here.worklist.door.sign_in(body.token, request)
    made = answer(_shown(asker))
    made.set_cookie(
        COOKIE,
        asker.session,
        max_age=SESSION_HOURS * 3600,
        httponly=True,
        samesite="strict",
        secure=request.headers.get("x-forwarded-proto") == "https",
    )
    return made


@router.delete("/session", response_model=Session, responses=documented())
def sign_out(here: Here, asker: AnyAsker) -> Response:
    """End it."""
    if asker.session:
        here.worklist.door.people.sign_out(asker.session)
    made = answer(_shown(None))
    made.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return made


def _shown(asker: Asker | None) -> Session:
    if asker is None:
        return Session(name=None, role=None, csrf="", signed_in=False)
    person = asker.person
    return Session(
        name=person.name, role=person.role, csrf=asker.csrf, signed_in=bool(asker.session)
    )
