"""What a store keeps, it keeps: acts once, decisions for ever, and nobody's work is overwritten."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from desk_cases import act, change, store_with

from labelwise.corpus.document import Document, Section
from labelwise.desk.database import Database, StoreError
from labelwise.desk.examples import examples
from labelwise.desk.records import Change
from labelwise.desk.store import (
    ConflictError,
    RefusedError,
    Store,
    TakenError,
    UnlistedActError,
)
from labelwise.desk.tables import APPEND_ONLY, LET_CHANGE
from labelwise.desk.undo import last_step
from labelwise.desk.worklist import Wanted, next_act, page


def test_the_same_text_is_one_act_and_another_text_gets_an_id_of_its_own(store: Store) -> None:
    known = store.add([(act("32001R0012"), 12)], source="again.txt", who="ben")
    assert known == [("32001R0012", False)]
    other = store.add([(act("32001R0012", "sugar"), 12)], source="other.txt", who="ben")
    assert other == [("32001R0012 (2)", True)]
    assert store.act("32001R0012").document.title == "Commission Regulation on oranges and lemons"
    assert [one.document.id for one in store.acts()] == [
        "32001R0012",
        "32019R0532",
        "32020D0001",
        "32001R0012 (2)",
    ]


def test_an_act_comes_back_as_it_was_added(store: Store) -> None:
    found = store.act("32019R0532")
    assert found.document == act("32019R0532")
    assert (found.words, found.source, found.added_by) == (12, "acts.zip", "ana")
    for unknown in ("nobody", "zero\0byte"):
        with pytest.raises(UnlistedActError, match="no act"):
            store.act(unknown)


def test_an_act_without_a_title_is_known_by_its_first_words(store: Store) -> None:
    untitled = Document("7", "", (Section("article", "\nThe duty on lemons\nshall be fixed."),))
    store.add([(untitled, 7)], source="", who="ana")
    assert store.act("7").document.title == "The duty on lemons"


def test_decisions_keep_their_score_rank_and_model_and_the_last_one_counts(store: Store) -> None:
    first = store.decide(
        "32001R0012",
        [change("accept", "693", 1), change("reject", "20", 2), change("add", "161")],
        version=0,
        who="ana",
    )
    assert (first.version, first.state, first.who) == (1, "open", "ana")
    second = store.decide(
        "32001R0012", [change("remove", "693"), change("accept", "20", 5)], version=1, who="ben"
    )
    assert [one.concept for one in second.chosen] == ["20", "161"]
    assert [one.descriptor for one in second.chosen] == ["customs duties", "tariff quota"]
    log = [(one.what, one.concept, one.score, one.rank, one.who) for one in store.log()]
    assert log == [
        ("accept", "693", 0.9, 1, "ana"),
        ("reject", "20", 0.8, 2, "ana"),
        ("add", "161", None, None, "ana"),
        ("remove", "693", None, None, "ben"),
        ("accept", "20", 0.5, 5, "ben"),
    ]
    assert {one.fingerprint for one in store.log()} == {"f1e2d3"}


def test_who_saw_an_older_version_overwrites_nothing_and_learns_what_changed(store: Store) -> None:
    store.decide("32001R0012", [change("accept", "693", 1)], version=0, who="ana")
    with pytest.raises(ConflictError, match="ana changed 32001R0012") as refused:
        store.decide("32001R0012", [change("reject", "693", 1)], version=0, who="ben")
    assert [(one.what, one.concept, one.who) for one in refused.value.since] == [
        ("accept", "693", "ana")
    ]
    assert refused.value.reading.version == 1
    assert len(list(store.log())) == 1


def test_a_write_that_is_sent_again_is_written_once(store: Store) -> None:
    for _ in range(2):
        found = store.decide(
            "32001R0012", [change("accept", "693", 1)], version=0, who="ana", key="one"
        )
        assert found.version == 1
    assert len(list(store.log())) == 1


def test_an_act_is_new_then_open_then_done_and_decided_again_only_when_reopened(
    store: Store,
) -> None:
    assert store.reading("32001R0012").state == "new"
    assert store.decide("32001R0012", [change("open")], version=0, who="ana").state == "open"
    assert store.decide("32001R0012", [change("done")], version=1, who="ana").state == "done"
    with pytest.raises(RefusedError, match="reopen it first"):
        store.decide("32001R0012", [change("accept", "693", 1)], version=2, who="ana")
    again = [change("reopen"), change("accept", "693", 1)]
    assert store.decide("32001R0012", again, version=2, who="ana").state == "open"


def test_all_of_a_write_is_kept_or_nothing(store: Store) -> None:
    with pytest.raises(RefusedError, match="'done' does not name a concept"):
        store.decide(
            "32001R0012",
            [change("accept", "693", 1), change("done", "20")],
            version=0,
            who="ana",
        )
    assert store.reading("32001R0012").version == 0
    assert not list(store.log())


def test_the_log_only_grows_whoever_asks(store: Store) -> None:
    store.decide("32001R0012", [change("accept", "693", 1)], version=0, who="ana")
    for statement in ("UPDATE decisions SET who = 'eve'", "DELETE FROM decisions"):
        with pytest.raises(StoreError, match="only grows"), store.database.writing():
            store.database.run(statement)
    assert [one.who for one in store.log()] == ["ana"]


def test_an_act_gets_another_id_and_title_and_the_log_says_who_gave_them(store: Store) -> None:
    store.decide("32001R0012", [change("accept", "693", 1), change("done")], version=0, who="ana")
    store.suggest("32001R0012", [], model="svm", fingerprint="f1e2d3", suggested=0)
    named = Change("rename", new_id="32002R0044", new_title="Regulation on lemons")
    found = store.decide("32001R0012", [named], version=1, who="ben")
    assert (found.act, found.title, found.version) == ("32002R0044", "Regulation on lemons", 2)
    assert (found.state, found.who) == ("done", "ana")  # a new name is no reading
    assert store.act("32002R0044").document.title == "Regulation on lemons"
    assert [one.concept for one in store.reading("32002R0044").chosen] == ["693"]
    assert store.suggestions("32002R0044", "f1e2d3") == []
    assert {one.act for one in store.log()} == {"32002R0044"}
    last = list(store.log())[-1]
    assert (last.what, last.new_id, last.new_title, last.who) == (
        "rename",
        "32002R0044",
        "Regulation on lemons",
        "ben",
    )
    with pytest.raises(UnlistedActError, match="no act '32001R0012'"):
        store.reading("32001R0012")
    assert store.reading(found.uuid).act == "32002R0044"


def test_an_id_that_another_act_has_is_refused_and_one_that_was_given_up_is_free(
    store: Store,
) -> None:
    with pytest.raises(TakenError, match="another act has the id '32019R0532'"):
        store.decide("32001R0012", [Change("rename", new_id="32019R0532")], version=0, who="ana")
    assert store.reading("32001R0012").version == 0
    store.decide("32019R0532", [Change("rename", new_id="32019R0533")], version=0, who="ana")
    found = store.decide(
        "32001R0012", [Change("rename", new_id="32019R0532")], version=0, who="ana"
    )
    assert (found.act, found.title) == ("32019R0532", act("32001R0012").title)


def test_undo_knows_the_last_step_of_a_person_until_somebody_decides_about_it(
    store: Store,
) -> None:
    id = "32001R0012"
    store.decide(id, [change("accept", "693", 1)], version=0, who="ana")
    store.decide(id, [change("reject", "693", 1), change("add", "20")], version=1, who="ana")
    store.decide(id, [change("add", "161")], version=2, who="ben")

    def step(who: str) -> list[tuple[str | None, str, str | None]]:
        found = last_step(store.written(id), who)
        return [(one.concept, one.what, before and before.what) for one, before in found]

    assert step("ana") == [("693", "reject", "accept"), ("20", "add", None)]
    assert step("ben") == [("161", "add", None)]
    assert step("eve") == []
    store.decide(id, [change("remove", "20")], version=3, who="ben")
    assert step("ana") == []


def test_examples_of_a_concept_are_acts_for_which_it_holds(store: Store) -> None:
    first, second, third = (one.document.id for one in store.acts())
    store.decide(first, [change("accept", "693", 1)], version=0, who="ana")
    store.decide(second, [change("add", "693")], version=0, who="ana")
    store.decide(third, [change("accept", "693", 1)], version=0, who="ana")
    store.decide(third, [change("reject", "693", 1)], version=1, who="ana")
    title = act(first).title
    assert examples(store.database, "693") == [(second, title), (first, title)]
    assert examples(store.database, "693", besides=second) == [(first, title)]
    assert examples(store.database, "693", most=1) == [(second, title)]
    assert examples(store.database, "20") == []
    store.decide(second, [change("withdraw")], version=1, who="ana")
    assert examples(store.database, "693") == [(first, title)]


def test_the_second_reader_is_somebody_else_and_reads_what_is_done(store: Store) -> None:
    with pytest.raises(RefusedError, match="not done"):
        store.decide("32001R0012", [change("accept", "693", 1)], version=0, who="ben", reading=2)
    store.decide("32001R0012", [change("add", "20"), change("done")], version=0, who="ana")
    with pytest.raises(RefusedError, match="somebody else"):
        store.decide("32001R0012", [change("accept", "693", 1)], version=0, who="ana", reading=2)
    second = store.decide(
        "32001R0012", [change("accept", "693", 1)], version=0, who="ben", reading=2
    )
    assert [one.concept for one in second.chosen] == ["693"]
    assert [one.concept for one in store.reading("32001R0012").chosen] == ["20"]
    with pytest.raises(RefusedError, match="ben is the second reader"):
        store.decide("32001R0012", [change("accept", "693", 1)], version=1, who="eve", reading=2)


def test_the_worklist_is_filtered_searched_and_sorted(store: Store) -> None:
    store.decide("32019R0532", [change("accept", "693", 1)], version=0, who="ana")
    store.decide("32020D0001", [change("open")], version=0, who="ben")
    store.suggest("32019R0532", [], model="svm", fingerprint="f1e2d3", suggested=4)

    def ids(**options: object) -> list[str]:
        found = page(store.database, Wanted(**options), fingerprint="f1e2d3")  # type: ignore[arg-type]
        assert found.total == len(found.entries)
        return [one.id for one in found.entries]

    assert ids() == ["32001R0012", "32019R0532", "32020D0001"]
    assert ids(state="new") == ["32001R0012"]
    assert ids(who="ben") == ["32020D0001"]
    assert ids(words="2019 REGULATION") == ["32019R0532"]
    assert ids(words="100%_") == []
    assert ids(sort="chosen", descending=True)[0] == "32019R0532"
    assert ids(sort="suggested", descending=True)[0] == "32019R0532"
    found = page(store.database, Wanted(), fingerprint="f1e2d3", limit=1, offset=1)
    (one,) = found.entries
    assert (one.id, one.suggested, one.chosen, one.who) == ("32019R0532", 4, 1, "ana")
    assert found.total == 3
    assert found.states == {"new": 1, "open": 2, "done": 0, "withdrawn": 0}
    assert found.people == ["ana", "ben"]


def test_the_next_act_is_one_that_nobody_else_has_begun(store: Store) -> None:
    store.decide("32019R0532", [change("open")], version=0, who="ben")
    assert next_act(store.database, "ana", after="32001R0012") == "32020D0001"
    assert next_act(store.database, "ben", after="32001R0012") == "32019R0532"
    assert next_act(store.database, "ana", after="32020D0001") == "32001R0012"
    for id, version in (("32001R0012", 0), ("32020D0001", 0)):
        store.decide(id, [change("done")], version=version, who="ana")
    assert next_act(store.database, "ana") is None


def test_of_writers_at_one_moment_one_wins_and_the_others_learn_of_it(store: Store) -> None:
    outcomes: list[str] = []
    begin = threading.Barrier(4)

    def write(name: str) -> None:
        own = Store(Database(store.database.where))  # as another process has it
        begin.wait()
        try:
            own.decide("32001R0012", [change("accept", "693", 1)], version=0, who=name)
            outcomes.append("written")
        except ConflictError as refused:
            outcomes.extend(one.concept or "" for one in refused.since)
        own.database.close()

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["693", "693", "693", "written"]
    assert len(list(store.log())) == 1


def test_a_store_is_found_as_it_was_left(where: str) -> None:
    store = store_with(where, ["32001R0012"])
    store.decide("32001R0012", [change("accept", "693", 1)], version=0, who="ana")
    store.stop("20", "ana")
    store.database.close()
    again = Store(Database(where))
    assert [one.concept for one in again.reading("32001R0012").chosen] == ["693"]
    assert again.stopped() == ["20"]
    again.allow("20")
    assert again.stopped() == []
    again.database.close()


def test_sqlite_writes_ahead_and_waits_for_the_disk(tmp_path: Path) -> None:
    store = store_with(tmp_path / "desk.sqlite", [])
    with store.database.reading():
        assert store.database.run("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store.database.run("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize("content", [b"a text of some length, and no store" * 30, b"\0" * 4096])
def test_what_is_no_store_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "desk.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="no store of SQLite"):
        Database(str(path))


def test_a_store_of_format_1_which_named_acts_by_their_ids_is_brought_up_to_date(
    where: str,
) -> None:
    store = store_with(where, ["32001R0012"])
    store.decide("32001R0012", [change("accept", "693", 1)], version=0, who="ana")
    with store.database.writing():
        for statement in (
            *LET_CHANGE[store.database.dialect],
            "DROP INDEX decisions_of_concept",
            "ALTER TABLE decisions DROP COLUMN new_id",
            "ALTER TABLE decisions DROP COLUMN new_title",
            "UPDATE readings SET act = '32001R0012'",
            "UPDATE decisions SET act = '32001R0012'",
            *APPEND_ONLY[store.database.dialect],
            "UPDATE facts SET value = '1' WHERE name = 'format'",
        ):
            store.database.run(statement)
    store.database.close()
    again = Store(Database(where))
    assert [one.concept for one in again.reading("32001R0012").chosen] == ["693"]
    again.decide("32001R0012", [Change("rename", new_id="32002R0044")], version=1, who="ana")
    with pytest.raises(StoreError, match="only grows"), again.database.writing():
        again.database.run("DELETE FROM decisions")
    again.database.close()


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "desk.sqlite"
    Database(str(path)).close()
    with sqlite3.connect(path) as other:
        other.execute("UPDATE facts SET value = '99' WHERE name = 'format'")
    with pytest.raises(StoreError, match="format 99"):
        Database(str(path))


def test_a_server_that_is_not_there_is_said_without_its_password() -> None:
    pytest.importorskip("psycopg", reason="needs psycopg (extra postgres)")
    with pytest.raises(StoreError, match="the PostgreSQL store") as refused:
        Database("postgresql://desk:secret@127.0.0.1:1/desk")
    assert "secret" not in str(refused.value)
