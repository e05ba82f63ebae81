"""The table of acts: which ones, in what order, and which one comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labelwise.desk.database import Database
from labelwise.desk.records import LISTED, STATES, Entry, State

Sort = Literal["added", "act", "title", "state", "suggested", "chosen", "who", "when"]

_ORDER = {
    "added": "a.number",
    "act": "a.id",
    "title": "a.title",
    "state": "CASE r.state WHEN 'new' THEN 0 WHEN 'open' THEN 1 ELSE 2 END",
    "suggested": "COALESCE(s.suggested, -1)",
    "chosen": "r.chosen",
    "who": "r.who",
    "when": "r.at",
}
_FROM = """FROM acts a JOIN readings r ON r.act = a.uuid AND r.reading = 1
    LEFT JOIN readings t ON t.act = a.uuid AND t.reading = 2
    LEFT JOIN suggestions s ON s.act = a.uuid AND s.fingerprint = ?"""


@dataclass(frozen=True)
class Wanted:
    """Which acts to list."""

    state: State | None = None
    """None: all that were not withdrawn."""
    who: str | None = None
    words: str = ""
    """In the id or the title, each of them somewhere."""
    sort: Sort = "added"
    descending: bool = False


@dataclass(frozen=True)
class Page:
    """Some lines of the worklist, how many there are, and how many in each state."""

    entries: list[Entry]
    total: int
    states: dict[State, int]
    people: list[str]


def page(
    database: Database, wanted: Wanted, *, fingerprint: str = "", limit: int = 100, offset: int = 0
) -> Page:
    """The lines that are wanted; ``fingerprint`` is that of the model whose suggestions count."""
    where, values = _where(wanted)
    order = _ORDER[wanted.sort] + (" DESC" if wanted.descending else "")
    with database.reading():
        rows = database.run(
            "SELECT a.id, a.title, a.words, r.state, s.suggested, r.chosen, r.who, r.at, t.state, "
            f"t.who, a.added {_FROM} {where} ORDER BY {order}, a.number LIMIT ? OFFSET ?",
            (fingerprint, *values, limit, offset),
        ).fetchall()
        (total,) = database.run(
            f"SELECT COUNT(*) {_FROM} {where}", (fingerprint, *values)
        ).fetchone()
        states = database.run(
            "SELECT state, COUNT(*) FROM readings WHERE reading = 1 GROUP BY state"
        ).fetchall()
        people = database.run(
            "SELECT DISTINCT who FROM readings WHERE reading = 1 AND who <> '' ORDER BY who"
        ).fetchall()
    counts: dict[State, int] = dict.fromkeys(STATES, 0)
    return Page(
        [Entry(*row) for row in rows], total, counts | dict(states), [name for (name,) in people]
    )


def next_act(database: Database, who: str, *, after: str | None = None) -> str | None:
    """The act to work on next: one that nobody has begun, or that this person has begun; the first
    behind ``after`` in the order in which they were added, else the first of all."""
    behind = (
        "CASE WHEN a.number > COALESCE((SELECT number FROM acts WHERE id = ?), 0) THEN 0 ELSE 1 END"
    )
    with database.reading():
        found = database.run(
            "SELECT a.id FROM acts a JOIN readings r ON r.act = a.uuid AND r.reading = 1 "
            "WHERE (r.state = 'new' OR (r.state = 'open' AND r.who = ?)) AND a.id <> ? "
            f"ORDER BY {behind}, a.number LIMIT 1",
            (who, after or "", after or ""),
        ).fetchone()
    return None if found is None else str(found[0])


def _where(wanted: Wanted) -> tuple[str, list[str]]:
    states = LISTED if wanted.state is None else (wanted.state,)
    conditions, values = [f"r.state IN ({', '.join('?' for _ in states)})"], [*map(str, states)]
    if wanted.who is not None:
        conditions.append("r.who = ?")
        values.append(wanted.who)
    for word in wanted.words.split():
        conditions.append(r"LOWER(a.id || ' ' || a.title) LIKE ? ESCAPE '\'")
        escaped = word.lower().replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        values.append(f"%{escaped}%")
    return "WHERE " + " AND ".join(conditions), values
