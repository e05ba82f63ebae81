"""The words that speak for a concept light up: the right ones, in its colour, with their weight."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from page_cases import line, names, tag

pytestmark = pytest.mark.xdist_group("page")


def lit_text(page: Any) -> list[str]:
    return page.eval_on_selector_all("mark", "all => all.map((one) => one.textContent)")


def light(page: Any, place: int = 1) -> None:
    line(page, place).locator(".light").click()
    page.wait_for_selector("#lit li")
    page.wait_for_selector("#lit li.waiting", state="detached")


def evidence(service: str, text: str, labels: list[str], **more: Any) -> dict[str, Any]:
    asked = {"text": text, "labels": labels} | more
    return httpx.post(f"{service}/v1/evidence", json=asked).json()


def test_the_words_of_the_evidence_are_lit_and_no_others(page: Any, service: str) -> None:
    # letters beyond U+FFFF and combined ones: the service counts code points, the browser does not
    text = "𐍈𐍈 😀 e\u0301 imports of citrus fruit 𐍈 oranges, lemons and mandarins 😀 citrus fruit"
    tag(page, text)
    light(page)
    label = line(page).get_attribute("data-id")
    answer = evidence(service, text, [label])
    section = answer["sections"][0]["text"]
    (part,) = answer["evidence"][0]["sections"]
    least = answer["evidence"][0]["strongest"] / 3
    strong = [one for one in part["spans"] if abs(one["weight"]) >= least]
    assert 0 < len(strong) < len(part["spans"])
    assert lit_text(page) == [section[one["start"] : one["end"]] for one in strong]
    page.click("#every")
    assert lit_text(page) == [section[one["start"] : one["end"]] for one in part["spans"]]
    assert page.text_content("#text p") == section


def test_a_concept_lights_up_in_one_colour_and_goes_out_again(page: Any, act_text: str) -> None:
    tag(page, act_text)
    light(page)
    assert line(page).locator(".light").get_attribute("aria-pressed") == "true"
    styles = page.eval_on_selector_all("mark", "all => all.map((one) => one.style.background)")
    assert all("--fill-1" in one or one == "transparent" for one in styles)
    line(page).locator(".light").click()
    page.wait_for_selector("mark", state="detached")
    assert page.is_visible("#key-hint")


def test_several_at_once_have_their_own_colours_and_share_words_in_bands(
    page: Any, act_text: str
) -> None:
    tag(page, act_text)
    for place in (1, 2, 3, 4):
        light(page, place)
    page.click("#every")
    assert page.locator("#lit li").count() == 4
    colours = page.eval_on_selector_all("#lit li", "all => all.map((one) => one.dataset.colour)")
    assert colours == ["1", "2", "3", "4"]
    styles = page.eval_on_selector_all("mark", "all => all.map((one) => one.style.background)")
    assert {n for n in "1234" if any(f"--fill-{n}" in one for one in styles)} == set("1234")
    assert any("linear-gradient" in one for one in styles)
    page.keyboard.press("Escape")
    page.wait_for_selector("mark", state="detached")


def test_a_ninth_light_puts_the_first_out(page: Any, act_text: str) -> None:
    tag(page, act_text)
    first = names(page)[0]
    for place in range(1, 10):
        light(page, place)
    lit = names(page, "#lit b")
    assert len(lit) == 8
    assert first not in lit


def test_hover_and_focus_tell_the_weight(page: Any, service: str, act_text: str) -> None:
    tag(page, act_text)
    light(page)
    label, descriptor = line(page).get_attribute("data-id"), names(page)[0]
    page.click("#every")
    sections = evidence(service, act_text, [label])["evidence"][0]["sections"]
    weight = sections[0]["spans"][0]["weight"]
    share = f"{abs(100 * weight):.1f} %"
    page.hover("mark")
    assert descriptor in page.text_content("#tip")
    assert share in page.text_content("#tip")
    page.hover("#title")
    assert page.is_hidden("#tip")
    page.keyboard.press("n")
    focused = page.evaluate("document.activeElement.getAttribute('aria-describedby')")
    assert focused == "tip"
    assert share in page.text_content("#tip")
    assert page.text_content("#where").startswith("1 of ")


def test_the_place_is_kept_when_another_concept_lights_up(page: Any, act_text: str) -> None:
    tag(page, act_text)
    light(page)
    page.keyboard.press("n")
    page.keyboard.press("n")
    held = page.evaluate("document.activeElement.textContent")
    assert page.evaluate("document.activeElement.localName") == "mark"
    for place in (2, 3):
        page.keyboard.press(str(place))
        page.wait_for_selector(f"#lit li:nth-child({place})")
        page.wait_for_selector("#lit li.waiting", state="detached")
    assert page.evaluate("document.activeElement.localName") == "mark"
    now = page.evaluate("document.activeElement.textContent")
    assert now in held or held in now
    assert " of " in page.inner_text("#where")
    for place in (1, 2, 3):  # all out: the reader is still in the text
        page.keyboard.press(str(place))
    page.wait_for_selector("mark", state="detached")
    assert page.evaluate("document.activeElement.id") == "text"


def test_the_map_tells_where_the_evidence_lies(page: Any, service: str, act_text: str) -> None:
    tag(page, act_text)
    light(page)
    label = line(page).get_attribute("data-id")
    answer = evidence(service, act_text, [label])
    weights = {one["section"]: one["weight"] for one in answer["evidence"][0]["sections"]}
    most = max(weights, key=lambda one: weights[one])
    page.wait_for_selector("#sections .share")
    widths = page.eval_on_selector_all("#sections .share", "all => all.map((o) => o.style.width)")
    assert len(widths) == len(answer["sections"])
    assert widths[most] == "100%"
    share = round(100 * weights[most] / sum(weights.values()))
    button = page.locator("#sections button").nth(most)
    assert f"{share} % of its evidence" in (button.get_attribute("aria-label") or "")
    drawn = page.evaluate(
        """() => {
            const strip = document.getElementById("strip");
            const data = strip.getContext("2d").getImageData(0, 0, strip.width, strip.height).data;
            return data.some((one) => one > 0);
        }"""
    )
    assert drawn
    page.locator("#sections button").last.click()
    seen = page.evaluate(
        """() => {
            const last = [...document.querySelectorAll(".part")].at(-1).getBoundingClientRect();
            const pane = document.getElementById("text").getBoundingClientRect();
            return last.top < pane.bottom && last.bottom > pane.top;
        }"""
    )
    assert seen


def test_section_by_section_every_section_is_read_on_its_own(
    page: Any, service: str, act_text: str
) -> None:
    tag(page, act_text)
    light(page)
    label = line(page).get_attribute("data-id")
    page.click("#every")
    page.click("#apart")
    page.wait_for_selector("#lit li.waiting", state="detached")
    answer = evidence(service, act_text, [label], by_section=True)
    found = answer["evidence"][0]["sections"]
    texts = answer["sections"]
    page.wait_for_selector("mark")
    first = found[0]
    shown = page.eval_on_selector_all(
        f".part:nth-child({first['section'] + 1}) mark", "all => all.map((o) => o.textContent)"
    )
    expected = [texts[first["section"]]["text"][o["start"] : o["end"]] for o in first["spans"]]
    assert "".join(shown).split() == "".join(expected).split()
    button = page.locator("#sections button").nth(first["section"])
    assert "alone scores" in (button.get_attribute("aria-label") or "")


def test_a_section_tells_what_it_would_be_called_alone(page: Any, act_text: str) -> None:
    tag(page, act_text)
    shown = page.eval_on_selector_all(".part .best", "all => all.map((one) => one.textContent)")
    assert any(one.startswith("on its own: ") for one in shown)


def test_a_network_that_stops_reading_says_so(page: Any, act_text: str) -> None:
    page.select_option("#model", "z-cnn-lwan")
    tag(page, act_text)
    assert "reads the first 80 words" in page.text_content("#facts")
    assert "longer than the 80 words" in page.text_content("#notes")
    light(page)
    page.click("#apart")
    page.wait_for_selector("#lit li.waiting", state="detached")
    last = page.locator(".part").last
    last.scroll_into_view_if_needed()
    page.wait_for_selector(".part:last-child mark")


def test_evidence_names_its_kind(page: Any, act_text: str) -> None:
    tag(page, act_text)
    light(page)
    assert "Contribution" in page.text_content("#kinds")
    page.click("#meaning summary")
    assert page.is_visible("#kinds")


def test_two_models_side_by_side(page: Any, service: str, act_text: str) -> None:
    tag(page, act_text)
    page.select_option("#compare", "exact-match")
    page.wait_for_selector(".pair")
    asked = {"text": act_text, "models": ["svm", "exact-match"]}
    answer = httpx.post(f"{service}/v1/compare", json=asked).json()
    assert names(page) == [one["descriptor"] for one in answer["labels"]]
    heads = page.eval_on_selector_all(".pair thead th", "all => all.map((one) => one.innerText)")
    assert heads[1:3] == ["svm", "exact-match"]
    row = page.locator(".pair .line").first
    ranks = row.locator(".rank").all_text_contents()
    assert ranks == [str(one) for one in answer["labels"][0]["ranks"]]
    for cell in row.locator("td .light").all():
        cell.click()
    page.wait_for_selector("#lit li.waiting", state="detached")
    assert page.locator("#lit li").count() == 2  # the same concept by two models, in two colours
    assert "Match" in page.text_content("#kinds")
    row.locator(".accept").click()
    page.select_option("#compare", "")
    page.wait_for_selector("ol.lines")
    assert page.locator("#chosen li[data-id]").count() == 1


def test_a_note_about_two_models_is_said_once_of_each(page: Any, act_text: str) -> None:
    tag(page, act_text)
    page.click("#lists")
    page.fill("#exclude", "no-such-label")
    page.click("#lists-save")
    page.wait_for_selector("#notes li")
    page.select_option("#compare", "exact-match")
    page.wait_for_selector("#notes:has-text('exact-match')")
    notes = page.locator("#notes li").all_text_contents()
    assert [one.split(": ")[0] for one in notes] == ["svm", "exact-match"]
