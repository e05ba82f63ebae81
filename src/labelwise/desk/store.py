"""The store of a desk: acts, readings of them, and the log of decisions, which only grows.

A write names the version of the reading that its author saw. Where somebody has written since, it
is refused with what was written (``ConflictError``), and nothing is changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labelwise.corpus.document import Document, Section
from labelwise.desk.database import Database, StoreError
from labelwise.desk.records import (
    LISTED,
    OF_ACTS,
    Change,
    Decision,
    Reading,
    State,
    now,
)

_COLUMNS = """a.id, d.reading, d.version, d.what, d.concept, c.descriptor, c.uri, d.who, d.at,
    d.model, d.fingerprint, d.score, d.rank, d.new_id, d.new_title"""
_FROM = """FROM decisions d JOIN acts a ON a.uuid = d.act
    LEFT JOIN concepts c ON c.id = d.concept"""


class UnlistedActError(StoreError):
    """An act that is not on the worklist."""


class RefusedError(StoreError):
    """What cannot be decided in this state of the act."""


class TakenError(StoreError):
    """Another act has this id."""


class ConflictError(StoreError):
    """Somebody else has written since: what they wrote, and how things stand now."""

    def __init__(self, since: list[Decision], reading: Reading) -> None:
        names = ", ".join(sorted({one.who for one in since})) or "somebody"
        super().__init__(f"{names} changed {reading.act} since you opened it: nothing was written")
        self.since, self.reading = since, reading


@dataclass(frozen=True)
class StoredAct:
    """An act as it was added."""

    document: Document
    uuid: str
    source: str
    words: int
    added: str
    added_by: str


class Store:
    """Acts and decisions. Every method is one transaction. An act is asked for by its id, which can
    be changed, or by its uuid."""

    def __init__(self, database: Database) -> None:
        self.database = database

    # --- acts ---------------------------------------------------------------------------------

    def add(
        self, documents: Sequence[tuple[Document, int]], *, source: str, who: str
    ) -> list[tuple[str, bool]]:
        """Put documents, each with its number of words, on the worklist: their ids, and whether
        they are new. The same text is one act; an id that another text has gets a number."""
        with self.database.writing():
            return [self._add(one, words, source, who) for one, words in documents]

    def _add(self, document: Document, words: int, source: str, who: str) -> tuple[str, bool]:
        run, uuid = self.database.run, document.uuid
        known = run("SELECT id FROM acts WHERE uuid = ?", (uuid,)).fetchone()
        if known is not None:
            return str(known[0]), False
        id, at = self._free(_plain(document.id) or uuid), now()
        sections = [[section.kind, section.text] for section in document.sections]
        values = (
            id,
            uuid,
            _plain(document.title) or _first_words(document),
            _plain(source),
            words,
            json.dumps(document.labels),
            json.dumps(sections, ensure_ascii=False),
            at,
            who,
        )
        run(
            "INSERT INTO acts (id, uuid, title, source, words, gold, sections, added, added_by) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        self._begin(uuid, 1, at)
        return id, True

    def _free(self, id: str) -> str:
        found, number = id, 1
        while self._uuid(found) is not None:
            number += 1
            found = f"{id} ({number})"
        return found

    def _uuid(self, id: str) -> str | None:
        found = self.database.run(
            "SELECT uuid FROM acts WHERE id = ? OR uuid = ?", (id, id)
        ).fetchone()
        return None if found is None else str(found[0])

    def act(self, id: str) -> StoredAct:
        with self.database.reading():
            return self._act(id)

    def _act(self, id: str) -> StoredAct:
        found = self.database.run(
            "SELECT id, title, sections, gold, uuid, source, words, added, added_by FROM acts "
            "WHERE id = ? OR uuid = ?",
            (id, id),
        ).fetchone()
        if found is None:
            raise _unknown(id)
        id, title, written, gold, *rest = found
        sections = tuple(Section(kind, text) for kind, text in json.loads(written))
        return StoredAct(Document(id, title, sections, tuple(json.loads(gold))), *rest)

    def acts(self, states: Sequence[State] = LISTED) -> Iterator[StoredAct]:
        """All acts in these states, in the order in which they were added, one at a time."""
        marks = ", ".join("?" for _ in states)
        with self.database.reading():
            uuids = self.database.run(
                "SELECT a.uuid FROM acts a JOIN readings r ON r.act = a.uuid AND r.reading = 1 "
                f"WHERE r.state IN ({marks}) ORDER BY a.number",
                states,
            ).fetchall()
        for (uuid,) in uuids:
            yield self.act(uuid)

    # --- decisions ----------------------------------------------------------------------------

    def reading(self, id: str, reading: int = 1) -> Reading:
        with self.database.reading():
            return self._reading(id, reading)

    def _reading(self, id: str, reading: int) -> Reading:
        found = self.database.run(
            "SELECT a.id, a.uuid, a.title, COALESCE(r.state, 'new'), COALESCE(r.version, 0), "
            "COALESCE(r.who, ''), COALESCE(r.at, '') FROM acts a LEFT JOIN readings r "
            "ON r.act = a.uuid AND r.reading = ? WHERE a.id = ? OR a.uuid = ?",
            (reading, id, id),
        ).fetchone()
        if found is None:
            raise _unknown(id)
        id, uuid, title, state, version, who, when = found
        decisions = holding(self._since(uuid, reading, 0))
        return Reading(id, uuid, title, reading, state, version, who, when, decisions)

    def written(self, id: str, reading: int = 1) -> list[Decision]:
        """The log of one reading."""
        with self.database.reading():
            return self._since(self._uuid(id) or "", reading, 0)

    def _begin(self, uuid: str, reading: int, at: str) -> None:
        self.database.run(
            "INSERT INTO readings (act, reading, state, version, chosen, who, at) "
            "VALUES (?, ?, 'new', 0, 0, '', ?) ON CONFLICT (act, reading) DO NOTHING",
            (uuid, reading, at),
        )

    def decide(
        self,
        id: str,
        changes: Sequence[Change],
        *,
        version: int,
        who: str,
        reading: int = 1,
        key: str = "",
    ) -> Reading:
        """Write decisions, all or none, upon the version that their author saw.

        ``key`` names the write: sent again, because no answer came, it is not written twice.
        """
        with self.database.writing():
            before = self._reading(id, reading)
            uuid = before.uuid
            if key and self._written(uuid, reading, key):
                return before
            if reading == 2:
                if any(one.what == "withdraw" for one in changes):
                    raise RefusedError("an act is withdrawn in the first reading")
                self._check_second(uuid, who)
                self._begin(uuid, 2, now())
            claimed = self.database.run(  # first, so that no other process can be in between
                "UPDATE readings SET version = version + 1 "
                "WHERE act = ? AND reading = ? AND version = ?",
                (uuid, reading, version),
            )
            if claimed.rowcount != 1:
                since = self._since(uuid, reading, version)
                raise ConflictError(since, self._reading(uuid, reading))
            state = _state_after(before.state, changes)
            self._write(before, changes, who, key)
            if any(one.what != "rename" for one in changes):  # a new name is no reading
                self.database.run(
                    "UPDATE readings SET state = ?, chosen = ?, who = ?, at = ? "
                    "WHERE act = ? AND reading = ?",
                    (state, len(self._reading(uuid, reading).chosen), who, now(), uuid, reading),
                )
            return self._reading(uuid, reading)

    def _write(self, before: Reading, changes: Sequence[Change], who: str, key: str) -> None:
        run, at = self.database.run, now()
        for one in changes:
            if (one.concept is None) != (one.what in OF_ACTS):
                raise RefusedError(f"'{one.what}' {_names(one)} a concept")
            if one.what == "rename":
                self._rename(before, one)
            if one.concept is not None:
                run(
                    "INSERT INTO concepts (id, uri, descriptor) VALUES (?, ?, ?) "
                    "ON CONFLICT (id) DO UPDATE SET uri = excluded.uri, "
                    "descriptor = excluded.descriptor",
                    (one.concept.id, one.concept.uri, one.concept.descriptor),
                )
            run(
                "INSERT INTO decisions (act, reading, version, what, concept, who, at, model, "
                "fingerprint, score, rank, write_key, new_id, new_title) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    before.uuid,
                    before.reading,
                    before.version + 1,
                    one.what,
                    one.concept.id if one.concept else None,
                    who,
                    at,
                    one.model,
                    one.fingerprint,
                    one.score,
                    one.rank,
                    key,
                    one.new_id,
                    one.new_title,
                ),
            )

    def _rename(self, before: Reading, change: Change) -> None:
        if before.reading != 1:
            raise RefusedError("title and id are changed in the first reading")
        id = _plain(change.new_id or "") or before.act
        if self._uuid(id) not in (None, before.uuid):
            raise TakenError(f"another act has the id '{id[:200]}': choose another one")
        self.database.run(
            "UPDATE acts SET id = ?, title = ? WHERE uuid = ?",
            (id, _plain(change.new_title or "") or before.title, before.uuid),
        )

    def _written(self, uuid: str, reading: int, key: str) -> bool:
        found = self.database.run(
            "SELECT 1 FROM decisions WHERE act = ? AND reading = ? AND write_key = ?",
            (uuid, reading, key),
        )
        return found.fetchone() is not None

    def _since(self, uuid: str, reading: int, version: int) -> list[Decision]:
        rows = self.database.run(
            f"SELECT {_COLUMNS} {_FROM} WHERE d.act = ? AND d.reading = ? AND d.version > ? "
            "ORDER BY d.number",
            (uuid, reading, version),
        ).fetchall()
        return [Decision(*row) for row in rows]

    def _check_second(self, uuid: str, who: str) -> None:
        first, second = self._reading(uuid, 1), self._reading(uuid, 2)
        id = first.act
        if first.state != "done":
            raise RefusedError(f"{id} is not done: it is read a second time afterwards")
        if who in self._deciders(uuid, 1):
            raise RefusedError(f"{who} read {id} first: a second reader is somebody else")
        if second.version and second.who != who:
            raise RefusedError(f"{second.who} is the second reader of {id}")

    def _deciders(self, uuid: str, reading: int) -> set[str]:
        rows = self.database.run(
            "SELECT DISTINCT who FROM decisions WHERE act = ? AND reading = ? AND what <> 'rename'",
            (uuid, reading),
        ).fetchall()
        return {name for (name,) in rows}

    def log(self, *, piece: int = 1000) -> Iterator[Decision]:
        """All decisions in the order in which they were made."""
        last = 0
        while True:
            with self.database.reading():
                rows = self.database.run(
                    f"SELECT d.number, {_COLUMNS} {_FROM} "
                    "WHERE d.number > ? ORDER BY d.number LIMIT ?",
                    (last, piece),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield from (Decision(*row[1:]) for row in rows)

    # --- suggestions --------------------------------------------------------------------------

    def suggest(
        self,
        id: str,
        predictions: Sequence[Mapping[str, Any]],
        *,
        model: str,
        fingerprint: str,
        suggested: int,
    ) -> None:
        """Keep what a model says of an act; ``suggested`` of it are above its threshold."""
        written = json.dumps(list(predictions), ensure_ascii=False)
        with self.database.writing():
            self.database.run(
                "INSERT INTO suggestions (act, fingerprint, model, made, suggested, predictions) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (act, fingerprint) DO NOTHING",
                (self._uuid(id), fingerprint, model, now(), suggested, written),
            )

    def suggestions(self, id: str, fingerprint: str) -> list[dict[str, Any]] | None:
        """What this model says of an act; None where it has not read it."""
        with self.database.reading():
            found = self.database.run(
                "SELECT predictions FROM suggestions WHERE act = ? AND fingerprint = ?",
                (self._uuid(id), fingerprint),
            ).fetchone()
        return None if found is None else list(json.loads(found[0]))

    def unread(self, fingerprint: str) -> str | None:
        """The uuid of the first act that is not done and that this model has not read."""
        with self.database.reading():
            found = self.database.run(
                "SELECT a.uuid FROM acts a JOIN readings r ON r.act = a.uuid AND r.reading = 1 "
                "WHERE r.state IN ('new', 'open') AND NOT EXISTS (SELECT 1 FROM suggestions s "
                "WHERE s.act = a.uuid AND s.fingerprint = ?) ORDER BY a.number LIMIT 1",
                (fingerprint,),
            ).fetchone()
        return None if found is None else str(found[0])

    # --- concepts that are not to be suggested ------------------------------------------------

    def stop(self, concept: str, who: str) -> None:
        """Suggest a concept to nobody any more."""
        with self.database.writing():
            self.database.run(
                "INSERT INTO stopped (concept, who, at) VALUES (?, ?, ?) "
                "ON CONFLICT (concept) DO NOTHING",
                (concept, who, now()),
            )

    def allow(self, concept: str) -> None:
        """Suggest it again."""
        with self.database.writing():
            self.database.run("DELETE FROM stopped WHERE concept = ?", (concept,))

    def stopped(self) -> list[str]:
        with self.database.reading():
            rows = self.database.run("SELECT concept FROM stopped ORDER BY concept").fetchall()
        return [concept for (concept,) in rows]


def _unknown(id: str) -> UnlistedActError:
    return UnlistedActError(f"the worklist has no act '{id[:200]}'")


def _plain(text: str) -> str:
    """PostgreSQL has no zero bytes in texts."""
    return text.replace("\0", "").strip()


def _first_words(document: Document) -> str:
    """What an act without a title is known by."""
    lines = _plain(document.text).splitlines()
    return lines[0][:120] if lines else ""


def _names(change: Change) -> str:
    return "does not name" if change.what in OF_ACTS else "names"


def holding(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """The last decision about each concept; none about one that was taken back."""
    found: dict[str, Decision] = {}
    for one in decisions:
        if one.concept is None:
            continue
        if one.what == "remove":
            found.pop(one.concept, None)
        else:
            found[one.concept] = one
    return tuple(found.values())


def _state_after(state: State, changes: Sequence[Change]) -> State:
    """What state an act is in afterwards; one that is done or withdrawn is reopened before anything
    else."""
    for one in changes:
        match one.what:
            case "reopen":
                state = "open"
            case _ if state == "withdrawn":
                raise RefusedError("the act was withdrawn from the worklist: an admin reopens it")
            case "done":
                state = "done"
            case "withdraw":
                state = "withdrawn"
            case "rename":
                pass
            case _ if state == "done":
                raise RefusedError("the act is done: reopen it first")
            case _:
                state = "open"
    return state
