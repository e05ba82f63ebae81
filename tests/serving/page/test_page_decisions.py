"""Accept, reject, add, threshold, lists, export; and all of it is there after a reload."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from page_cases import line, names, tag
from serving_cases import wait_until

pytestmark = pytest.mark.xdist_group("page")

ABOVE = "[aria-label='Above the threshold'] .descriptor"
NOT_IN_MODEL = "statistical survey of electricity"
"""A concept of the synthetic thesaurus that no synthetic act of the tests carries."""


def chosen(page: Any) -> list[str]:
    return names(page, "#chosen li[data-id] .descriptor")


def state(page: Any, place: int) -> str | None:
    return line(page, place).get_attribute("data-state")


def add(page: Any, words: str) -> None:
    page.fill("#search", words)
    page.wait_for_selector("#found [role=option]")
    page.keyboard.press("Enter")


def downloaded(page: Any, kind: str, folder: Path) -> tuple[str, str]:
    """The name and the content of the exported file."""
    if not page.is_visible("#export-dialog"):
        page.click("#export")
    page.check(f"input[name=format][value={kind}]")
    with page.expect_download() as waiting:
        page.click("#download")
    path = folder / f"exported.{kind}"
    waiting.value.save_as(path)
    return waiting.value.suggested_filename, path.read_bytes().decode("utf-8")


def test_suggestions_are_accepted_rejected_and_taken_back(page: Any, act_text: str) -> None:
    tag(page, act_text)
    first, second = names(page)[:2]
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".reject").click()
    assert (state(page, 1), state(page, 2)) == ("accepted", "rejected")
    assert chosen(page) == [first]
    line(page, 2).locator(".accept").click()
    assert chosen(page) == [first, second]
    line(page, 1).locator(".accept").click()
    assert chosen(page) == [second]
    page.click("#undo")
    assert sorted(chosen(page)) == sorted([first, second])
    page.click(f"[aria-label='Remove {second}']")
    assert chosen(page) == [first]


def test_all_above_the_threshold_are_accepted_at_once_but_not_what_was_rejected(
    page: Any, act_text: str
) -> None:
    tag(page, act_text)
    above = names(page, ABOVE)
    line(page, 1).locator(".reject").click()
    page.click("#all")
    assert chosen(page) == above[1:]
    assert page.is_disabled("#all")


def test_a_label_of_the_model_is_added_with_its_score(
    page: Any, service: str, act_text: str
) -> None:
    tag(page, act_text)
    shown = set(names(page))
    labels = httpx.get(f"{service}/v1/labels?group=few&limit=300").json()["labels"]
    asked = {"text": act_text, "top": 300}
    scores = httpx.post(f"{service}/v1/tag", json=asked).json()["predictions"]
    last = next(one for one in reversed(scores) if one["group"] == "few")
    assert last["descriptor"] not in shown
    assert last["id"] in {one["id"] for one in labels}
    add(page, last["descriptor"])
    page.wait_for_selector(f"#chosen [data-id='{last['id']}'] .hint:text('0.')")
    assert chosen(page) == [last["descriptor"]]
    assert f"{last['score']:.2f}" in page.text_content("#chosen .hint")


def test_a_concept_that_the_model_never_saw_is_scored_and_explained_by_the_zero_shot_network(
    page: Any, service: str, act_text: str
) -> None:
    tag(page, act_text)
    page.fill("#search", NOT_IN_MODEL)
    page.wait_for_selector("#found [role=option]")
    assert "not in model" in page.text_content("#found [role=option]")
    page.click("#found [role=option]")
    page.wait_for_selector("#chosen .hint:text('by z-cnn-lwan')")
    concept = httpx.get(f"{service}/v1/labels?q={NOT_IN_MODEL}").json()["labels"][0]
    unseen = {"id": concept["id"], "descriptor": concept["descriptor"]}
    asked = {"text": act_text, "concepts": [unseen]}
    score = httpx.post(f"{service}/v1/score", json=asked).json()["scores"][0]["score"]
    assert f"{score:.2f} by z-cnn-lwan" in page.text_content("#chosen .hint")
    page.click("#chosen .light")
    page.wait_for_selector("mark")
    assert "Attention" in page.text_content("#kinds")


def test_without_a_zero_shot_network_it_is_added_without_a_score(
    open_page: Any, fitted: Any, synthetic: Any, act_text: str
) -> None:
    from serving_cases import served

    from labelwise.serving.models import Servable

    thesaurus = synthetic.paths["train"].parent / "thesaurus.ttl"
    with served([Servable("svm", method=fitted["svm"])], thesaurus=thesaurus) as client:
        page = open_page(str(client.base_url))
        tag(page, act_text)
        add(page, NOT_IN_MODEL)
        assert "no score" in page.text_content("#chosen")
        page.click("#chosen .light")
        assert "no model here knows" in page.text_content("#trouble").lower()
        page.close()


def test_search_finds_nothing_says_so_and_escape_leaves(page: Any, act_text: str) -> None:
    tag(page, act_text)
    page.fill("#search", "zzyzx")
    page.wait_for_selector("#found .empty")
    page.keyboard.press("Escape")
    assert page.is_hidden("#found")
    assert page.input_value("#search") == ""


def test_the_threshold_cuts_the_list_at_once_and_the_models_own_comes_back(
    page: Any, act_text: str
) -> None:
    tag(page, act_text)
    own = names(page, ABOVE)
    page.focus("#threshold")
    page.keyboard.press("End")
    assert names(page, ABOVE) == own[:1]
    page.keyboard.press("ArrowLeft")
    assert names(page, ABOVE) == own[:2], "a step of the slider is a step of the scores"
    page.keyboard.press("Home")
    assert len(names(page, ABOVE)) > len(own)
    page.click("#own")
    assert names(page, ABOVE) == own


def test_lists_hold_for_what_is_suggested(page: Any, act_text: str) -> None:
    tag(page, act_text)
    before = names(page)
    ids = [one.get_attribute("data-id") for one in page.locator(".line").all()[:3]]
    line(page).locator(".never").click()
    page.wait_for_selector(f".line[data-id='{ids[0]}']", state="detached")
    assert names(page)[0] == before[1]
    page.click("#lists")
    assert page.input_value("#exclude") == f"{ids[0]} {before[0]}"
    page.fill("#exclude", "")
    page.fill("#include", f"{ids[1]}, {ids[2]}\nmissing and unknown")
    page.click("#lists-save")
    page.wait_for_selector(f".line[data-id='{ids[0]}']", state="detached")
    page.wait_for_selector("#notes:has-text('not in the model')")
    assert names(page) == before[1:3]


def test_lists_that_leave_nothing_are_explained(open_page: Any, act_text: str) -> None:
    page = open_page(expected=("422",))
    tag(page, act_text)
    page.click("#lists")
    page.set_input_files(
        "#include-file", {"name": "ids.txt", "mimeType": "text/plain", "buffer": b"none\r\nsuch"}
    )
    page.click("#lists-save")
    page.wait_for_selector("#banner:not([hidden])")
    assert "leave no label" in page.text_content("#trouble")
    assert names(page), "what was there stays"


def test_another_model_is_another_list_and_decisions_stay(page: Any, act_text: str) -> None:
    tag(page, act_text)
    first = names(page)[0]
    line(page).locator(".accept").click()
    page.select_option("#model", "exact-match")
    page.wait_for_selector("#progress", state="hidden")
    page.wait_for_selector(".line")
    assert chosen(page) == [first]


def test_json_holds_what_was_decided(page: Any, act_text: str, tmp_path: Path) -> None:
    tag(page, act_text)
    first, second = names(page)[:2]
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".reject").click()
    add(page, NOT_IN_MODEL)
    page.wait_for_selector("#chosen .hint:text('by z-cnn-lwan')")
    name, text = downloaded(page, "json", tmp_path)
    assert name.endswith(".json")
    found = json.loads(text)
    assert found["model"] == "svm"
    assert found["document"]["title"] == page.text_content("#title")
    accepted, added = found["concepts"]
    assert (accepted["descriptor"], accepted["decision"], accepted["rank"]) == (
        first,
        "accepted",
        1,
    )
    assert (added["descriptor"], added["decision"]) == (NOT_IN_MODEL, "added")
    assert (added["model"], added["group"]) == ("z-cnn-lwan", None)
    assert [one["descriptor"] for one in found["rejected"]] == [second]
    assert accepted["place"].endswith(f" › {first}")


def test_csv_and_turtle_are_read_by_others(page: Any, act_text: str, tmp_path: Path) -> None:
    rdflib = pytest.importorskip("rdflib")
    tag(page, act_text)
    page.click("#all")
    ids = {one.get_attribute("data-id") for one in page.locator("#chosen li[data-id]").all()}
    descriptors = set(chosen(page))
    _, text = downloaded(page, "csv", tmp_path)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["id"] for row in rows} == ids
    assert {row["decision"] for row in rows} == {"accepted"}
    assert all(0 < float(row["score"]) <= 1 for row in rows)
    page.check("input[name=format][value=ttl]")
    page.fill("#address", 'http://example.org/acts/1 "<>')
    _, text = downloaded(page, "ttl", tmp_path)
    graph = rdflib.Graph().parse(data=text, format="turtle")
    document = rdflib.URIRef("http://example.org/acts/1%20%22%3C%3E")
    subjects = set(graph.objects(document, rdflib.DCTERMS.subject))
    assert {str(one).rsplit("/", 1)[1] for one in subjects} == ids
    assert {str(graph.value(one, rdflib.SKOS.prefLabel)) for one in subjects} == descriptors
    assert str(graph.value(document, rdflib.DCTERMS.title)) == page.text_content("#title")


def test_what_is_not_decided_is_exported_when_asked_for(page: Any, act_text: str) -> None:
    tag(page, act_text)
    page.click("#export")
    assert json.loads(page.text_content("#preview"))["concepts"] == []
    page.check("#undecided")
    found = json.loads(page.text_content("#preview"))["concepts"]
    assert {one["decision"] for one in found} == {"suggested"}
    assert [one["descriptor"] for one in found] == names(page, ABOVE)


def test_what_was_chosen_is_copied(page: Any, act_text: str) -> None:
    tag(page, act_text)
    page.click("#all")
    page.click("#copy")
    page.wait_for_selector("#copy:text('Copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert [one.split("\t")[1] for one in copied.splitlines()] == chosen(page)
    page.click("#export")
    page.click("#copy-export")
    page.wait_for_selector("#copy-export:text('Copied')")
    assert json.loads(page.evaluate("navigator.clipboard.readText()"))["model"] == "svm"


def test_work_survives_a_reload(page: Any, act_text: str) -> None:
    tag(page, act_text)
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".reject").click()
    line(page, 3).locator(".light").click()
    add(page, NOT_IN_MODEL)
    page.wait_for_selector("#chosen .hint:text('by z-cnn-lwan')")
    page.focus("#threshold")
    page.keyboard.press("ArrowRight")
    threshold = page.text_content("#threshold-value")
    before = (names(page), chosen(page), page.text_content("#text"), page.text_content("#title"))
    page.reload()
    page.wait_for_selector("mark")
    after = (names(page), chosen(page), page.text_content("#text"), page.text_content("#title"))
    assert after == before
    assert [state(page, n) for n in (1, 2, 3)] == ["accepted", "rejected", None]
    assert page.text_content("#threshold-value") == threshold
    assert line(page, 3).locator(".light").get_attribute("aria-pressed") == "true"


def test_documents_are_kept_can_be_gone_back_to_and_forgotten(page: Any, act_text: str) -> None:
    tag(page, act_text)
    line(page).locator(".accept").click()
    accepted, title = chosen(page), page.text_content("#title")
    page.click("#new")
    page.wait_for_selector("#kept li:has-text('1 concept chosen')")
    page.go_back()
    page.wait_for_selector(".line")
    wait_until(lambda: chosen(page) == accepted)
    page.go_forward()
    page.wait_for_selector("#kept a")
    page.click("#kept a")
    page.wait_for_selector(".line")
    wait_until(lambda: page.text_content("#title") == title)
    page.click("#new")
    page.click("#forget")
    page.wait_for_selector("#forget-what:has-text('not exported and would be lost')")
    page.keyboard.press("Escape")
    assert page.locator("#kept li").count() == 1
    page.click("#forget")
    page.click("#forget-sure")
    page.wait_for_selector("#kept li", state="detached")
    page.reload()
    page.wait_for_selector("#examples button")
    assert page.is_hidden("#recent")


def test_a_browser_that_keeps_nothing_says_so(open_page: Any, act_text: str) -> None:
    page = open_page(
        script="Object.defineProperty(window, 'indexedDB', { value: undefined });"
        "Storage.prototype.setItem = () => { throw new Error('full'); };"
    )
    tag(page, act_text)
    page.wait_for_selector("#unkept:not([hidden])")
    assert "export it before you leave" in page.text_content("#unkept")
    line(page).locator(".accept").click()
    assert len(chosen(page)) == 1
