"""Everything that can go wrong, in one shape: application/problem+json (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"

TITLES = {
    "bad-request": "The request cannot be read",
    "invalid": "A field is missing or wrong",
    "unauthorised": "An API key is needed",
    "unknown-model": "There is no such model",
    "unknown-label": "There is no such label",
    "unknown-act": "There is no such act",
    "unknown-person": "There is nobody of this name",
    "conflict": "Somebody else has changed it",
    "id-taken": "Another act has this id",
    "wrong-state": "The act is not in the state for that",
    "not-signed-in": "Nobody has signed in",
    "too-many": "Too many attempts",
    "store": "The store cannot be used",
    "no-fetching": "No act is fetched here",
    "unreachable": "The act cannot be fetched now",
    "not-found": "There is nothing here",
    "method-not-allowed": "This address does not take that method",
    "not-allowed": "That is not allowed here",
    "foreign-site": "Another site asked",
    "slow-request": "The request came too slowly",
    "too-large": "The request is too large",
    "media-type": "This type of content is not read",
    "unreadable-file": "The file cannot be read",
    "overloaded": "Too much to do at the moment",
    "not-ready": "The service is not ready",
    "timeout": "It took too long",
    "internal": "A fault of the service",
}
"""The kinds of problem. A client may rely on them; the sentences may change."""


class Problem(BaseModel):
    """What went wrong."""

    model_config = ConfigDict(json_schema_extra={"required": ["type", "title", "status", "detail"]})

    type: str = Field(description=f"`urn:labelwise:` and one of: {', '.join(sorted(TITLES))}.")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str = Field(description="One sentence for people: what is wrong and what to do.")
    field: str | None = Field(
        None, description="The field of the request at fault, such as `documents[3].text`."
    )


class ProblemError(Exception):
    """Raised anywhere within a request; becomes the answer."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        field: str | None = None,
        headers: dict[str, str] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        """``more`` are further fields of the answer."""
        super().__init__(detail)
        self.problem = Problem(
            type=f"urn:labelwise:{kind}",
            title=TITLES[kind],
            status=status,
            detail=detail,
            field=field,
        )
        self.headers, self.more = headers or {}, more or {}

    def response(self) -> Response:
        fields = self.problem.model_dump(mode="json", exclude_none=True)
        more = TypeAdapter(dict[str, Any]).dump_python(dict(self.more), mode="json")
        body = json.dumps(fields | more, ensure_ascii=False)
        return Response(body, self.problem.status, self.headers, MEDIA_TYPE)


def fault() -> ProblemError:
    """What nobody foresaw. The reason is in the log alone: it may name files or hold text."""
    return ProblemError(500, "internal", "something went wrong in the service; its log says what")


_DESCRIPTIONS = {
    400: "The request cannot be read, or asks for a language that the model does not have.",
    401: "An API key is needed and was not given, or is wrong; or nobody has signed in.",
    403: "The model cannot do that, or the service does not, or it is for another role, or a page "
    "of another site asked.",
    404: "There is no such model, label, act, person or address.",
    408: "The body came too slowly.",
    409: "Somebody else has written since: `changed` has what, `now` how things stand. Or the act "
    "is not in the state for that.",
    413: "The body is larger than `--max-body`, holds more than `--max-documents`, or asks for an "
    "answer that is too long.",
    415: "The body has another content type than the route reads.",
    422: "A field is missing or wrong; `field` names it.",
    429: "Too many wrong tokens: try again after `Retry-After`.",
    500: "A fault of the service.",
    502: "The public service that has the acts gives no answer.",
    503: "The queue is full or the models are not loaded yet: try again after `Retry-After`.",
    504: "No answer within `--timeout`.",
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route: these problems, besides those that any route may have."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": _DESCRIPTIONS[status],
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in sorted({*statuses, 400, 401, 403, 500, 503})
    }
