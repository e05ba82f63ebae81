"""The worklist from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from labelwise.desk.database import Database
from labelwise.desk.people import People
from labelwise.desk.records import Change, Concept
from labelwise.desk.store import Store

ACT = "COMMISSION REGULATION\nArticle 1\nThe duty on lemons shall be fixed."


def test_acts_are_added_once_listed_logged_and_exported(
    labelwise: Callable, tmp_path: Path
) -> None:
    store, folder = tmp_path / "desk.sqlite", tmp_path / "acts"
    folder.mkdir()
    (folder / "32001R0012.txt").write_text(ACT)
    (folder / "32001R0013.txt").write_text(ACT.replace("lemons", "oranges"))
    assert "2 new" in labelwise("desk", "add", store, folder, "--who", "ana").err
    assert "0 new on the worklist, 2 were there" in labelwise("desk", "add", store, folder).err
    listed = labelwise("desk", "list", store, "--json").json
    assert [(one["id"], one["state"]) for one in listed] == [
        ("32001R0012", "new"),
        ("32001R0013", "new"),
    ]
    opened = Store(Database(str(store)))
    lemon = Concept("693", "http://eurovoc.europa.eu/693", "citrus fruit")
    changes = [Change("accept", lemon, "svm", "f1", 0.9, 1), Change("done")]
    opened.decide("32001R0012", changes, version=0, who="ana")
    opened.database.close()
    log = [json.loads(line) for line in labelwise("desk", "log", store).out.splitlines()]
    assert [(one["what"], one["concept"], one["rank"]) for one in log] == [
        ("accept", "693", 1),
        ("done", None, None),
    ]
    (done,) = labelwise("desk", "log", store, "--acts").out.splitlines()
    assert json.loads(done)["concepts"] == ["693"]
    assert "citrus fruit" in labelwise("desk", "export", store, "--as", "csv").out
    out = tmp_path / "done.xml"
    labelwise("desk", "export", store, "--as", "marcxml", "--out", out)
    assert "citrus fruit" in out.read_text("utf-8")


def test_a_token_is_shown_once_and_a_new_one_ends_the_old(
    labelwise: Callable, tmp_path: Path
) -> None:
    store = tmp_path / "desk.sqlite"
    first = labelwise("desk", "person", store, "Ana").out.strip()
    second = labelwise("desk", "person", store, "Ana", "--role", "reviewer").out.strip()
    people = People(Database(str(store)))
    assert people.with_token(first) is None
    found = people.with_token(second)
    assert found is not None
    assert (found.name, found.role) == ("Ana", "reviewer")
    assert first.encode() not in store.read_bytes()
    assert second.encode() not in store.read_bytes()
    assert labelwise("desk", "person", store, "--json").json == [
        {"name": "Ana", "role": "reviewer"}
    ]
    labelwise("desk", "person", store, "Ana", "--remove")
    assert people.all() == []


def test_a_store_that_is_missing_is_said_in_a_sentence(labelwise: Callable, tmp_path: Path) -> None:
    called = labelwise("desk", "log", tmp_path / "none.sqlite")
    assert called.code == 1
    assert "there is no such store" in called.err
