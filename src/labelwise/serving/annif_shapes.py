"""What goes in and out of the routes that Annif's clients know, in Annif's own words."""

from __future__ import annotations

from pydantic import BaseModel, Field, JsonValue

from labelwise.serving.shapes import Text

MOST_DOCUMENTS = 32
"""Documents in a batch, as Annif has it."""


class ApiInfo(BaseModel):
    title: str
    version: str


class ProjectBackend(BaseModel):
    backend_id: str


class Vocabulary(BaseModel):
    vocab_id: str
    languages: list[str]
    size: int | None
    loaded: bool


class VocabularyList(BaseModel):
    vocabs: list[Vocabulary]


class Project(BaseModel):
    project_id: str
    name: str
    language: str
    backend: ProjectBackend
    vocab: Vocabulary | None
    vocab_language: str | None
    is_trained: bool | None
    modification_time: str | None


class ProjectList(BaseModel):
    projects: list[Project]


class Suggestion(BaseModel):
    uri: str
    label: str
    notation: str | None
    score: float


class SuggestionList(BaseModel):
    results: list[Suggestion]


class BatchSuggestionList(SuggestionList):
    document_id: str | None


class BatchDocument(BaseModel):
    text: Text
    document_id: Text | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class BatchRequest(BaseModel):
    documents: list[BatchDocument] = Field(max_length=MOST_DOCUMENTS, fail_fast=True)


class SuggestForm(BaseModel):
    """Other fields, such as Annif's own ``project`` and ``metadata_...``, are ignored."""

    text: str
    limit: int = Field(10, ge=0, le=2**31 - 1)
    threshold: float = Field(0.0, ge=0.0, le=1.0)
    language: str | None = None


class IndexedSubject(BaseModel):
    uri: str
    label: str | None = None


class IndexedDocument(BaseModel):
    text: str = ""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    subjects: list[IndexedSubject] = Field(default_factory=list, fail_fast=True)
