"""Bodies of requests, judged apart: what is wrong is looked for until the first of it is found.

JSON of a few megabytes can hold a million fields, each of them wrong. None of it is looked at on
the event loop, and no more of it than it takes to say what is wrong.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar, get_args, get_origin

from fastapi import Depends, Request
from pydantic import BaseModel, TypeAdapter, ValidationError

from labelwise.serving import fields
from labelwise.serving.problems import ProblemError

T = TypeVar("T")

MOST_FIELDS = 100_000
"""Fields in a request, those of all sections and documents together."""

_KEY = re.compile(rb'"\s*+:')
_PLACE = tuple[str | int, ...]


def sent(shape: Any) -> Any:
    """A route's parameter: the body of the request, in this shape."""
    adapter: TypeAdapter[Any] = TypeAdapter(shape)

    async def read(request: Request) -> Any:
        given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if given and given != "application/json" and not given.endswith("+json"):
            raise ProblemError(
                415,
                "media-type",
                f"the body of this request is application/json, not '{given[:100]}'",
            )
        return await asyncio.to_thread(judged, adapter, shape, await request.body())

    return Depends(read)


def described(shape: type[BaseModel], *, several: bool = False) -> dict[str, Any]:
    """What the description for machines says of such a body; the app adds the shape itself."""
    schema: dict[str, Any] = {"$ref": f"#/components/schemas/{shape.__name__}"}
    content = {"schema": {"type": "array", "items": schema} if several else schema}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def judged(adapter: TypeAdapter[T], shape: Any, data: bytes) -> T:
    """The body in its shape, or a problem that names the first field that is wrong."""
    if next(islice(_KEY.finditer(data), MOST_FIELDS, None), None) is not None:
        raise ProblemError(
            413, "too-large", f"the request holds more than {MOST_FIELDS:,} fields", field="body"
        )
    value = _parsed(data)
    unknown = next(_unknown(value, shape, ()), None)
    if unknown is not None:
        raise fields.problem([{"type": "extra_forbidden", "loc": ("body", *unknown)}])
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise fields.problem(
            [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_input=False)]
        ) from None


def _parsed(data: bytes) -> Any:
    if not data.strip():
        raise fields.problem([{"type": "missing", "loc": ("body",)}])
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        reason = error.msg
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except RecursionError:
        reason = "brackets are nested too deeply"
    except ValueError:
        reason = "a number has too many digits"
    raise ProblemError(422, "invalid", f"the body is not JSON: {reason}", field="body")


def _unknown(value: Any, shape: Any, place: _PLACE) -> Iterator[_PLACE]:
    """The places of fields that no shape has, the first one first."""
    if isinstance(value, list):
        listed = _listed(shape)
        (of,) = get_args(listed) if listed else (None,)
        for number, one in enumerate(value):
            yield from _unknown(one, of, (*place, number))
    elif isinstance(value, Mapping) and isinstance(shape, type) and issubclass(shape, BaseModel):
        if shape.model_config.get("extra") == "forbid":
            yield from ((*place, name) for name in value if name not in shape.model_fields)
        for name, field in shape.model_fields.items():
            if isinstance(value.get(name), list):
                yield from _unknown(value[name], field.annotation, (*place, name))


def _listed(kind: Any) -> Any:
    """The list among the types that a field may have: it may be annotated, and one of several."""
    if get_origin(kind) is list:
        return kind
    return next(filter(None, map(_listed, get_args(kind))), None)
