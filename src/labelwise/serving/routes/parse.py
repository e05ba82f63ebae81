"""A file into documents and sections."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, File, Query, Response, UploadFile

from labelwise.serving.answers import answer
from labelwise.serving.problems import documented
from labelwise.serving.service import Here
from labelwise.serving.shapes import DocumentText, ParsedDocument, ParseResponse, SectionText

router = APIRouter(prefix="/v1", tags=["documents"])


@router.post("/parse", response_model=ParseResponse, responses=documented(408, 413, 415, 422, 504))
async def parse(
    here: Here,
    file: Annotated[
        UploadFile,
        File(
            description="Text, EUR-Lex HTML, Formex, PDF, DOCX, ODT, EPUB, EURLEX57K JSON; may be "
            "gzip or xz."
        ),
    ],
    format: Annotated[
        Literal["text"] | None,
        Query(description="`text`: UTF-8 text, whatever it looks like; else told by the file."),
    ] = None,
) -> Response:
    """The documents of a file, each in its sections. Nothing is kept."""
    data = await file.read()
    if format == "text":
        text = DocumentText(text=data.decode(errors="replace"))
        documents, more = await here.reader.read([text]), False
    else:
        documents, more = await here.reader.upload(data, file.filename or "file")
    return answer(
        ParseResponse.model_construct(
            documents=[
                ParsedDocument.model_construct(
                    id=one.document.id,
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
    )
