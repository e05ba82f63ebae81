"""The page of a service with a store: a worklist, done and next, and two people at one act."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from page_cases import drop_all, free_port, line, serving
from serving_cases import wait_until

from labelwise.corpus.dataset import Dataset
from labelwise.desk.database import Database
from labelwise.desk.people import People
from labelwise.desk.store import Store

pytestmark = pytest.mark.xdist_group("page")


class Department:
    """A desk with three acts, an indexer and a reviewer."""

    def __init__(self, folder: Path, data: Dataset) -> None:
        self.where = str(folder / "desk.sqlite")
        database = Database(self.where)
        self.store = Store(database)
        self.ids = [one.id for one in data.test[:3]]
        self.store.add([(one, 100) for one in data.test[:3]], source="acts.zip", who="Ana")
        people = People(database)
        self.tokens = {"Ana": people.add("Ana", "indexer"), "Ben": people.add("Ben", "reviewer")}
        self.address = f"http://127.0.0.1:{free_port()}"

    def decide(self, act: str, version: int, *decisions: Any) -> None:
        """As a colleague does it elsewhere."""
        body = {"version": version, "decisions": list(decisions)}
        answer = httpx.post(
            f"{self.address}/v1/desk/acts/{act}/decisions",
            json=body,
            headers={"Authorization": f"Bearer {self.tokens['Ben']}"},
        )
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def department(
    browser: Any, folders: dict[str, Path], synthetic: Dataset, tmp_path_factory: Any
) -> Iterator[Department]:
    made = Department(tmp_path_factory.mktemp("desk"), synthetic)
    port = int(made.address.rpartition(":")[2])
    with serving(f"svm={folders['svm']}", "--store", made.where, port=port):
        wait_until(lambda: made.store.unread(_fingerprint(made)) is None)  # tagged in advance
        yield made


def sign_in(page: Any, token: str) -> None:
    page.wait_for_selector("#signin-dialog[open]")
    page.fill("#token", token)
    page.click("#signin-form button")
    page.wait_for_selector("#acts tr, .line")


def test_acts_are_done_one_after_another_by_keys_and_two_people_never_overwrite_each_other(
    open_page: Any, department: Department, synthetic: Dataset
) -> None:
    first, second, third = department.ids
    page = open_page(department.address, waits="#signin-dialog[open]", expected=("401", "409"))
    page.fill("#token", "wrong")
    page.click("#signin-form button")
    page.wait_for_selector("#signin-problem:not(:empty)")
    sign_in(page, department.tokens["Ana"])
    page.click(f"#acts tr[data-id='{first}'] a")
    page.wait_for_selector(".line")
    assert page.url.endswith(f"#/act/{first}")
    page.wait_for_selector("#facts:has-text('open · Ana')")

    # Ben decides about two concepts that Ana sees undecided.
    here = department.store.suggestions(first, _fingerprint(department))
    assert here is not None
    ids = [one["id"] for one in here]
    version = department.store.reading(first).version
    department.decide(
        first,
        version,
        {"what": "reject", "concept": ids[0]},
        {"what": "accept", "concept": ids[2]},
    )
    line(page, 1).locator(".accept").click()
    page.wait_for_selector("#conflict-dialog[open]")
    assert "Ben rejected it while you accepted it" in page.text_content("#conflict-what")
    page.click("#conflict-mine")
    page.wait_for_selector(f"#chosen [data-id='{ids[2]}']")
    page.wait_for_selector(f"#chosen [data-id='{ids[0]}']")
    _until(page, lambda: _chosen(department, first) == {ids[0], ids[2]})

    page.locator("#list").focus()
    page.keyboard.press("f")
    page.wait_for_url(f"**/#/act/{second}")
    page.wait_for_selector(".line")
    _until(page, lambda: department.store.reading(first).state == "done")
    page.keyboard.press("w")
    page.wait_for_selector(f"#acts tr[data-id='{first}'] [data-state='done']")
    page.click("#acts-states [data-state=done]")
    page.wait_for_selector(f"#acts tr[data-id='{second}']", state="detached")
    assert page.locator("#acts tr").count() == 1

    # What was decided is there after a reload, at an address that a colleague can open.
    page.goto(f"{department.address}/#/act/{first}")
    page.reload()
    page.wait_for_selector(f"#chosen [data-id='{ids[2]}']")
    assert page.text_content("#done") == "Reopen"

    # So is the last step, for undo: Ben's decision holds again.
    page.locator("#list").focus()
    page.keyboard.press("u")
    _until(page, lambda: _chosen(department, first) == {ids[2]})

    # The concept has another act as an example.
    version = department.store.reading(second).version
    department.decide(second, version, {"what": "accept", "concept": ids[2]})
    page.locator(f".line[data-id='{ids[2]}'] .light").focus()
    page.keyboard.press("i")
    page.wait_for_selector(f"#card a[href='#/act/{second}']")
    page.keyboard.press("Escape")

    # What is added by its name has its score in the log.
    label = synthetic.label_space.labels[-1]
    page.fill("#search", label.id)
    page.wait_for_selector("#found [role=option]")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#chosen [data-id='{label.id}']")
    _until(page, lambda: label.id in _chosen(department, first))
    page.wait_for_selector(f"#chosen [data-id='{label.id}']:not(:has-text('no score'))")
    last = department.store.reading(first).chosen[-1]
    assert last.score is not None

    # It gets another title and id; the id of another act is refused.
    _rename(page, second, "Regulation on lemons")
    page.wait_for_selector("#notice:has-text('another act has the id')")
    page.wait_for_selector("#title:has-text('Regulation on lemons')")
    _until(page, lambda: department.store.act(first).document.title == "Regulation on lemons")
    _rename(page, "32019R0532", "Regulation on lemons")
    page.wait_for_url("**/#/act/32019R0532")
    assert department.store.reading("32019R0532").title == "Regulation on lemons"

    # Files that are dropped come on the worklist, each once.
    page.goto(f"{department.address}/#/worklist")
    files = {f"{one.id}.txt": one.text.encode() for one in synthetic.dev[:2]}
    drop_all(page, files)
    page.wait_for_selector("#notice:has-text('2 acts added')")
    assert third in department.ids


def test_a_worklist_is_for_everybody_and_a_reviewer_stops_what_is_suggested_too_often(
    open_page: Any, department: Department
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    done = department.ids[2]
    department.decide(done, department.store.reading(done).version, {"what": "done"})
    for width, scheme in ((1360, "light"), (390, "dark")):
        page = open_page(
            department.address,
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            waits="#signin-dialog[open]",
        )
        sign_in(page, department.tokens["Ben"])
        for view in ("worklist", "agreement"):
            page.goto(f"{department.address}/#/{view}")
            page.wait_for_selector("#acts tr" if view == "worklist" else "#agreement .tile")
            found = axe.Axe().run(page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stop = page.locator("#agreement [aria-label^='Stop suggesting']").first
    name = stop.get_attribute("aria-label").removeprefix("Stop suggesting ")
    stop.click()
    page.wait_for_selector(f"#agreement [aria-label='Suggest again {name}']")
    (stopped,) = department.store.stopped()
    page.goto(f"{department.address}/#/act/{department.ids[1]}")
    page.wait_for_selector(".line")
    page.wait_for_selector("#progress", state="hidden")
    assert page.locator(f".line[data-id='{stopped}']").count() == 0


def _fingerprint(department: Department) -> str:
    models = httpx.get(f"{department.address}/v1/models").json()["models"]
    return str(models[0]["fingerprint"])


def _chosen(department: Department, act: str) -> set[str | None]:
    return {one.concept for one in department.store.reading(act).chosen}


def _rename(page: Any, id: str, title: str) -> None:
    page.click("#edit")
    page.fill("#edit-id", id)
    page.fill("#edit-title", title)
    page.click("#edit-save")


def _until(page: Any, holds: Any) -> None:
    for _ in range(300):
        if holds():
            return
        page.wait_for_timeout(50)
    pytest.fail("waited in vain")
