"""Answers as they are sent: made once, without checking again what we made ourselves."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator

from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel

from labelwise.serving.problems import ProblemError, fault
from labelwise.serving.shapes import ProblemEvent

NDJSON = "application/x-ndjson"


class LinesResponse(StreamingResponse):
    """One JSON object a line, each sent when it is known."""

    media_type = NDJSON


def answer(content: BaseModel) -> Response:
    return Response(content.model_dump_json(), media_type="application/json")


def answer_list(content: list[BaseModel]) -> Response:
    body = json.dumps([one.model_dump() for one in content], ensure_ascii=False, allow_nan=False)
    return Response(body, media_type="application/json")


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
