"""For everybody: by keyboard alone, for screen readers, light and dark, on narrow screens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from page_cases import line, names, tag

pytestmark = pytest.mark.xdist_group("page")

CONTRAST = """() => {
    // Any CSS colour as bytes, by way of a canvas; colours are laid over one another.
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const bytes = (...colours) => {
        pen.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
            pen.fillStyle = colour;
            pen.fillRect(0, 0, 1, 1);
        }
        return pen.getImageData(0, 0, 1, 1).data;
    };
    const light = ([r, g, b]) => {
        const part = (one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
        return 0.2126 * part(r / 255) + 0.7152 * part(g / 255) + 0.0722 * part(b / 255);
    };
    window.contrast = (ink, ...papers) => {
        const [a, b] = [light(bytes(...papers, ink)), light(bytes(...papers))];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    window.variable = (name) => {
        const probe = document.createElement("i");
        probe.style.color = `var(${name})`;
        document.body.append(probe);
        const found = getComputedStyle(probe).color;
        probe.remove();
        return found;
    };
    window.papers = (node) => {
        const found = [];
        for (let one = node; one; one = one.parentElement) {
            found.unshift(getComputedStyle(one).backgroundColor);
        }
        return found;
    };
}"""

WEAK_TEXT = """() => {
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const node = walk.currentNode.parentElement;
        if (!walk.currentNode.textContent.trim() || !node.checkVisibility({ checkOpacity: true })) {
            continue;
        }
        if (node.closest(":disabled, .unseen, script, noscript, option, svg")) continue;
        const ratio = contrast(getComputedStyle(node).color, ...papers(node));
        if (ratio < 4.5) found.push([node.className, walk.currentNode.textContent, ratio]);
    }
    return found;
}"""

NAMELESS = """() => {
    const named = (one) => {
        const by = (one.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean);
        const words = [
            one.getAttribute("aria-label"),
            ...by.map((id) => document.getElementById(id)?.textContent),
            ...[...(one.labels ?? [])].map((label) => label.textContent),
            one.matches("input, select, textarea") ? "" : one.textContent,
        ];
        return words.some((word) => word?.trim());
    };
    const wanted = "button, a, input, select, textarea, dialog, nav, main section, progress,"
        + "[role=listbox], [role=tablist], [role=group]";
    return [...document.querySelectorAll(wanted)]
        .filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 120));
}"""


def focused(page: Any) -> str:
    return page.evaluate("document.activeElement.id || document.activeElement.className")


def ring(page: Any) -> bool:
    """Whether what has the focus is seen to have it."""
    return page.evaluate(
        """() => {
            const style = getComputedStyle(document.activeElement);
            return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
        }"""
    )


def test_a_whole_day_with_the_keyboard_alone(page: Any, act_text: str, tmp_path: Any) -> None:
    page.evaluate("(text) => navigator.clipboard.writeText(text)", act_text)
    assert focused(page) == "pasted"
    page.keyboard.press("Control+V")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".line")
    page.wait_for_selector("#progress", state="hidden")
    first, second, third = names(page)[:3]
    page.keyboard.press("l")
    assert ring(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("mark")
    assert names(page, "#lit b") == [first]
    page.keyboard.press("a")
    page.keyboard.press("r")
    states = [line(page, n).get_attribute("data-state") for n in (1, 2, 3)]
    assert states == ["accepted", "rejected", None]
    page.keyboard.press("u")
    assert line(page, 2).get_attribute("data-state") is None
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "reject" in focused(page)
    assert ring(page)
    page.keyboard.press("Space")
    assert line(page, 2).get_attribute("data-state") == "rejected"
    assert second == names(page)[1]
    page.keyboard.press("Home")
    page.keyboard.press("End")
    last = page.evaluate("document.activeElement.closest('.line').dataset.id")
    assert last == page.locator(".line").last.get_attribute("data-id")
    page.keyboard.press("3")
    page.wait_for_selector("#lit li:nth-child(2)")
    page.wait_for_selector("#lit li.waiting", state="detached")
    assert names(page, "#lit b") == [first, third]
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.localName") == "mark"
    assert ring(page)
    page.keyboard.press("/")
    page.keyboard.type("electric mot")
    page.wait_for_selector("#found [aria-selected=true]")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_selector("#chosen li:nth-child(2)")
    page.keyboard.press("t")
    assert focused(page) == "threshold"
    assert ring(page)
    page.keyboard.press("e")
    page.wait_for_selector("#export-dialog[open]")
    with page.expect_download() as waiting:
        for _ in range(20):
            page.keyboard.press("Tab")
            if focused(page) == "download":
                break
        assert ring(page)
        page.keyboard.press("Enter")
    waiting.value.save_as(tmp_path / "exported.json")
    found = json.loads((tmp_path / "exported.json").read_text("utf-8"))
    assert [one["descriptor"] for one in found["concepts"]] == [first, "electric motor"]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector("#help-dialog[open]")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    assert focused(page) == "pasted"


def test_tab_comes_through_the_list_in_one_step(page: Any, act_text: str) -> None:
    tag(page, act_text)
    assert page.locator("#list [tabindex='0']").count() == 1
    line(page, 4).locator(".accept").focus()
    assert page.locator("#list [tabindex='0']").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.line')") is None
    page.keyboard.press("Shift+Tab")
    assert "accept" in focused(page)


@pytest.mark.parametrize("width", [360, 1360])
def test_the_first_link_skips_to_the_suggestions_and_closes_nothing(
    open_page: Any, act_text: str, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 740})
    tag(page, act_text)
    address = page.url
    if width < 960:
        page.click("#tab-reading")
    page.focus(".skip")
    page.keyboard.press("Enter")
    assert focused(page) == "list"
    page.keyboard.press("Tab")
    assert "light" in focused(page)
    assert page.url == address


def test_letters_can_be_switched_off(page: Any, act_text: str) -> None:
    tag(page, act_text)
    page.click("#help")
    page.uncheck("#single-keys")
    page.keyboard.press("Escape")
    line(page).locator(".light").focus()
    page.keyboard.press("a")
    assert line(page).get_attribute("data-state") is None


def test_what_happens_is_said(page: Any, act_text: str) -> None:
    tag(page, act_text)
    above = page.locator("[aria-label='Above the threshold'] .line").count()
    page.wait_for_selector(f"#said:text('{above} suggestion')", state="attached")
    first = names(page)[0]
    line(page).locator(".accept").click()
    page.wait_for_selector(f"#said:text('{first} accepted')", state="attached")
    line(page).locator(".light").click()
    page.wait_for_selector(f"#said:text('{first}:')", state="attached")
    assert "lit in" in page.text_content("#said")
    page.select_option("#by", "best")
    page.wait_for_selector("#said:text-is('5 suggestions')", state="attached")
    page.evaluate("async () => (await import('/page/desk.js')).desk.choose({ precision: 1 })")
    page.select_option("#by", "threshold")
    page.wait_for_selector(f"#said:text('{above} suggestion')", state="attached")
    page.select_option("#by", "precision")
    promised = "No suggestion promises this precision"
    page.wait_for_selector(f"#said:text('{promised}')", state="attached")


def test_everything_has_a_name_and_ids_are_unique(page: Any, act_text: str) -> None:
    tag(page, act_text)
    line(page).locator(".light").click()
    line(page).locator(".accept").click()
    page.wait_for_selector("mark")
    assert page.evaluate(NAMELESS) == []
    ids = page.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    pointed = page.eval_on_selector_all(
        "[aria-controls], [aria-labelledby], [aria-describedby], label[for]",
        """all => all.flatMap((one) =>
            ["aria-controls", "aria-labelledby", "aria-describedby", "for"].flatMap((name) =>
                (one.getAttribute(name) ?? "").split(" ").filter(Boolean)))""",
    )
    assert set(pointed) <= set(ids)
    headings = page.eval_on_selector_all("h1, h2, h3", "all => all.map((one) => one.localName)")
    assert headings.count("h1") == 1
    assert headings[0] == "h1"
    assert page.get_attribute("html", "lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_aa(open_page: Any, act_text: str, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    page.evaluate(CONTRAST)
    assert page.evaluate(WEAK_TEXT) == []
    tag(page, act_text)
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".reject").click()
    for place in (1, 2, 3):
        line(page, place).locator(".light").click()
    page.wait_for_selector("mark")
    page.fill("#search", "e")
    page.wait_for_selector("#found [role=option]")
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
    assert page.evaluate(WEAK_TEXT) == []
    page.keyboard.press("Escape")
    for dialog in ("help", "export", "lists"):
        page.click(f"#{dialog}")
        assert page.evaluate(WEAK_TEXT) == []
        page.keyboard.press("Escape")
    ratios = page.evaluate(
        """() => {
            const found = {};
            for (let n = 1; n <= 8; n += 1) {
                const [fill, line] = [variable(`--fill-${n}`), variable(`--line-${n}`)];
                found[`ink on fill ${n}`] = contrast(variable("--ink"), fill);
                found[`number on line ${n}`] = contrast(variable("--paper"), line);
                found[`line ${n} on paper`] = contrast(line, variable("--paper")) * 1.5;
            }
            for (const paper of ["--paper", "--desk", "--raised"]) {
                found[`focus on ${paper}`] = contrast(variable("--focus"), variable(paper)) * 1.5;
                found[`edge on ${paper}`] = contrast(variable("--edge"), variable(paper)) * 1.5;
            }
            return found;
        }"""
    )  # lines and edges are no text: 3 : 1 is enough for them
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


def test_the_theme_can_be_chosen_and_stays(page: Any) -> None:
    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    bright = paper()
    page.click("#theme")
    page.click("#theme")
    assert page.text_content("#theme") == "Theme: dark"
    dark = paper()
    assert dark != bright
    page.reload()
    page.wait_for_selector("#examples button")
    assert paper() == dark


@pytest.mark.parametrize("width", [360, 1024])
def test_narrow_screens_show_everything_without_scrolling_sideways(
    open_page: Any, act_text: str, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 740})

    def too_wide() -> list[str]:
        return page.evaluate(
            """() => [...document.querySelectorAll("body *")].filter((one) => {
                const box = one.getBoundingClientRect();
                return one.checkVisibility() && !one.closest(".unseen, .skip, svg")
                    && box.width && (box.right > innerWidth + 1 || box.left < -1);
            }).map((one) => one.outerHTML.slice(0, 80))"""
        )

    assert too_wide() == []
    tag(page, act_text)
    assert too_wide() == []
    line(page).locator(".light").click()
    line(page).locator(".accept").click()
    if width < 960:
        assert page.is_hidden("#text")
        page.click("#tab-reading")
        page.wait_for_selector("mark")
        assert too_wide() == []
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.is_visible("#sections")
        assert too_wide() == []
        page.locator("#sections button").nth(1).click()
        assert page.is_visible("#text")
        page.click("#tab-concepts")
    page.select_option("#compare", "exact-match")
    page.wait_for_selector(".pair")
    assert too_wide() == []
    for dialog in ("help", "export", "lists"):
        page.click(f"#{dialog}")
        assert too_wide() == []
        page.keyboard.press("Escape")


@pytest.mark.parametrize(("width", "height"), [(680, 430), (320, 256)])
def test_a_screen_that_is_zoomed_in_leaves_room_to_read_and_to_decide(
    open_page: Any, act_text: str, width: int, height: int
) -> None:
    """A screen of 1,360 × 860 at 200 %, and one of 1,280 × 1,024 at 400 %."""
    page = open_page(viewport={"width": width, "height": height})
    tag(page, act_text)
    line(page).locator(".light").click()
    page.wait_for_selector("#lit li:not(.waiting)", state="attached")
    for tab, part in (("concepts", "#list"), ("reading", "#text")):
        page.click(f"#tab-{tab}")
        page.locator(part).scroll_into_view_if_needed()
        assert page.locator(part).bounding_box()["height"] >= min(200, height / 2)
    page.locator("mark").first.click()
