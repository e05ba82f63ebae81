"""A file into documents and sections."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Response, UploadFile

from labelwise.serving.answers import answer
from labelwise.serving.problems import documented
from labelwise.serving.service import Here
from labelwise.serving.shapes import ParsedDocument, ParseResponse, SectionText
from labelwise.serving.uploads import read_upload
from labelwise.text.tokenizer import words

router = APIRouter(prefix="/v1", tags=["documents"])


@router.post("/parse", response_model=ParseResponse, responses=documented(408, 413, 415, 422, 504))
async def parse(
    here: Here,
    file: Annotated[
        UploadFile,
        File(description="Text, EUR-Lex HTML, Formex, EURLEX57K JSON; may be gzip or xz."),
    ],
) -> Response:
    """The documents of a file, each in its sections. Nothing is kept."""
    data = await file.read()
    name = file.filename or "file"

    def parsed() -> ParseResponse:
        documents, more = read_upload(
            data, name, most=here.limits.max_documents, limit=here.limits.max_body
        )
        return ParseResponse.model_construct(
            documents=[
                ParsedDocument.model_construct(
                    id=one.id,
                    title=one.title,
                    sections=[
                        SectionText.model_construct(kind=section.kind, text=section.text)
                        for section in one.sections
                    ],
                    labels=list(one.labels),
                    words=sum(len(words(section.text)) for section in one.sections),
                )
                for one in documents
            ],
            more=more,
        )

    return answer(await here.reader.run(parsed))
