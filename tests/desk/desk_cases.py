"""What the tests of the desk share: acts written for them, decisions, stores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labelwise.corpus.document import Document, Section
from labelwise.desk.database import Database
from labelwise.desk.records import Change, Concept, What
from labelwise.desk.store import Store

CONCEPTS = {
    "693": Concept("693", "http://eurovoc.europa.eu/693", "citrus fruit"),
    "3191": Concept("3191", "http://eurovoc.europa.eu/3191", "import (EU)"),
    "161": Concept("161", "http://eurovoc.europa.eu/161", "tariff quota"),
    "20": Concept("20", "http://eurovoc.europa.eu/20", "customs duties"),
}


def act(id: str, about: str = "oranges and lemons") -> Document:
    """An act of our own making."""
    title = f"Commission Regulation on {about}"
    text = f"The import duty on {about} shall be fixed every week."
    return Document(id, title, (Section("header", title), Section("article", f"{text} {id}")))


def change(what: What, concept: str | None = None, rank: int | None = None) -> Change:
    """A decision with the score of a model that suggests with rank."""
    if concept is None:
        return Change(what)
    score = None if rank is None else round(1 - rank / 10, 3)
    return Change(what, CONCEPTS[concept], "svm", "f1e2d3", score, rank)


def store_with(where: Path | str, ids: Sequence[str]) -> Store:
    """A store with these acts."""
    store = Store(Database(str(where)))
    store.add([(act(id), 12) for id in ids], source="acts.zip", who="ana")
    return store
