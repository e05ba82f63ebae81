"""Who works at the desk: names with a role, tokens to sign in with, sessions.

Tokens are made here, long and at random, shown once and kept as digests alone: who reads the store
cannot sign in with what it holds.
"""

from __future__ import annotations

import getpass
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

from labelwise.desk.database import Database, StoreError
from labelwise.desk.records import now

Role = Literal["indexer", "reviewer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what those before it may: decide; read a second time and stop concepts; say who works
here, and withdraw acts."""

SESSION_HOURS = 12


class UnknownPersonError(StoreError):
    """There is nobody of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"nobody here is called '{name[:100]}'")


class UnfitNameError(StoreError):
    """What cannot be a name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"'{name[:100]}' cannot be a name: use letters, digits, spaces, dots, hyphens and @"
        )


@dataclass(frozen=True)
class Person:
    name: str
    role: Role

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


class People:
    """The people of a store and their sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.reading():
            self._secret = database.fact("secret")

    def add(self, name: str, role: Role) -> str:
        """Make a person, or give one a new role and a new token; old sessions end. The token."""
        if not re.fullmatch(r"\w[\w .@'-]{0,99}", name):
            raise UnfitNameError(name)
        token = secrets.token_urlsafe(24)
        with self._database.writing():
            self._database.run(
                "INSERT INTO people (name, role, token, made) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET role = excluded.role, token = excluded.token",
                (name, role, _digest(token), now()),
            )
            self._database.run("DELETE FROM sessions WHERE name = ?", (name,))
        return token

    def change(self, name: str, role: Role) -> None:
        """Another role; token and sessions stay."""
        with self._database.writing():
            changed = self._database.run("UPDATE people SET role = ? WHERE name = ?", (role, name))
        if not changed.rowcount:
            raise UnknownPersonError(name)

    def remove(self, name: str) -> None:
        """Somebody who may not sign in any more. What they decided stays."""
        with self._database.writing():
            gone = self._database.run("DELETE FROM people WHERE name = ?", (name,))
            self._database.run("DELETE FROM sessions WHERE name = ?", (name,))
        if not gone.rowcount:
            raise UnknownPersonError(name)

    def all(self) -> list[Person]:
        with self._database.reading():
            rows = self._database.run("SELECT name, role FROM people ORDER BY name").fetchall()
        return [Person(*row) for row in rows]

    def named(self, name: str) -> Person | None:
        return self._found("SELECT name, role FROM people WHERE name = ?", name)

    def with_token(self, token: str) -> Person | None:
        return self._found("SELECT name, role FROM people WHERE token = ?", _digest(token))

    def sign_in(self, person: Person) -> str:
        """Begin a session: what the browser shows from now on."""
        token = secrets.token_urlsafe(32)
        until = datetime.now(UTC) + timedelta(hours=SESSION_HOURS)
        with self._database.writing():
            self._database.run("DELETE FROM sessions WHERE until < ?", (now(),))
            self._database.run(
                "INSERT INTO sessions (token, name, until) VALUES (?, ?, ?)",
                (_digest(token), person.name, until.isoformat()),
            )
        return token

    def in_session(self, token: str) -> Person | None:
        with self._database.reading():
            found = self._database.run(
                "SELECT p.name, p.role FROM sessions s JOIN people p ON p.name = s.name "
                "WHERE s.token = ? AND s.until > ?",
                (_digest(token), now()),
            ).fetchone()
        return None if found is None else Person(*found)

    def sign_out(self, token: str) -> None:
        with self._database.writing():
            self._database.run("DELETE FROM sessions WHERE token = ?", (_digest(token),))

    def written_by(self, session: str) -> str:
        """What the page sends with every write, and what a page of another site cannot know."""
        return hmac.new(self._secret.encode(), session.encode(), hashlib.sha256).hexdigest()

    def _found(self, query: str, value: str) -> Person | None:
        with self._database.reading():
            found = self._database.run(query, (value,)).fetchone()
        return None if found is None else Person(*found)


def this_user() -> str:
    """Who runs this program; a container may have nobody of a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
