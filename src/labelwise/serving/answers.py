"""Answers as they are sent: made once, without checking again what we made ourselves.

A long answer is made piece by piece, away from the thread that serves everybody, and the next
piece when the client has taken the one before. One that would be too long is not begun.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel

from labelwise.serving.problems import ProblemError, fault
from labelwise.serving.shapes import ProblemEvent

NDJSON = "application/x-ndjson"

PIECE = 2_000
"""Labels in a piece of a long answer: about a megabyte."""

MOST_PREDICTED = 20_000
"""Labels in an answer, those of all documents together: about ten megabytes."""

MOST_SUGGESTED = 200_000
"""The same in Annif's interface, where a label takes a tenth of the room."""

MOST_SECTION_LABELS = 100_000
"""Labels of all sections together in a stream, which nobody has to hold as a whole."""

MOST_SECTION_SCORES = 1_000_000
"""Scores of the document's labels for all its sections, in a stream."""

MOST_SECTIONS_EXPLAINED = 20_000
"""Sections times labels, each read and explained on its own."""


class LinesResponse(StreamingResponse):
    """One JSON object a line, each sent when it is known."""

    media_type = NDJSON


def answer(content: BaseModel) -> Response:
    return Response(content.model_dump_json(), media_type="application/json")


async def made_apart(make: Callable[[], BaseModel]) -> Response:
    """An answer that takes a while to write."""
    body = await asyncio.to_thread(lambda: make().model_dump_json())
    return Response(body, media_type="application/json")


def in_pieces(
    items: Sequence[Callable[[], BaseModel]],
    *,
    each: int,
    before: Iterable[tuple[str, object]] = (),
    name: str | None = None,
    after: Iterable[tuple[str, object]] = (),
) -> Response:
    """A list of ``items``, alone or as the field ``name`` between others; ``each`` of them holds so
    many entries, and a piece of the answer about ``PIECE``."""
    step = max(1, PIECE // max(1, each))

    def some(at: int) -> str:
        return ",".join(make().model_dump_json() for make in items[at : at + step])

    async def pieces() -> AsyncIterator[str]:
        fields = "".join(f"{_field(*one)}," for one in before)
        yield "[" if name is None else f"{{{fields}{json.dumps(name)}:["
        for at in range(0, len(items), step):
            yield ("," if at else "") + await asyncio.to_thread(some, at)
        yield "]" if name is None else "]" + "".join(f",{_field(*one)}" for one in after) + "}"

    return StreamingResponse(pieces(), media_type="application/json")


def _field(name: str, value: object) -> str:
    return f"{json.dumps(name)}:{json.dumps(value, ensure_ascii=False, allow_nan=False)}"


def check_length(entries: int, most: int, what: str, *, field: str) -> None:
    """Refuse what would be answered at too great a length; ``what`` says which entries."""
    if entries > most:
        raise ProblemError(
            413,
            "too-large",
            f"{field}: this asks for {entries:,} {what}, and {most:,} are answered at a time: "
            "ask for fewer, or for fewer documents or sections at a time",
            field=field,
        )


def lines(events: AsyncIterator[BaseModel]) -> LinesResponse:
    return LinesResponse(_written(events), headers={"X-Accel-Buffering": "no"})


async def _written(events: AsyncIterator[BaseModel]) -> AsyncIterator[str]:
    """The events; one that tells of a problem is the last."""
    try:
        async for event in events:
            yield event.model_dump_json() + "\n"
    except ProblemError as error:
        yield _problem(error)
    except Exception:  # the answer has begun: the client learns of it here or not at all
        logging.getLogger("uvicorn.error").exception("a stream failed")
        yield _problem(fault())


def _problem(error: ProblemError) -> str:
    return ProblemEvent(event="problem", problem=error.problem).model_dump_json() + "\n"
