"""A file, or an act by its name, into documents and sections."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from labelwise.serving import forms
from labelwise.serving.answers import made_apart
from labelwise.serving.bodies import described, sent
from labelwise.serving.documents import Read
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.service import Here
from labelwise.serving.shapes import (
    DocumentText,
    FetchRequest,
    ParsedDocument,
    ParseResponse,
    SectionText,
)

router = APIRouter(prefix="/v1", tags=["documents"])


_FILE = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "Text, EUR-Lex HTML, Formex, PDF, DOCX, ODT, EPUB, "
                            "EURLEX57K JSON; may be gzip or xz.",
                        }
                    },
                }
            }
        },
    }
}


@router.post(
    "/parse",
    response_model=ParseResponse,
    responses=documented(408, 413, 415, 422, 504),
    openapi_extra=_FILE,
)
async def parse(
    here: Here,
    request: Request,
    format: Annotated[
        Literal["text"] | None,
        Query(description="`text`: UTF-8 text, whatever it looks like; else told by the file."),
    ] = None,
) -> Response:
    """The documents of a file, each in its sections. Nothing is kept."""
    kind = request.headers.get("content-type", "")
    name, data = await asyncio.to_thread(forms.uploaded, kind, await request.body())
    if format == "text":
        text = DocumentText(text=data.decode(errors="replace"))
        documents, more = await here.reader.read([text]), False
    else:
        documents, more = await here.reader.upload(data, name)
    return await made_apart(lambda: _parsed(documents, more))


@router.post(
    "/fetch",
    response_model=ParseResponse,
    responses=documented(403, 404, 408, 413, 415, 422, 502, 504),
    openapi_extra=described(FetchRequest),
)
async def fetch(body: Annotated[FetchRequest, sent(FetchRequest)], here: Here) -> Response:
    """The English text of an act, fetched from the EU's Publications Office by its name.

    Only where the service was started with `--fetch-from`.
    """
    if here.fetcher is None:
        raise ProblemError(
            403, "no-fetching", "this service fetches no acts: send the text or the file"
        )
    documents = [await here.fetcher.act(body.act)]
    return await made_apart(lambda: _parsed(documents, more=False))


def _parsed(documents: Sequence[Read], more: bool) -> ParseResponse:
    return ParseResponse.model_construct(
        documents=[
            ParsedDocument.model_construct(
                id=one.document.id,
                uuid=one.document.uuid,
                title=one.document.title,
                sections=[
                    SectionText.model_construct(kind=section.kind, text=section.text)
                    for section in one.document.sections
                ],
                labels=list(one.document.labels),
                words=one.total,
            )
            for one in documents
        ],
        more=more,
    )
