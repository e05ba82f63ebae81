"""Faster to decide: the words behind each suggestion, and how many are suggested."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from page_cases import drop, line, names, tag

pytestmark = pytest.mark.xdist_group("page")


def test_every_suggestion_says_because_of_which_words_and_in_which_zones(
    page: Any, service: str, act_text: str
) -> None:
    asked = []
    page.on("request", lambda one: asked.append(one.url) if "evidence" in one.url else None)
    tag(page, act_text)
    first = line(page).get_attribute("data-id")
    sent = {"text": act_text, "labels": [first]}
    (evidence,) = httpx.post(f"{service}/v1/evidence", json=sent).json()["evidence"]
    page.wait_for_selector(".line:last-child .because:not(:empty)")
    because = line(page).locator(".because").text_content()
    strongest = next(one["text"] for one in evidence["phrases"] if one["weight"] > 0)
    assert because.startswith(f"Because of: {strongest.lower()}")
    assert " · in the " in because
    assert because.count("%") == 2
    assert len(asked) == 1, "one request, however many suggestions"
    line(page).locator(".light").click()
    page.wait_for_selector("mark")
    assert len(asked) == 1, "what is lit is here already"


@pytest.mark.parametrize(
    ("phrases", "words"),
    [
        ([("import", 3), ("imports of", 2), ("Oranges", 1)], ["import", "oranges"]),
        ([("fruit", 2), ("not", -1)], ["fruit"]),
        ([(")", 4), ("quota", 3), (",,", 2), ("(EC) quotas", 1)], ["quota"]),
        ([("on", 3), ("to", 2), ("onion", 1), ("tobacco", 1)], ["on", "to", "onion", "tobacco"]),
        ([("EU", 3), ("euro", 2), ("import", 1), ("imports", 1)], ["eu", "euro", "import"]),
        ([], []),
    ],
)
def test_the_strongest_words_are_said_once(
    page: Any, phrases: list[tuple[str, float]], words: list[str]
) -> None:
    given = [{"text": text, "weight": weight} for text, weight in phrases]
    code = "async (given) => (await import('/page/reasons.js')).strongest(given)"
    assert page.evaluate(code, given) == words


CUT = "async ([scores, choice]) => (await import('/page/cut.js')).passed(scores, choice)"


@pytest.mark.parametrize(
    ("choice", "many"),
    [
        ({"by": "threshold", "threshold": 0.5}, 2),
        ({"by": "threshold", "threshold": 0.95}, 0),
        ({"by": "best", "best": 3}, 3),
        ({"by": "best", "best": 9}, 4),
        ({"by": "precision", "precision": 0.8}, 2),
        ({"by": "precision", "precision": 0.99}, 0),
    ],
)
def test_suggestions_are_cut_by_threshold_number_and_expected_precision(
    page: Any, choice: dict[str, Any], many: int
) -> None:
    assert page.evaluate(CUT, [[0.9, 0.7, 0.5, 0.1], choice]) == many


def test_the_page_cuts_by_expected_precision_as_the_service_does(
    page: Any, service: str, act_text: str
) -> None:
    tag(page, act_text)
    page.select_option("#by", "precision")
    asked = {"text": act_text, "top": 50, "precision": 0.8}
    answer = httpx.post(f"{service}/v1/tag", json=asked).json()["predictions"]
    shown = names(page, "[aria-label='With the precision asked for'] .descriptor")
    assert shown == [one["descriptor"] for one in answer]


def test_the_best_are_suggested_whatever_they_score_and_that_stays(
    page: Any, act_text: str
) -> None:
    tag(page, act_text)
    page.select_option("#by", "best")
    assert len(names(page, "[aria-label=Best] .descriptor")) == 5
    page.focus("#threshold")
    page.keyboard.press("ArrowLeft")
    assert page.text_content("#threshold-value") == "4"
    page.reload()
    page.wait_for_selector(".line")
    assert len(names(page, "[aria-label=Best] .descriptor")) == 4
    page.click("#all")
    page.click("#export")
    found = json.loads(page.text_content("#preview"))
    assert found["choice"] == {"by": "best", "best": 4}
    assert len(found["concepts"]) == 4


def test_a_list_is_never_empty(open_page: Any, act_text: str) -> None:
    given = json.dumps({"thresholds": {"svm": 1}})
    kept = f"localStorage.setItem('labelwise-settings', {json.dumps(given)})"
    page = open_page(script=f"if (location.host) {kept};")
    tag(page, act_text)
    assert "No concept scores above the threshold. The best ones" in page.text_content("#list")
    assert len(names(page)) == 8
    assert page.is_disabled("#all")


def test_what_the_model_has_learned_from_is_said(open_page: Any, fitted: Any) -> None:
    from serving_cases import ACT, served

    from labelwise.serving.models import Servable

    with served([Servable("svm", method=fitted["svm"])]) as client:
        page = open_page(str(client.base_url))
        models = client.get("/v1/models").json()
        models["models"][0]["years"] = [1958, 2016]
        page.route("**/v1/models", lambda route: route.fulfill(json=models))
        page.reload()
        page.wait_for_selector("#model option", state="attached")
        drop(page, "32019R0532.txt", ACT.encode())
        page.wait_for_selector(".line")
        knows = page.text_content("#knows")
        page.close()
    assert "svm reads English" in knows
    assert "acts of 1958 to 2016" in knows
    assert "this act is of 2019, later than those" in knows
