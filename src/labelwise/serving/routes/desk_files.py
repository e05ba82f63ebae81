"""What leaves the desk: the worklist as a file, and the log of decisions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from labelwise.desk.exports import MEDIA_TYPES, Format, export, log_lines
from labelwise.desk.records import LISTED
from labelwise.serving.answers import NDJSON
from labelwise.serving.problems import documented
from labelwise.serving.service import Here
from labelwise.serving.signing_in import Who

router = APIRouter(prefix="/v1/desk", tags=["worklist"])


@router.get("/export", response_class=StreamingResponse, responses=documented(422))
def exported(
    here: Here,
    who: Who,
    format: Annotated[
        Format,
        Query(alias="as", description="`ttl` is Turtle with PROV, `marcxml` MARC 21, field 650."),
    ] = "csv",
    every: Annotated[bool, Query(description="Also acts that are not done.")] = False,
) -> Response:
    """What was decided about the acts of the worklist."""
    pieces = export(here.worklist.store, format, LISTED if every else ("done",))
    return StreamingResponse(pieces, media_type=MEDIA_TYPES[format])


@router.get("/log", response_class=StreamingResponse, responses=documented(422))
def log(
    here: Here,
    who: Who,
    reading: Annotated[int, Query(ge=1, le=2, description="2: that of the second readers.")] = 1,
) -> Response:
    """All decisions in their order, one JSON object a line: what `labelwise desk log` prints."""

    def lines() -> Iterator[str]:
        for line in log_lines(here.worklist.store, reading):
            yield json.dumps(line, ensure_ascii=False) + "\n"

    return StreamingResponse(lines(), media_type=NDJSON)
