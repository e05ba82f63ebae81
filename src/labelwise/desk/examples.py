"""Acts of the worklist for which a concept was chosen."""

from __future__ import annotations

from labelwise.desk.database import Database


def examples(
    database: Database, concept: str, *, besides: str = "", most: int = 5
) -> list[tuple[str, str]]:
    """Ids and titles of acts whose first reading has the concept, the last decided first; without
    the act ``besides``, at which somebody is at work."""
    with database.reading():
        rows = database.run(
            "SELECT a.id, a.title FROM decisions d JOIN acts a ON a.uuid = d.act "
            "JOIN readings r ON r.act = d.act AND r.reading = 1 AND r.state <> 'withdrawn' "
            "WHERE d.concept = ? AND d.reading = 1 AND d.what IN ('accept', 'add') "
            "AND a.id <> ? AND NOT EXISTS (SELECT 1 FROM decisions l WHERE l.act = d.act "
            "AND l.reading = 1 AND l.concept = d.concept AND l.number > d.number) "
            "ORDER BY d.number DESC LIMIT ?",
            (concept, besides, most),
        ).fetchall()
    return [(id, title) for id, title in rows]
