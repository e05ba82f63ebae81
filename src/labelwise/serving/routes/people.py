"""Who works here, for admins. One's own name is for another admin, so that nobody locks the door
from outside; `labelwise desk person` does all of it beside the store."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from labelwise.desk.people import Person
from labelwise.serving.answers import answer
from labelwise.serving.bodies import described, sent
from labelwise.serving.desk_shapes import (
    NewPerson,
    PeopleResponse,
    PersonRequest,
    PersonShape,
    RoleRequest,
)
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.service import Here, Service
from labelwise.serving.signing_in import Admin

router = APIRouter(prefix="/v1/desk", tags=["worklist"])
NamePath = Annotated[str, Path(max_length=100, description="Whom.")]


@router.get("/people", response_model=PeopleResponse, responses=documented())
def people(here: Here, who: Admin) -> Response:
    """Everybody who may sign in, with their roles; for admins."""
    return answer(_shown(here))


@router.post(
    "/people",
    response_model=NewPerson,
    responses=documented(408, 413, 415, 422),
    openapi_extra=described(PersonRequest),
)
def add(here: Here, who: Admin, body: Annotated[PersonRequest, sent(PersonRequest)]) -> Response:
    """Name somebody, and get the token to sign in with; a person who is there gets a new one, and
    the old one ends."""
    known = here.worklist.door.people
    if known.all():
        _check_other(who, body.name)
    elif body.role != "admin":
        raise ProblemError(422, "invalid", "role: the first person here is an admin", field="role")
    token = known.add(body.name, body.role)
    return answer(NewPerson(name=body.name, role=body.role, token=token))


@router.put(
    "/people/{name}",
    response_model=PeopleResponse,
    responses=documented(404, 408, 413, 415, 422),
    openapi_extra=described(RoleRequest),
)
def change(
    here: Here, who: Admin, name: NamePath, body: Annotated[RoleRequest, sent(RoleRequest)]
) -> Response:
    """Give somebody another role; the token stays."""
    _check_other(who, name)
    here.worklist.door.people.change(name, body.role)
    return answer(_shown(here))


@router.delete("/people/{name}", response_model=PeopleResponse, responses=documented(404, 422))
def remove(here: Here, who: Admin, name: NamePath) -> Response:
    """Let somebody sign in no more; what they decided stays."""
    _check_other(who, name)
    here.worklist.door.people.remove(name)
    return answer(_shown(here))


def _shown(here: Service) -> PeopleResponse:
    found = here.worklist.door.people.all()
    return PeopleResponse(people=[PersonShape(name=one.name, role=one.role) for one in found])


def _check_other(who: Person, name: str) -> None:
    if name == who.name:
        raise ProblemError(403, "not-allowed", "this is you: another admin changes that")
