"""What is seen: ranks and colours, whole names, the act on paper; and what axe finds (nothing)."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from page_cases import axe, line, tag

pytestmark = pytest.mark.xdist_group("page")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1360), ("dark", 390)])
def test_axe_finds_nothing(open_page: Any, act_text: str, scheme: str, width: int) -> None:
    page = open_page(color_scheme=scheme, viewport={"width": width, "height": 860})
    assert axe(page) == []
    tag(page, act_text)
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".reject").click()
    line(page, 1).locator(".light").click()
    page.wait_for_selector("#lit li:not(.waiting)", state="attached")
    assert axe(page) == []
    page.select_option("#compare", "exact-match")
    page.wait_for_selector(".pair")
    assert axe(page) == []
    for dialog in ("export", "edit"):
        page.click(f"#{dialog}")
        assert axe(page) == []
        page.keyboard.press("Escape")


def test_a_rank_stays_a_number_and_a_colour_is_a_letter(page: Any, act_text: str) -> None:
    tag(page, act_text)
    for place in (3, 1):
        line(page, place).locator(".light").click()
    page.wait_for_selector("#lit li:nth-child(2)")
    ranks = page.eval_on_selector_all(".line .rank", "all => all.map((one) => one.textContent)")
    assert ranks == [str(n) for n in range(1, len(ranks) + 1)]
    letters = [line(page, place).locator(".swatch").text_content() for place in (3, 1)]
    assert letters == ["A", "B"]
    assert page.locator("#lit .swatch").all_text_contents() == letters


def test_names_of_models_are_shown_whole(open_page: Any, fitted: Any, act_text: str) -> None:
    from serving_cases import served

    from labelwise.serving.models import Servable

    long = "eurovoc-of-the-department-of-agriculture-2026"
    wanted = [Servable("svm", method=fitted["svm"]), Servable(long, method=fitted["exact-match"])]
    with served(wanted) as client:
        page = open_page(str(client.base_url))
        tag(page, act_text)
        page.select_option("#compare", long)
        page.select_option("#model", long)
        for name in ("#model", "#compare"):
            wide = page.locator(name).evaluate(
                "one => [one.offsetWidth, (one.style.width = 'max-content', one.offsetWidth)]"
            )
            assert wide[0] >= wide[1]
        page.close()


def test_the_whole_act_is_printed_with_what_was_chosen(
    page: Any, act_text: str, tmp_path: Path
) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    tag(page, act_text)
    line(page).locator(".accept").click()
    page.pdf(path=tmp_path / "act.pdf")
    printed = "".join(
        leaf.get_textpage().get_text_range() for leaf in pdfium.PdfDocument(tmp_path / "act.pdf")
    )
    for text in page.locator("#text .piece p").all_text_contents():
        assert letters(text) in letters(printed)
    assert "Chosen" in printed


def test_what_is_printed_is_dark_on_white_whatever_the_theme(page: Any, act_text: str) -> None:
    page.click("#theme")
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: dark"
    tag(page, act_text)
    page.emulate_media(media="print")
    ink = "(one) => getComputedStyle(one).color.match(/[0-9]+/g).map(Number)"
    for part in ("#title", "#text .piece p", ".line .descriptor", ".line .because"):
        assert max(page.locator(part).first.evaluate(ink)) < 128


def letters(text: str) -> str:
    """Paper has ligatures, and breaks lines and words."""
    return "".join(one for one in unicodedata.normalize("NFKC", text) if one.isalnum())


def test_where_the_system_forces_its_colours_what_is_decided_is_seen(
    open_page: Any, act_text: str
) -> None:
    page = open_page(forced_colors="active")
    tag(page, act_text)
    line(page, 1).locator(".accept").click()
    line(page, 1).locator(".light").click()
    page.wait_for_selector("#key-tools:not([hidden])")
    paper = "(one) => getComputedStyle(one).backgroundColor"
    for pressed, not_pressed in (
        (line(page, 1).locator(".accept"), line(page, 2).locator(".accept")),
        (page.locator("#strong"), page.locator("#every")),
    ):
        assert pressed.evaluate(paper) != not_pressed.evaluate(paper)
    meter = line(page, 1).locator(".meter")
    assert meter.locator(".fill").evaluate(paper) != meter.evaluate(paper)
    page.fill("#search", act_text.split(maxsplit=1)[0][:1])
    page.wait_for_selector("#found [aria-selected=true]")
    ring = "(one) => getComputedStyle(one).outlineStyle"
    assert page.locator("#found [aria-selected=true]").evaluate(ring) == "solid"
