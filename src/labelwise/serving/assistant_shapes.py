"""What assistants are answered: short, since every word of it is read by a language model."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Suggestion(BaseModel):
    """A concept that a document may be about."""

    id: str
    name: str
    place: str = Field(description="Domain, microthesaurus and broader concepts; empty: not known.")
    score: float
    assigned: bool = Field(description="Whether the model itself would assign it.")


class Tags(BaseModel):
    """The best concepts of a document, the best first."""

    document: str = Field(description="CELEX number or name of the file, where it has one.")
    title: str
    words: int
    model: str
    concepts: list[Suggestion]
    notes: list[str] = Field(description="What the reader should know.")


class Reason(BaseModel):
    """Why a concept has its score."""

    id: str
    name: str
    score: float
    kind: str = Field(
        description="match: the name stands there; contribution: exact shares of the score; "
        "attention or attribution: where a network looked, which is not why it decided."
    )
    words: list[str] = Field(description="The words that speak for it most.")
    passages: list[str] = Field(description="Where they stand in the text.")


class Reasons(BaseModel):
    document: str
    title: str
    reasons: list[Reason]
    notes: list[str]


class Found(BaseModel):
    """A concept of the thesaurus."""

    id: str
    name: str
    uri: str
    place: str
    in_model: bool = Field(description="Whether documents can be tagged with it here.")


class FoundConcepts(BaseModel):
    concepts: list[Found]
    total: int = Field(description="How many there are; `concepts` has at most `limit` of them.")


class Neighbour(BaseModel):
    id: str
    name: str


class Concept(Found):
    """A concept with its neighbours."""

    other_names: list[str]
    broader: list[Neighbour] = Field(description="From the top concept down to the nearest.")
    narrower: list[Neighbour]
    related: list[Neighbour]
    training_documents: int = Field(description="How many the model learned it from.")


class Files(BaseModel):
    files: list[str] = Field(description="Paths that `file` takes.")
    more: int = Field(description="How many there are besides.")
