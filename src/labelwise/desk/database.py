"""Where a store lies: a file of SQLite, or a database of PostgreSQL, asked in the same SQL.

One connection, used by one thread at a time. What a transaction wrote is on the disk when it ends:
SQLite writes ahead (WAL) and waits for the disk, PostgreSQL does so by itself.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from labelwise.desk.tables import FORMAT, statements, upgrade
from labelwise.errors import LabelwiseError, MissingExtraError

POSTGRES = ("postgresql://", "postgres://")
WAIT = 20.0
"""Seconds that a write waits for that of another process."""


class StoreError(LabelwiseError):
    """The store cannot be read or written."""


class Cursor(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Database:
    """A connection that is made again where the server closed it."""

    def __init__(self, where: str, *, create: bool = True) -> None:
        self.where = where
        self.dialect = "postgresql" if where.startswith(POSTGRES) else "sqlite"
        self._lock = threading.RLock()
        self._connection: Any = None
        if self.dialect == "sqlite" and not create and not Path(where).is_file():
            raise StoreError(f"{where}: there is no such store; `labelwise desk add` makes one")
        with self.writing():
            self._prepare()

    def run(self, statement: str, values: Sequence[object] = ()) -> Cursor:
        """One statement within a transaction; each ``?`` stands for a value."""
        if self.dialect == "postgresql":
            statement = statement.replace("?", "%s")
            # It has no zero bytes in texts; what is asked for with one is not there.
            values = [one.replace("\0", "�") if isinstance(one, str) else one for one in values]
        cursor: Cursor = self._connection.execute(statement, tuple(values))
        return cursor

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A transaction that sees one state of the store."""
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that writes: all of it or nothing, and on the disk when it ends."""
        with self._transaction("BEGIN IMMEDIATE" if self.dialect == "sqlite" else "BEGIN"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._lock, self._told():
            self._connect()
            try:
                self._connection.execute(begin)
            except self._lost:  # the server went away since the last time
                self._forget()
                self._connect()
                self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._undo()
                raise

    def _undo(self) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except Exception:  # the connection is of no use any more
            self._forget()

    def _forget(self) -> None:
        self._connection.close()
        self._connection = None

    @property
    def _lost(self) -> type[Exception]:
        if self.dialect == "sqlite":
            return sqlite3.InterfaceError
        import psycopg

        return psycopg.OperationalError

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of the database as a sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.where}: {_sentence(error)}") from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "psycopg":
                raise
            # The address may hold a password, and so may what the driver says of it.
            raise StoreError(f"the PostgreSQL store: {_first_line(error)}") from error

    def _connect(self) -> None:
        if self._connection is not None and not getattr(self._connection, "closed", False):
            return
        self._connection = self._sqlite() if self.dialect == "sqlite" else self._postgresql()

    def _sqlite(self) -> sqlite3.Connection:
        Path(self.where).parent.mkdir(parents=True, exist_ok=True)
        made = sqlite3.connect(
            self.where, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("PRAGMA synchronous = FULL")
        return made

    def _postgresql(self) -> Any:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError("a store in PostgreSQL", "postgres") from error
        return psycopg.connect(self.where, autocommit=True, connect_timeout=int(WAIT))

    def _prepare(self) -> None:
        """Make the tables of a new store, or bring older ones up to date; refuse any others."""
        if not self._has_tables():
            for statement in statements(self.dialect):
                self.run(statement)
            facts = {"format": FORMAT, "secret": secrets.token_hex(32)}
            for name, value in facts.items():
                self.run("INSERT INTO facts (name, value) VALUES (?, ?)", (name, value))
            return
        if self.fact("format") == "1":
            for statement in upgrade(self.dialect):
                self.run(statement)
        found = self.fact("format")
        if found != FORMAT:
            raise StoreError(f"{self.where}: the store has format {found}, and {FORMAT} is read")

    def _has_tables(self) -> bool:
        if self.dialect == "sqlite":
            query = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'facts'"
        else:
            self.run("SELECT pg_advisory_xact_lock(7262)")  # two services that begin at once
            query = "SELECT COUNT(*) FROM pg_tables WHERE tablename = 'facts'"
        return bool(self.run(query).fetchone()[0])

    def fact(self, name: str) -> str:
        """Something that holds for the whole store; within a transaction."""
        return str(self.run("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()[0])

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._forget()


def _sentence(error: sqlite3.Error) -> str:
    known = {
        "file is not a database": "this is no store of SQLite: choose another name",
        "unable to open database file": "the store cannot be opened: choose another place",
        "attempt to write a readonly database": "the store is read-only",
        "database is locked": "another process has been writing for too long: try again",
        "database or disk is full": "there is no space left on the device",
    }
    return known.get(str(error), f"the store cannot be used: {error}")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
