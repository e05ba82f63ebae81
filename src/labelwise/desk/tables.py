"""The tables of a store. The same statements make them in SQLite and in PostgreSQL."""

from __future__ import annotations

FORMAT = "1"

TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE acts (
        number {serial},
        id TEXT NOT NULL UNIQUE,
        uuid TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        source TEXT NOT NULL,
        words INTEGER NOT NULL,
        gold TEXT NOT NULL,
        sections TEXT NOT NULL,
        added TEXT NOT NULL,
        added_by TEXT NOT NULL
    )""",
    # A reading is one pass over an act: 1 is the indexer's, 2 the second reader's.
    """CREATE TABLE readings (
        act TEXT NOT NULL,
        reading INTEGER NOT NULL,
        state TEXT NOT NULL,
        version INTEGER NOT NULL,
        chosen INTEGER NOT NULL,
        who TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (act, reading)
    )""",
    """CREATE TABLE decisions (
        number {serial},
        act TEXT NOT NULL,
        reading INTEGER NOT NULL,
        version INTEGER NOT NULL,
        what TEXT NOT NULL,
        concept TEXT,
        who TEXT NOT NULL,
        at TEXT NOT NULL,
        model TEXT,
        fingerprint TEXT,
        score DOUBLE PRECISION,
        rank INTEGER,
        write_key TEXT NOT NULL
    )""",
    "CREATE INDEX decisions_of_act ON decisions (act, reading)",
    "CREATE TABLE concepts (id TEXT PRIMARY KEY, uri TEXT NOT NULL, descriptor TEXT NOT NULL)",
    """CREATE TABLE suggestions (
        act TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        model TEXT NOT NULL,
        made TEXT NOT NULL,
        suggested INTEGER NOT NULL,
        predictions TEXT NOT NULL,
        PRIMARY KEY (act, fingerprint)
    )""",
    """CREATE TABLE people (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        token TEXT NOT NULL UNIQUE,
        made TEXT NOT NULL
    )""",
    "CREATE TABLE sessions (token TEXT PRIMARY KEY, name TEXT NOT NULL, until TEXT NOT NULL)",
    """CREATE TABLE stopped (
        concept TEXT PRIMARY KEY,
        who TEXT NOT NULL,
        at TEXT NOT NULL
    )""",
)

SERIAL = {
    "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "postgresql": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
}

# The log only grows: the database itself refuses to change or to take away a line of it.
APPEND_ONLY = {
    "sqlite": tuple(
        f"""CREATE TRIGGER decisions_stay_{action.lower()} BEFORE {action} ON decisions
        BEGIN SELECT RAISE(ABORT, 'the log of decisions only grows'); END"""
        for action in ("UPDATE", "DELETE")
    ),
    "postgresql": (
        """CREATE FUNCTION decisions_stay() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the log of decisions only grows'; END $$""",
        """CREATE TRIGGER decisions_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON decisions
        FOR EACH STATEMENT EXECUTE FUNCTION decisions_stay()""",
    ),
}


def statements(dialect: str) -> list[str]:
    """What makes an empty store."""
    made = [one.format(serial=SERIAL[dialect]) for one in TABLES]
    return [*made, *APPEND_ONLY[dialect]]
