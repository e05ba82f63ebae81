"""What the page asks of the service beyond the rest: pasted text, evidence of unseen concepts."""

from __future__ import annotations

import httpx
import pytest
from serving_cases import ACT

pytestmark = pytest.mark.xdist_group("serving")

CONCEPTS = [{"id": "new", "descriptor": "import of citrus fruit from Morocco"}]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert('hello')</script>\nOranges and lemons",
        "<html><body>COMMISSION DECISION</body></html>",
        '{"celex_id": "32001R0012", "title": "not JSON but a text"',
        "id\tlabels\ttext\nthree words beside tabs",
    ],
)
def test_pasted_text_is_text_whatever_it_looks_like(client: httpx.Client, text: str) -> None:
    answer = client.post("/v1/parse?format=text", files={"file": ("a", text.encode())})
    assert answer.status_code == 200
    (document,) = answer.json()["documents"]
    found = "\n".join(one["text"] for one in document["sections"])
    assert found.split() == text.split()


def test_another_format_cannot_be_named(client: httpx.Client) -> None:
    answer = client.post("/v1/parse?format=html", files={"file": ("a", b"Oranges")})
    assert answer.status_code == 422
    assert answer.json()["field"] == "format"


def test_a_concept_that_no_model_has_is_explained_by_its_words(client: httpx.Client) -> None:
    asked = {"text": ACT, "concepts": CONCEPTS, "model": "z-cnn-lwan"}
    answer = client.post("/v1/evidence", json=asked).json()
    (one,) = answer["evidence"]
    assert (one["id"], one["label"], one["rank"]) == ("new", "new", 1)
    assert one["uri"] == "http://eurovoc.europa.eu/new"
    assert (one["descriptor"], one["place"]["path"]) == (CONCEPTS[0]["descriptor"],) * 2
    assert (one["group"], one["count"], one["in_model"]) == ("zero", 0, False)
    assert one["kind"] == "attention"
    scored = client.post("/v1/score", json=asked).json()
    assert one["score"] == scored["scores"][0]["score"]
    for part in one["sections"]:
        text = answer["sections"][part["section"]]["text"]
        for span in part["spans"]:
            assert text[span["start"] : span["end"]].strip()
    assert sum(part["weight"] for part in one["sections"]) == pytest.approx(1, abs=1e-3)


def test_it_is_explained_section_by_section_and_beside_labels_that_were_trained(
    client: httpx.Client,
) -> None:
    known = client.get("/v1/labels?model=z-cnn-lwan&limit=1").json()["labels"][0]["id"]
    asked = {"text": ACT, "concepts": CONCEPTS, "labels": [known], "by_section": True}
    answer = client.post("/v1/evidence", json=asked | {"model": "z-cnn-lwan"}).json()
    assert [one["id"] for one in answer["evidence"]] == [known, "new"]
    assert all(part["score"] is not None for part in answer["evidence"][1]["sections"])


def test_a_model_that_cannot_explain_it_says_so(client: httpx.Client) -> None:
    answer = client.post("/v1/evidence", json={"text": ACT, "concepts": CONCEPTS, "model": "svm"})
    assert answer.status_code == 422
    assert answer.json()["field"] == "model"
    twice = {"text": ACT, "concepts": CONCEPTS * 2}
    answer = client.post("/v1/evidence/stream", json=twice)
    assert (answer.status_code, answer.json()["field"]) == (422, "concepts")
