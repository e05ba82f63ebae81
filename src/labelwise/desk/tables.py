"""The tables of a store. The same statements make them in SQLite and in PostgreSQL."""

from __future__ import annotations

FORMAT = "2"

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
    # A reading is one pass over an act: 1 is the indexer's, 2 the second reader's. An act is named
    # by its uuid here and below, since its id can be changed.
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
        write_key TEXT NOT NULL,
        new_id TEXT,
        new_title TEXT
    )""",
    "CREATE INDEX decisions_of_act ON decisions (act, reading)",
    "CREATE INDEX decisions_of_concept ON decisions (concept)",
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
        """CREATE OR REPLACE FUNCTION decisions_stay() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the log of decisions only grows'; END $$""",
        """CREATE TRIGGER decisions_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON decisions
        FOR EACH STATEMENT EXECUTE FUNCTION decisions_stay()""",
    ),
}


# Format 1 named acts by their ids.
UPGRADE = (
    "ALTER TABLE decisions ADD COLUMN new_id TEXT",
    "ALTER TABLE decisions ADD COLUMN new_title TEXT",
    *(
        f"UPDATE {table} SET act = (SELECT uuid FROM acts WHERE acts.id = {table}.act)"
        for table in ("readings", "decisions", "suggestions")
    ),
    "CREATE INDEX decisions_of_concept ON decisions (concept)",
    f"UPDATE facts SET value = '{FORMAT}' WHERE name = 'format'",
)
LET_CHANGE = {
    "sqlite": ("DROP TRIGGER decisions_stay_update", "DROP TRIGGER decisions_stay_delete"),
    "postgresql": ("DROP TRIGGER decisions_stay ON decisions",),
}


def upgrade(dialect: str) -> list[str]:
    """What makes a store of format 1 one of this format."""
    return [*LET_CHANGE[dialect], *UPGRADE, *APPEND_ONLY[dialect]]


def statements(dialect: str) -> list[str]:
    """What makes an empty store."""
    made = [one.format(serial=SERIAL[dialect]) for one in TABLES]
    return [*made, *APPEND_ONLY[dialect]]
