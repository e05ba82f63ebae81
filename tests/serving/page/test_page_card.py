"""Concepts by any of their names, their card on one key, and names in another language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_cases import axe, line, names, tag
from serving_cases import ACT, served

from labelwise.methods import Method
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture
def french(open_page: Any, fitted: dict[str, Method], tmp_path: Path) -> Iterator[Any]:
    """The desk of a service whose thesaurus has French names, with an act on it."""
    concepts = [
        f"""<http://eurovoc.europa.eu/{one.id}> a skos:Concept ;
            skos:prefLabel "{one.descriptor}"@en , "nom {n}"@fr ; skos:altLabel "synonym {n}"@en ;
            skos:scopeNote "Note {n}."@en ."""
        for n, one in enumerate(fitted["svm"].label_space.labels)
    ]
    given = tmp_path / "thesaurus.ttl"
    prefix = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    given.write_text(prefix + "\n".join(concepts), "utf-8")
    with served([Servable("svm", method=fitted["svm"])], thesaurus=given) as client:
        page = open_page(str(client.base_url))
        tag(page, ACT)
        yield page
        page.close()


def test_a_concept_is_found_by_another_name_and_looked_at_with_one_key(
    french: Any, fitted: dict[str, Method]
) -> None:
    page, label = french, fitted["svm"].label_space.labels[7]
    page.fill("#search", "7 synony")
    page.wait_for_selector("#found [role=option] .matched")
    first = page.locator("#found [role=option] .descriptor").first.text_content()
    assert first.startswith(f"synonym 7 → {label.descriptor}")
    page.keyboard.press("Escape")
    line(page).locator(".light").focus()
    page.keyboard.press("i")
    page.wait_for_selector("#card-dialog[open]")
    assert page.text_content("#card-name") == names(page)[0]
    shown = page.text_content("#card")
    assert "Note " in shown
    assert "(French)" in shown
    assert axe(page) == []


def test_names_are_shown_in_the_language_that_is_chosen(french: Any) -> None:
    page = french
    page.select_option("#names", "fr")
    page.wait_for_selector(".line .descriptor:has-text('nom ')")
    assert all(one.startswith("nom ") for one in names(page))
    line(page).locator(".light").click()  # and what is lit is told by the name that is shown
    page.wait_for_function("document.getElementById('said').textContent.includes(' lit in ')")
    assert page.text_content("#said").startswith(f"{names(page)[0]}: ")
