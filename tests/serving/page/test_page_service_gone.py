"""The service goes away, is busy, or wants a key: nothing is lost, and there is a way on."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import pytest
from page_cases import free_port, line, names, paste, ready, serving, tag
from serving_cases import served

from labelwise.corpus.dataset import Dataset
from labelwise.methods import Method
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("page")

GONE = ("ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY", "net::")


def long_act(synthetic: Dataset) -> str:
    articles = [
        one.text for act in synthetic.train for one in act.sections if one.kind == "article"
    ]
    return "COMMISSION REGULATION\nTHE COMMISSION,\nHAS ADOPTED THIS REGULATION:\n" + "\n".join(
        f"Article {n}\n{' '.join(article.split())}" for n, article in enumerate(articles[:2000], 1)
    )


def test_the_service_goes_away_in_the_middle_and_comes_back(
    open_page: Any, folders: dict[str, Path], synthetic: Dataset
) -> None:
    port, bundle = free_port(), f"svm={folders['svm']}"
    with serving(bundle, port=port) as process:
        page = open_page(f"http://127.0.0.1:{port}", expected=GONE)
        paste(page, long_act(synthetic))
        page.click("#suggest")
        page.wait_for_selector(".line")
        process.kill()  # in the middle of its answer: two thousand sections are still to come
        page.wait_for_selector("#banner:not([hidden])")
    assert "Nothing is lost" in page.text_content("#trouble")
    suggestions, sections = names(page), page.locator("#text .part").count()
    assert suggestions
    line(page, 1).locator(".accept").click()
    line(page, 2).locator(".reject").click()
    line(page, 3).locator(".light").click()  # cannot be answered now
    page.wait_for_selector("#banner:not([hidden])")
    page.click("#retry")
    page.wait_for_selector("#banner:not([hidden])")
    with serving(bundle, port=port):
        page.click("#retry")
        page.wait_for_selector("#banner", state="hidden")
        page.wait_for_selector("#progress", state="hidden")
        assert names(page) == suggestions
        assert page.locator("#text .part").count() == sections > 1_900
        assert line(page, 1).get_attribute("data-state") == "accepted"
        assert line(page, 2).get_attribute("data-state") == "rejected"
        page.wait_for_selector("#lit li .hint:text-matches('[0-9]')")
        page.close()
    assert not ready(port)


def test_a_busy_service_is_asked_again_without_being_told(
    open_page: Any, service: str, act_text: str
) -> None:
    page = open_page(expected=("503",))
    asked, busy = [], [True]

    def refuse(route: Any) -> None:
        asked.append(time.monotonic())
        if busy:
            route.fulfill(
                status=503,
                headers={"Retry-After": "1"},
                content_type="application/problem+json",
                body='{"type": "urn:labelwise:overloaded", "detail": "the queue is full"}',
            )
        else:
            route.continue_()

    page.route("**/v1/tag/stream", refuse)
    paste(page, act_text)
    page.click("#suggest")
    page.wait_for_selector("#doing:has-text('busy')")
    busy.clear()
    page.wait_for_selector(".line")
    assert len(asked) > 1
    assert all(later - earlier > 0.9 for earlier, later in itertools.pairwise(asked))
    assert page.is_hidden("#banner")


def test_a_service_with_a_key_asks_for_it_once(
    open_page: Any, fitted: dict[str, Method], act_text: str
) -> None:
    key = "clé with spaces"
    with served([Servable("svm", method=fitted["svm"])], api_key=key) as client:
        page = open_page(str(client.base_url), expected=("401",), waits="#key-dialog[open]")
        page.fill("#key", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#key-problem:has-text('not the right one')")
        page.fill("#key", key)
        page.keyboard.press("Enter")
        page.wait_for_selector("#key-dialog", state="hidden")
        tag(page, act_text)
        line(page).locator(".light").click()
        page.wait_for_selector("mark")
        page.reload()
        page.wait_for_selector("mark")
        page.close()


def test_a_service_that_is_not_there_yet_is_waited_for(
    open_page: Any, fitted: dict[str, Method]
) -> None:
    page = open_page(expected=("503", "Failed to load"))
    loading = [True]

    def models(route: Any) -> None:
        if loading:
            body = '{"type": "urn:labelwise:not-ready", "detail": "the models are being loaded"}'
            route.fulfill(status=503, content_type="application/problem+json", body=body)
        else:
            route.continue_()

    page.route("**/v1/models", models)
    page.reload()
    page.wait_for_selector("#doing:has-text('being loaded')")
    loading.clear()
    page.wait_for_selector("#model option", state="attached")
    page.wait_for_selector("#progress", state="hidden")


def test_a_service_that_came_back_with_other_models_is_asked_with_one_of_them(
    open_page: Any, act_text: str
) -> None:
    page = open_page(expected=("404",))
    tag(page, act_text)
    line(page).locator(".accept").click()

    def unknown(route: Any) -> None:
        if '"svm"' not in (route.request.post_data or ""):
            route.continue_()
            return
        problem = {"type": "urn:labelwise:unknown-model", "detail": "no model is called svm"}
        route.fulfill(status=404, content_type="application/problem+json", json=problem)

    def others(route: Any) -> None:
        found = route.fetch().json()
        found["models"] = [one for one in found["models"] if one["id"] != "svm"]
        route.fulfill(json=found | {"default": found["models"][0]["id"]})

    page.route("**/v1/tag/stream", unknown)
    page.route("**/v1/models", others)
    page.click("#lists")
    page.fill("#exclude", "none")
    page.click("#lists-save")
    page.wait_for_selector("#model option[value=svm]", state="detached")
    page.wait_for_selector("#progress", state="hidden")
    assert page.input_value("#model") == "exact-match"
    assert page.locator(".line").count()
    assert page.locator("#chosen li[data-id]").count() == 1
