"""What goes in and out of the service's own routes. This file is the contract of the page."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    RootModel,
    model_validator,
)

from labelwise.corpus.document import SectionKind
from labelwise.corpus.labels import Group
from labelwise.files import is_whole
from labelwise.methods.base import EvidenceKind
from labelwise.serving.problems import Problem

MOST_LABELS = 20_000
"""Ids in an include or exclude list: more than any thesaurus here has."""

MOST_PREDICTIONS = 1_000
MOST_EXPLAINED = 50
"""Labels that one request may ask evidence for."""


def whole_characters(text: str) -> str:
    """JSON can write half a character (``\\ud800``), which no answer can repeat."""
    if not is_whole(text):
        raise ValueError("it holds half a character (a lone surrogate)")
    return text


def _whole_number(given: object) -> object:
    """JSON knows one kind of number: 5.0 is a whole one."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


Text = Annotated[str, AfterValidator(whole_characters)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)]
Chance = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1)]
Whole = Annotated[int, BeforeValidator(_whole_number)]
LabelId = Annotated[Text, Field(min_length=1, max_length=500)]
ModelId = Annotated[
    Text | None,
    Field(max_length=200, description="Id of a model; without one, the first that was loaded."),
]


Labels = Annotated[list[LabelId], Field(fail_fast=True)]


class Shape(BaseModel):
    """A field that is misspelt is an error rather than silently without effect."""

    model_config = ConfigDict(extra="forbid", strict=True, ser_json_inf_nan="null")


class SectionText(Shape):
    kind: SectionKind
    text: Text


_EITHER: list[JsonValue] = [
    {
        "required": [one],
        "properties": {one: {"type": kind}, other: {"type": "null"}},
    }
    for one, kind, other in (("text", "string", "sections"), ("sections", "array", "text"))
]


class DocumentText(Shape):
    """A document: its ``text``, which is split like a text file, or its ``sections``."""

    model_config = ConfigDict(json_schema_extra={"oneOf": _EITHER})

    id: Text = Field(default="", max_length=500, description="Comes back in the answer.")
    title: Text = Field(default="", max_length=20_000)
    text: Text | None = Field(
        default=None, description="The whole text; an act is split into sections."
    )
    sections: list[SectionText] | None = Field(
        default=None,
        max_length=20_000,
        fail_fast=True,
        description="The sections, as `POST /v1/parse` gives them.",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.sections is None):
            raise ValueError("give either text or sections")
        return self


Language = Annotated[
    str | None,
    Field(
        max_length=20,
        description="The language of names and places of labels, such as `fr`, where the thesaurus "
        "has them (`languages` in `GET /v1/models`); without it, as the model was trained.",
    ),
]

PARTS = (
    "A part of the thesaurus stands for all its labels: `domain:60`, `mt:6006` (a microthesaurus), "
    "`under:1117` (a concept and all that are narrower)."
)


class Choice(Shape):
    """Which labels come back."""

    model: ModelId = None
    top: Whole = Field(20, ge=1, le=MOST_PREDICTIONS, description="At most so many labels.")
    threshold: Number | Literal["tuned"] | None = Field(
        None,
        description="Only labels that score above it; 'tuned' is the model's own threshold, and "
        "the best label in any case.",
    )
    certified: Chance | None = Field(
        None,
        description="In place of a threshold: only labels above the score from which on so many "
        "are right, as it was certified for the model (`certified` in `GET /v1/models`).",
    )
    precision: Chance | None = Field(
        None,
        description="From the top, as many labels as are expected to have this precision "
        "together: the mean of their scores.",
    )
    best: Whole = Field(
        0,
        ge=0,
        le=MOST_PREDICTIONS,
        description="So many labels at least, whatever threshold, certified and precision leave "
        "out; no more than `top`.",
    )
    include: Labels = Field(
        default_factory=list,
        max_length=MOST_LABELS,
        description=f"Only these labels, if any. {PARTS}",
    )
    exclude: Labels = Field(
        default_factory=list, max_length=MOST_LABELS, description="Never these labels."
    )
    labels: Language = None


class TagRequest(DocumentText, Choice):
    """One document and which labels are wanted."""


class TagBatchRequest(Choice):
    documents: list[DocumentText] = Field(min_length=1, fail_fast=True)


class TagStreamRequest(TagRequest):
    section_top: Whole = Field(
        5, ge=0, le=100, description="Labels of each section, scored on its own."
    )


class CompareRequest(DocumentText):
    models: list[Annotated[Text, Field(max_length=200)]] = Field(
        min_length=2, max_length=4, json_schema_extra={"uniqueItems": True}
    )
    top: Whole = Field(20, ge=1, le=MOST_PREDICTIONS)
    include: Labels = Field(default_factory=list, max_length=MOST_LABELS)
    exclude: Labels = Field(default_factory=list, max_length=MOST_LABELS)
    labels: Language = None


class UnseenConcept(Shape):
    id: LabelId
    descriptor: Text = Field(min_length=1, max_length=500)


class EvidenceRequest(DocumentText):
    model: ModelId = None
    labels: Labels = Field(
        default_factory=list,
        max_length=MOST_EXPLAINED,
        description=f"Labels to explain, at most {MOST_EXPLAINED} in all; without any, the `top` "
        f"best ones. {PARTS}",
    )
    concepts: list[UnseenConcept] = Field(
        default_factory=list,
        max_length=10,
        description="Concepts to explain that the model was not trained on (zero-shot models).",
    )
    top: Whole = Field(5, ge=1, le=MOST_EXPLAINED)
    by_section: bool = Field(
        False,
        description="Read every section on its own, so that those beyond a network's reach have "
        "their evidence too. Weights are then shares within a section.",
    )
    names: Language = None


class ScoreRequest(DocumentText):
    model: ModelId = None
    concepts: list[UnseenConcept] = Field(min_length=1, max_length=100)


class Link(Shape):
    """Another concept, a microthesaurus or a domain, by id and name."""

    id: str
    name: str


class ConceptPlace(Shape):
    """Where a concept stands in its thesaurus; every list is empty where nothing is known."""

    domains: list[Link] = Field(default_factory=list)
    microthesauri: list[Link] = Field(default_factory=list)
    broader: list[Link] = Field(
        default_factory=list, description="From the top concept down to the nearest."
    )
    path: str = Field(description="domain › microthesaurus › broader › concept, for people.")


class LabelInfo(Shape):
    id: str
    uri: str
    descriptor: str
    group: Group | None = Field(
        description="frequent: 50 training documents or more; few: fewer; zero: none. Null for a "
        "concept that is in the thesaurus and not in the model."
    )
    count: int = Field(description="Training documents of the model that carry the label.")
    in_model: bool
    place: ConceptPlace


class LabelDetails(LabelInfo):
    alternatives: list[str] = Field(description="Other names in the thesaurus.")
    narrower: list[Link]
    related: list[Link]
    notes: list[str] = Field(description="What the thesaurus says of its meaning and use.")
    names: dict[str, str] = Field(description="Its name in other languages of the thesaurus.")


class FoundLabel(LabelInfo):
    matched: str | None = Field(
        description="The name that the search found it by, where that is another one."
    )


class LabelList(Shape):
    model: str
    labels: list[FoundLabel]
    total: int = Field(description="How many there are; `labels` holds at most `limit` of them.")


class Prediction(LabelInfo):
    score: float
    rank: int = Field(description="1 for the best; counted after include and exclude.")
    assigned: bool = Field(description="Whether the score is above the model's own threshold.")


class Tagging(Shape):
    """The ranked labels of one document."""

    document: str = Field(description="The id that was given.")
    predictions: list[Prediction]
    words: int = Field(description="Words of the document, as the tokenizer counts them.")
    words_read: int = Field(
        description="How many of them the model reads at most: a network stops at its max_tokens."
    )
    language: str | None = Field(
        description="What language the text seems to be in (ISO 639-1); null where it does not "
        "tell, or the service has no detector."
    )


class TagResponse(Tagging):
    model: str
    threshold: float
    notes: list[str] = Field(description="What the asker should know, in sentences.")


class TagBatchResponse(Shape):
    model: str
    threshold: float
    documents: list[Tagging]
    notes: list[str]


class Compared(LabelInfo):
    """A label that is among the best of some model; one score, rank and mark a model."""

    scores: list[float]
    ranks: list[int]
    assigned: list[bool]


class CompareResponse(Shape):
    document: str
    models: list[str]
    thresholds: list[float]
    labels: list[Compared] = Field(description="Sorted by the best rank, then the next best.")
    notes: list[str]


class Stretch(Shape):
    """Characters ``start:end`` of a section's text (Unicode code points) and their weight."""

    start: int
    end: int
    weight: float


class SectionEvidence(Shape):
    section: int = Field(description="Number of the section, from 0.")
    weight: float = Field(description="Sum of the sizes of the weights of all its words.")
    score: float | None = Field(
        description="With by_section, the label's score for this section on its own."
    )
    spans: list[Stretch] = Field(
        description="Stretches worth marking, in order, none overlapping another."
    )


class Phrase(Shape):
    """Words as they stand in the text, the sum of their weights, how often they stand there."""

    text: str
    weight: float
    times: int


class LabelEvidence(Prediction):
    """A prediction, with the words that speak for it; ranked among the labels to explain."""

    label: str = Field(description="The same as `id`, which was called so once.")
    kind: EvidenceKind
    strongest: float = Field(description="The largest weight: full colour. 0 without evidence.")
    sections: list[SectionEvidence] = Field(description="Sections with evidence, in order.")
    phrases: list[Phrase] = Field(description="The words that weigh most, at most 12.")
    left_out: int = Field(description="Stretches beyond the 3,000 strongest, which are not here.")


class EvidenceResponse(Shape):
    model: str
    document: str
    evidence: list[LabelEvidence]
    sections: list[SectionText] | None = Field(
        description="The sections that the spans count in, where the request gave a text."
    )
    notes: list[str]


class UnseenScore(Shape):
    id: str
    descriptor: str
    score: float
    in_model: bool = Field(description="Whether the model has this label already.")


class ScoreResponse(Shape):
    model: str
    document: str
    scores: list[UnseenScore]
    threshold: float
    notes: list[str]


class FetchRequest(Shape):
    act: Text = Field(
        min_length=1, max_length=500, description="CELEX number, ELI or address of EUR-Lex."
    )


class ParsedDocument(Shape):
    id: str = Field(description="What the file says or is called; a CELEX number where it has one.")
    uuid: str = Field(description="Made of the sections: the same text always has the same.")
    title: str
    sections: list[SectionText]
    labels: list[str] = Field(description="Gold labels, where the file names some.")
    words: int


class ParseResponse(Shape):
    documents: list[ParsedDocument]
    more: bool = Field(description="Whether the file holds more documents than are given here.")


class ModelInfo(Shape):
    id: str
    fingerprint: str = Field(description="Tells it from every other model.")
    method: str
    labels: int
    groups: dict[Group, int] = Field(description="Labels of each group.")
    threshold: float
    calibrated: bool = Field(description="Whether scores are chances (`labelwise calibrate --on`).")
    certified: list[float] = Field(description="Precisions that `certified` in a request may name.")
    evidence: bool = True
    zero_shot: bool = Field(description="Whether it can score concepts that it was not trained on.")
    max_words: int | None = Field(description="Words read of a document; null: all of them.")
    language: str
    languages: list[str] = Field(description="Other languages that the names of labels are in.")
    years: tuple[int, int] | None = Field(
        description="First and last year of the acts that it learned from, where that is known."
    )
    synthetic: bool = Field(description="Trained on made-up acts: for trying things out alone.")
    card: dict[str, object] = Field(
        description="How it was made and how it scored, as far as the bundle says."
    )


class ModelList(Shape):
    models: list[ModelInfo]
    default: str


class LimitsInfo(Shape):
    """What the service accepts, so that a client can say so beforehand."""

    max_body: int
    max_documents: int
    queue: int
    timeout: float


class Health(Shape):
    status: Literal["alive"]
    version: str


class Readiness(Shape):
    status: Literal["ready"]
    models: list[str]
    limits: LimitsInfo
    desk: bool = Field(description="Whether it keeps a worklist (`--store`).")


class StartEvent(Shape):
    """The first line of a stream."""

    event: Literal["start"]
    model: str
    document: str
    words: int
    words_read: int
    sections: list[int] = Field(description="Words of each section.")
    steps: int = Field(description="How many lines come between this one and the last.")


class DocumentEvent(Shape):
    """The document as a whole, the same as `POST /v1/tag` answers."""

    event: Literal["document"]
    done: int
    steps: int
    tagging: TagResponse


class SectionEvent(Shape):
    """One section, scored on its own."""

    event: Literal["section"]
    done: int
    steps: int
    section: int
    scores: dict[str, float] = Field(description="Of the labels predicted for the document.")
    predictions: list[Prediction] = Field(description="The section's own best labels.")


class EvidenceEvent(Shape):
    event: Literal["evidence"]
    done: int
    steps: int
    evidence: LabelEvidence


class EndEvent(Shape):
    """The last line; a stream without it was cut."""

    event: Literal["end"]
    seconds: float


class ProblemEvent(Shape):
    """The last line of a stream that failed after it began."""

    event: Literal["problem"]
    problem: Problem


class TagEvent(
    RootModel[
        Annotated[
            StartEvent | DocumentEvent | SectionEvent | EndEvent | ProblemEvent,
            Field(discriminator="event"),
        ]
    ]
):
    """One line of the answer of `POST /v1/tag/stream`."""


class EvidenceStreamEvent(
    RootModel[
        Annotated[
            StartEvent | EvidenceEvent | EndEvent | ProblemEvent, Field(discriminator="event")
        ]
    ]
):
    """One line of the answer of `POST /v1/evidence/stream`."""
