"""What a store keeps, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

State = Literal["new", "open", "done", "withdrawn"]
What = Literal[
    "open", "accept", "add", "reject", "never", "remove", "done", "reopen", "rename", "withdraw"
]
STATES: tuple[State, ...] = get_args(State)
LISTED: tuple[State, ...] = ("new", "open", "done")
"""Acts that are on the worklist; one that was withdrawn is kept with its log, and not shown."""

CHOOSING = ("accept", "add")
REFUSING = ("reject", "never")
OF_ACTS = ("open", "done", "reopen", "rename", "withdraw")
"""Decisions about an act as a whole; all others name a concept."""


def now() -> str:
    """The present time in UTC, to the millisecond: such texts sort like what they mean."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Concept:
    id: str
    uri: str
    descriptor: str


@dataclass(frozen=True)
class Change:
    """A decision that somebody wants to write. ``remove`` takes back whatever was decided."""

    what: What
    concept: Concept | None = None
    model: str | None = None
    fingerprint: str | None = None
    score: float | None = None
    rank: int | None = None
    new_id: str | None = None
    new_title: str | None = None


@dataclass(frozen=True)
class Decision:
    """A line of the log."""

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
    new_id: str | None
    new_title: str | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Reading:
    """One pass over an act: 1 is the indexer's, 2 the second reader's, who does not see the first.

    ``version`` grows with every write; 0 is a reading in which nothing was written.
    """

    act: str
    uuid: str
    title: str
    reading: int
    state: State
    version: int
    who: str
    when: str
    decisions: tuple[Decision, ...]
    """The last one about each concept, in the order in which the concepts were first decided."""

    @property
    def chosen(self) -> tuple[Decision, ...]:
        return tuple(one for one in self.decisions if one.what in CHOOSING)

    @property
    def rejected(self) -> tuple[Decision, ...]:
        return tuple(one for one in self.decisions if one.what in REFUSING)


@dataclass(frozen=True)
class Entry:
    """A line of the worklist."""

    id: str
    title: str
    words: int
    state: State
    suggested: int | None
    """Concepts above the model's threshold; None where no model has read the act yet."""
    chosen: int
    who: str
    when: str
    second: State | None
    second_who: str | None
    added: str
