"""What goes in and out of the routes of a worklist."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from labelwise.desk.people import Role
from labelwise.desk.records import State, What
from labelwise.serving.shapes import (
    DocumentText,
    LabelId,
    LabelInfo,
    ModelId,
    Number,
    Prediction,
    SectionText,
    Shape,
    Text,
    Whole,
)

ActId = Annotated[Text, Field(min_length=1, max_length=600)]


class NewAct(DocumentText):
    labels: list[LabelId] = Field(
        default_factory=list, max_length=1000, description="Gold labels, where the file has some."
    )


class AddRequest(Shape):
    acts: list[NewAct] = Field(min_length=1, fail_fast=True)
    source: Text = Field(default="", max_length=500, description="The file they come from.")


class AddedAct(Shape):
    id: str = Field(description="Its id on the worklist.")
    new: bool = Field(description="False: the worklist had this text already.")


class AddResponse(Shape):
    acts: list[AddedAct]


class WorklistEntry(Shape):
    id: str
    title: str
    words: int
    state: State
    suggested: int | None = Field(
        description="Concepts above the threshold of the first model; null until it has read it."
    )
    chosen: int
    who: str = Field(description="Who wrote last; empty for nobody.")
    when: str = Field(description="When that was, or when the act was added.")
    second: State | None = Field(description="State of the second reading; null without one.")
    second_who: str | None
    added: str


class Worklist(Shape):
    acts: list[WorklistEntry]
    total: int = Field(description="How many there are; `acts` holds at most `limit` of them.")
    states: dict[State, int] = Field(description="Acts of the whole worklist in each state.")
    people: list[str] = Field(description="Who has written in some act.")


class DecisionLine(Shape):
    """A decision as it stands in the log."""

    act: str
    reading: int
    version: int
    what: What
    concept: str | None
    descriptor: str | None
    uri: str | None
    who: str
    when: str
    model: str | None
    fingerprint: str | None
    score: float | None
    rank: int | None
    new_id: str | None = Field(description="Of `rename`: the id that the act got.")
    new_title: str | None


class Decided(DecisionLine):
    """The decision that holds about a concept, with what is known of the concept."""

    info: LabelInfo


class ReadingResponse(Shape):
    """How one reading of an act stands."""

    act: str = Field(description="The id of the act, which may have been changed.")
    title: str
    reading: int
    state: State
    version: int = Field(description="Name it in the next write.")
    who: str
    when: str
    decisions: list[Decided]


class Undoable(Shape):
    """A decision, and what held about the concept before: to decide that takes it back."""

    what: What
    concept: str
    descriptor: str | None
    before: Decided | None


class ActResponse(Shape):
    id: str
    uuid: str
    title: str
    source: str
    words: int
    sections: list[SectionText]
    labels: list[str]
    added: str
    added_by: str
    reading: ReadingResponse
    model: str = Field(description="The model that `predictions` are of.")
    predictions: list[Prediction] | None = Field(
        description="What it suggests; null until it has read the act."
    )
    undo: list[Undoable] = Field(
        description="What you decided last, where nobody has decided about it since."
    )


class Deciding(Shape):
    """One decision to write. `score`, `rank` and `model` are those that were shown."""

    what: What
    concept: LabelId | None = None
    model: ModelId = None
    score: Number | None = None
    rank: Whole | None = Field(default=None, ge=1, le=1_000_000)
    new_id: Text | None = Field(default=None, max_length=500, description="Of `rename` alone.")
    new_title: Text | None = Field(default=None, max_length=20_000)


class DecideRequest(Shape):
    version: Whole = Field(ge=0, description="The version that the author saw.")
    reading: Whole = Field(default=1, ge=1, le=2, description="2: that of the second reader.")
    key: Text = Field(
        default="",
        max_length=100,
        description="A name for this write: sent again with it, it is not written twice.",
    )
    decisions: list[Deciding] = Field(min_length=1, max_length=1000, fail_fast=True)


class Example(Shape):
    id: str
    title: str


class Examples(Shape):
    acts: list[Example]


class NextResponse(Shape):
    id: str | None = Field(description="The act to work on next; null where none is left.")


class SignIn(Shape):
    token: Text = Field(min_length=1, max_length=200)


class Session(Shape):
    """Who asks."""

    name: str | None = Field(description="Null: nobody has signed in.")
    role: Role | None
    csrf: str = Field(description="To be sent as `X-CSRF-Token` with every write of a browser.")
    signed_in: bool = Field(description="Whether it is a session that can be ended.")


class PersonShape(Shape):
    """Somebody who works here."""

    name: str
    role: Role


class PeopleResponse(Shape):
    people: list[PersonShape]


class RoleRequest(Shape):
    role: Role


class PersonRequest(RoleRequest):
    name: Text = Field(
        min_length=1,
        max_length=100,
        description="Letters, digits, spaces, dots, hyphens and @, the first a letter or a digit.",
    )


class NewPerson(PersonShape):
    token: str = Field(description="To sign in with: it is told here and never again.")


class StopRequest(Shape):
    concept: LabelId


class Stopped(Shape):
    concepts: list[LabelInfo]


class Readers(Shape):
    """Two readers of the same acts, and the concepts that both, one or none of them chose."""

    first: str
    second: str
    acts: int
    both: int
    only_first: int
    only_second: int
    neither: int
    kappa: float | None = Field(description="Cohen's kappa; null where it has no value.")
    overlap: float | None = Field(description="F1 of one reader's concepts by the other's.")


class AgreementResponse(Shape):
    acts: int = Field(description="Acts that were read twice.")
    alpha: float | None = Field(description="Krippendorff's alpha over all readers.")
    pairs: list[Readers]


class TallyShape(Shape):
    accepted: int
    rejected: int
    added: int


class ConceptTally(TallyShape):
    id: str
    descriptor: str


class RankTally(TallyShape):
    rank: int


class MonthTally(TallyShape):
    month: str


class Missed(Shape):
    id: str
    descriptor: str
    added: int


class OverSuggested(Shape):
    id: str
    descriptor: str
    suggested: int = Field(description="Done acts for which it was suggested.")
    refused: int = Field(description="Those of them that were done without it.")
    stopped: bool


class FiguresResponse(TallyShape):
    acts: int = Field(description="Acts that are done.")
    concepts: list[ConceptTally]
    ranks: list[RankTally]
    months: list[MonthTally]
    missed: list[Missed]
    over: list[OverSuggested]
    seconds: list[float] = Field(
        description="From opening an act to finishing it: lower quartile, median, upper quartile."
    )
