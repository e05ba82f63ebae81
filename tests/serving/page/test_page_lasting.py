"""Decisions are never lost or wrong: many documents, two tabs, undo, other models, fast typing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from page_cases import drop, drop_all, line, names, tag

from labelwise.corpus.dataset import Dataset

pytestmark = pytest.mark.xdist_group("page")

FILES = Path(__file__).parents[2] / "corpus" / "files"
CHOSEN = "#chosen li[data-id] .descriptor"


def chosen(page: Any) -> list[str]:
    return names(page, CHOSEN)


def exported(page: Any) -> dict[str, Any]:
    """What the export dialog shows."""
    page.click("#export")
    found = json.loads(page.text_content("#preview"))
    page.keyboard.press("Escape")
    return found


KEEP = """async ([total, exported]) => {
    const keep = await import("/page/keep.js");
    for (let n = 0; n < total; n += 1) {
        const sections = [{ kind: "article", text: `Oranges ${n}` }];
        const shared = { decisions: {}, undo: [], decided: 5, exported: n < exported ? 9 : 0 };
        await keep.keepText({ id: `${n}`, title: "Oranges", version: 0, sections, ...shared });
        await new Promise((done) => setTimeout(done, 2));  // each is later than the one before
    }
    return (await keep.kept()).map((one) => Number(one.id)).sort((a, b) => a - b);
}"""


def test_no_document_makes_room_before_it_was_exported(page: Any) -> None:
    assert page.evaluate(KEEP, [30, 0]) == list(range(30))


def test_beyond_twenty_the_oldest_that_were_exported_make_room(page: Any) -> None:
    assert page.evaluate(KEEP, [30, 5]) == list(range(5, 30))


def test_documents_that_an_earlier_version_kept_are_there_with_their_decisions(
    open_page: Any, service: str
) -> None:
    page = open_page(f"{service}/page/icon.svg", waits="svg", expected=("404",))  # no favicon.ico
    page.evaluate(
        """() => new Promise((done) => {
            const request = indexedDB.open("labelwise-desk", 1);
            request.onupgradeneeded = () => {
                const decisions = { 1: { id: "1", descriptor: "oranges", state: "accepted" } };
                const work = { id: "7-7", title: "Old", words: 2, saved: 9, decisions };
                for (const name of ["works", "texts"]) {
                    const store = request.result.createObjectStore(name, { keyPath: "id" });
                    store.put({ ...work, sections: [{ kind: "article", text: "Oranges." }] });
                }
            };
            request.onsuccess = () => done(request.result.close());
        })"""
    )
    page.goto(service)
    page.wait_for_selector("#kept li")
    assert "1 concept chosen" in page.text_content("#kept")
    assert "not exported" in page.text_content("#kept")


def test_two_tabs_add_to_each_others_decisions(page: Any, act_text: str) -> None:
    tag(page, act_text)
    first, second, third = names(page)[:3]
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".line")
    line(page, 1).locator(".accept").click()
    line(other, 2).locator(".accept").click()
    other.wait_for_selector(f"[aria-label='Remove {first}']")
    page.wait_for_selector(f"[aria-label='Remove {second}']")
    line(page, 3).locator(".accept").click()
    other.wait_for_selector(f"[aria-label='Remove {third}']")
    page.reload()
    page.wait_for_selector(".line")
    assert sorted(chosen(page)) == sorted([first, second, third])


def test_tabs_that_do_not_hear_each_other_overwrite_nothing(open_page: Any, act_text: str) -> None:
    page = open_page(script="delete window.BroadcastChannel;")
    tag(page, act_text)
    first, second = names(page)[:2]
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".line")
    line(page, 1).locator(".accept").click()
    page.reload()  # it is written
    page.wait_for_selector(f"[aria-label='Remove {first}']")
    line(other, 2).locator(".accept").click()
    other.wait_for_selector(f"[aria-label='Remove {first}']")
    other.reload()
    other.wait_for_selector(".line")
    assert sorted(chosen(other)) == sorted([first, second])


def test_a_decision_lasts_where_the_page_is_left_before_it_is_stored(
    open_page: Any, act_text: str
) -> None:
    page = open_page()
    tag(page, act_text)
    first, second = names(page)[:2]
    line(page, 1).locator(".accept").click()
    page.reload()
    page.wait_for_selector(f"[aria-label='Remove {first}']")
    page.evaluate("() => { IDBDatabase.prototype.transaction = () => { throw Error('full') } }")
    line(page, 2).locator(".accept").click()
    line(page, 3).locator(".accept").click()
    page.click("#undo")
    page.locator(f"[aria-label='Remove {first}']").click()
    page.reload()
    page.wait_for_selector(f"[aria-label='Remove {second}']")
    assert chosen(page) == [second]
    page.click("#undo")
    assert chosen(page) == [first, second]
    page.reload()  # what was left behind is taken up once
    page.wait_for_selector(f"[aria-label='Remove {first}']")
    assert chosen(page) == [first, second]


def test_the_lists_and_settings_of_two_tabs_do_not_overwrite_each_other(
    page: Any, act_text: str
) -> None:
    tag(page, act_text)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".line")
    line(page).locator(".never").click()
    page.wait_for_selector("#progress", state="hidden")
    other.click("#theme")
    page.reload()
    page.wait_for_selector(".line")
    page.click("#lists")
    assert page.input_value("#exclude") != ""
    assert page.text_content("#theme") == "Theme: light"


def test_undo_after_never_suggest_takes_that_back_and_no_acceptance(
    page: Any, act_text: str
) -> None:
    tag(page, act_text)
    first, second = names(page)[:2]
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".never").click()
    page.wait_for_selector(f".line [aria-label='Accept {second}']", state="detached")
    assert page.get_attribute("#undo", "title") == f"Undo: {second} never suggested"
    page.click("#undo")
    page.wait_for_selector(f".line [aria-label='Accept {second}']")
    assert chosen(page) == [first]
    assert names(page)[:2] == [first, second]


def test_undo_survives_a_reload(page: Any, act_text: str) -> None:
    tag(page, act_text)
    first = names(page)[0]
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".accept").click()
    page.reload()
    page.wait_for_selector(".line")
    page.click("#undo")
    assert chosen(page) == [first]
    page.click("#undo")
    assert chosen(page) == []
    assert page.is_disabled("#undo")


def test_a_file_that_is_opened_again_has_its_decisions(page: Any) -> None:
    data = (FILES / "oj_2006.html").read_bytes()
    drop(page, "oj_2006.html", data)
    page.wait_for_selector(".line")
    first = names(page)[0]
    line(page).locator(".accept").click()
    page.click("#new")
    page.wait_for_selector("#kept li")
    drop(page, "copy of oj_2006.html", data)
    page.wait_for_selector(".line")
    assert chosen(page) == [first]
    page.click("#new")
    page.wait_for_selector("#kept li")
    assert page.locator("#kept li").count() == 1


def test_what_was_accepted_keeps_the_score_and_the_model_of_that_moment(
    page: Any, act_text: str
) -> None:
    tag(page, act_text)
    line(page).locator(".accept").click()
    before = exported(page)["concepts"]
    page.select_option("#model", "exact-match")
    page.wait_for_selector("#progress", state="hidden")
    page.wait_for_selector(".line")
    assert exported(page)["concepts"] == before
    assert before[0]["model"] == "svm"


def test_a_suggestion_that_was_found_by_search_was_suggested(page: Any, act_text: str) -> None:
    tag(page, act_text)
    second = names(page)[1]
    page.fill("#search", second)
    page.wait_for_selector("#found [role=option]")
    page.keyboard.press("Enter")
    (concept,) = exported(page)["concepts"]
    assert (concept["descriptor"], concept["decision"], concept["rank"]) == (second, "accepted", 2)


def test_enter_takes_what_was_typed_and_not_what_was_found_before(
    page: Any, service: str, act_text: str
) -> None:
    tag(page, act_text)
    (label,) = httpx.get(f"{service}/v1/labels?limit=1&offset=40").json()["labels"]
    wanted = label["descriptor"]
    found = httpx.get(f"{service}/v1/labels", params={"q": wanted}).json()["labels"]
    best = found[0]["descriptor"]
    page.fill("#search", "f")
    page.wait_for_selector("#found [role=option]")
    page.fill("#search", wanted)
    page.keyboard.press("Enter")  # before the answer to these words is here
    page.wait_for_selector(CHOSEN)
    assert chosen(page) == [best]


def test_the_act_of_a_file_has_its_celex_number_and_its_address(page: Any) -> None:
    drop(page, "L_2019_EN_32019R0532.txt", (FILES / "act_1967.txt").read_bytes())
    page.wait_for_selector(".line")
    document = exported(page)["document"]
    assert document["id"] == "32019R0532"
    assert document["uri"] == "http://publications.europa.eu/resource/celex/32019R0532"


def test_a_text_without_a_number_has_a_name_that_is_no_address(page: Any, act_text: str) -> None:
    tag(page, act_text)
    uri = exported(page)["document"]["uri"]
    assert uri.startswith("urn:uuid:")
    assert uri.removeprefix("urn:uuid:") == page.url.partition("#")[2]


def test_title_and_id_can_be_changed_and_stay(page: Any, act_text: str) -> None:
    tag(page, act_text)
    page.click("#edit")
    page.fill("#edit-title", "Regulation on oranges")
    page.fill("#edit-id", "32019R0532")
    assert "celex/32019R0532" in page.text_content("#edit-address")
    page.click("#edit-save")
    assert page.text_content("#title") == "Regulation on oranges"
    page.reload()
    page.wait_for_selector(".line")
    assert page.text_content("#title") == "Regulation on oranges"
    document = exported(page)["document"]
    assert (document["id"], document["title"]) == ("32019R0532", "Regulation on oranges")


def test_several_dropped_files_are_all_taken_and_what_cannot_be_read_is_said(
    open_page: Any,
) -> None:
    page = open_page(expected=("422",))
    good = ["act_1967.txt", "oj_2006.html", "formex_act.xml"]
    files = {name: (FILES / name).read_bytes() for name in good}
    drop_all(page, {"broken.json": b'{"celex_id": 1', **files})
    page.wait_for_selector(".line")
    page.wait_for_selector("#banner:not([hidden])")
    assert "broken.json" in page.text_content("#trouble")
    assert page.inner_text("#notice").startswith("3 documents taken. The first is open;")
    page.click("#new")
    assert page.is_hidden("#notice")
    page.wait_for_selector("#kept li:nth-child(3)")
    assert page.locator("#kept li").count() == 3


def test_all_documents_of_a_file_can_be_taken(page: Any, synthetic: Dataset) -> None:
    lines = synthetic.paths["test"].read_text("utf-8").splitlines()[:3]
    drop(page, "acts.jsonl", "\n".join(lines).encode())
    page.wait_for_selector("#many-dialog[open]")
    page.click("#many-all")
    page.wait_for_selector(".line")
    assert page.text_content("#title") == json.loads(lines[0])["title"].strip()
    page.click("#new")
    page.wait_for_selector("#kept li:nth-child(3)")


def test_words_are_counted_one_way(page: Any, service: str) -> None:
    data = (FILES / "oj_2006.html").read_bytes()
    (document,) = httpx.post(f"{service}/v1/parse", files={"file": data}).json()["documents"]
    asked = {"sections": document["sections"]}
    tagged = httpx.post(f"{service}/v1/tag", json=asked).json()
    assert document["words"] == tagged["words"]
    drop(page, "oj_2006.html", data)
    page.wait_for_selector(".line")
    shown = f"{tagged['words']:,} words"
    assert shown in page.text_content("#facts")
    assert exported(page)["document"]["words"] == tagged["words"]
    page.click("#new")
    page.wait_for_selector("#kept li")
    assert shown in page.text_content("#kept")
