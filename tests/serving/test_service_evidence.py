"""Evidence over REST: spans by section, weights as the method gives them; unseen concepts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from serving_cases import ACT, MODELS

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document
from labelwise.corpus.thesaurus import Thesaurus, read_thesaurus
from labelwise.evidence.heat import heat_of
from labelwise.methods import Evidence, Method, Scores
from labelwise.model import Model, Tag
from labelwise.serving import explaining, shapes
from labelwise.serving.models import Servable
from labelwise.serving.places import thesaurus_of
from labelwise.serving.routes import evidence as routes

pytestmark = pytest.mark.xdist_group("serving")


def explain(client: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = client.post("/v1/evidence", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("model", MODELS)
def test_spans_are_those_of_the_method_counted_within_their_section(
    model: str,
    client: httpx.Client,
    act: dict[str, Any],
    synthetic: Dataset,
    fitted: dict[str, Method],
) -> None:
    document, method = synthetic.test[0], fitted[model]
    found = explain(client, **act, model=model, top=3)["evidence"]
    assert len(found) == 3
    starts = document.section_starts()
    for one in found:
        (own,) = method.evidence(document, [one["id"]])
        assert one["kind"] == own.kind
        marked = heat_of(own)
        placed = [
            (starts[section["section"]] + span["start"], starts[section["section"]] + span["end"])
            for section in one["sections"]
            for span in section["spans"]
        ]
        assert placed == [(run.start, run.end) for run in marked.runs]
        weights = [span["weight"] for section in one["sections"] for span in section["spans"]]
        assert weights == pytest.approx([run.weight for run in marked.runs], abs=1e-5)
        assert one["strongest"] == pytest.approx(marked.strongest, abs=1e-5)
        total = sum(abs(span.weight) for span in own.spans)
        assert sum(section["weight"] for section in one["sections"]) == pytest.approx(
            total, abs=1e-4
        )


def test_the_marked_words_can_be_cut_from_the_sections_that_come_back(client: httpx.Client) -> None:
    answer = explain(client, text=ACT, model="exact-match", top=1)
    sections = answer["sections"]
    assert [one["kind"] for one in sections] == [
        "header",
        "recitals",
        "article",
        "article",
        "attachments",
    ]
    (one,) = answer["evidence"]
    marked = {
        sections[part["section"]]["text"][span["start"] : span["end"]].lower()
        for part in one["sections"]
        for span in part["spans"]
    }
    assert marked == {one["descriptor"].lower()}


def test_sections_that_were_sent_do_not_come_back(
    client: httpx.Client, act: dict[str, Any]
) -> None:
    assert explain(client, **act, top=1)["sections"] is None


def test_labels_are_explained_in_the_order_asked_for(
    client: httpx.Client, act: dict[str, Any], synthetic: Dataset
) -> None:
    labels = list(synthetic.label_space.ids[:5])[::-1]
    found = explain(client, **act, labels=labels)["evidence"]
    assert [one["id"] for one in found] == labels


@pytest.fixture(scope="module")
def thesaurus(synthetic: Dataset) -> Thesaurus:
    """The thesaurus that the service was given, with domains and microthesauri."""
    return read_thesaurus(synthetic.paths["train"].parent / "thesaurus.ttl")


SHAPE = {*shapes.Prediction.model_fields}


@pytest.mark.parametrize("model", MODELS)
def test_what_is_explained_has_the_shape_of_a_prediction(
    model: str, client: httpx.Client, act: dict[str, Any]
) -> None:
    tagged = client.post("/v1/tag", json={**act, "model": model, "top": 3}).json()["predictions"]
    assert set(tagged[0]) == SHAPE
    found = explain(client, **act, model=model, top=3)["evidence"]
    assert [{name: one[name] for name in SHAPE} for one in found] == tagged
    assert [one["label"] for one in found] == [one["id"] for one in tagged]  # as it was called once


@pytest.mark.parametrize("model", MODELS)
def test_it_is_the_prediction_that_python_explains(
    model: str,
    client: httpx.Client,
    act: dict[str, Any],
    synthetic: Dataset,
    fitted: dict[str, Method],
    thesaurus: Thesaurus,
) -> None:
    space = fitted[model].label_space
    front = Model(fitted[model], thesaurus=thesaurus_of(space, {}, thesaurus))
    labels = list(space.ids[:9:4])
    written = front.explain(synthetic.test[0], labels).to_json()["predictions"]
    found = {
        one["id"]: one for one in explain(client, **act, model=model, labels=labels)["evidence"]
    }
    for one in written:
        kind = one.pop("evidence")["kind"]
        sent = found[one["id"]]
        assert sent["kind"] == kind
        assert sent["score"] == pytest.approx(one.pop("score"), abs=2e-6)
        assert {name: sent[name] for name in one} == one


def test_a_part_of_the_thesaurus_stands_for_its_labels(
    client: httpx.Client, act: dict[str, Any], thesaurus: Thesaurus, fitted: dict[str, Method]
) -> None:
    known = fitted["svm"].label_space.index
    inside = {
        id: [one for one in thesaurus.within(f"mt:{id}") if one in known]
        for id in thesaurus.microthesauri
    }
    group = min((id for id in inside if inside[id]), key=lambda id: len(inside[id]))
    above = next(one.broader[0] for one in thesaurus.concepts.values() if one.broader)
    for part in (f"mt:{group}", f"under:{above}"):
        body = {**act, "labels": [part]}
        found = explain(client, **body)["evidence"]
        tagged = client.post("/v1/tag", json={**act, "include": [part], "top": 1000}).json()
        by_rank = sorted(found, key=lambda one: one["rank"])
        assert [{name: one[name] for name in SHAPE} for one in by_rank] == tagged["predictions"]
        with client.stream("POST", "/v1/evidence/stream", json=body) as answer:
            events = [json.loads(line) for line in answer.iter_lines()]
        assert [one["evidence"] for one in events[1:-1]] == found
    first = fitted["svm"].label_space.ids[0]
    both = explain(client, **act, labels=[first, f"mt:{group}", first])["evidence"]
    assert [one["id"] for one in both] == list(dict.fromkeys([first, *inside[group]]))


def test_a_part_is_counted_by_its_labels(
    client: httpx.Client,
    act: dict[str, Any],
    thesaurus: Thesaurus,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes, "MOST_EXPLAINED", 2)
    part = next(
        f"mt:{id}" for id in thesaurus.microthesauri if len(thesaurus.within(f"mt:{id}")) > 9
    )
    for route in ("/v1/evidence", "/v1/evidence/stream"):
        answer = client.post(route, json={**act, "labels": [part]})
        assert (answer.status_code, answer.json()["field"]) == (413, "labels")
        assert "and 2 are answered at a time" in answer.json()["detail"]
    monkeypatch.undo()
    monkeypatch.setattr(routes, "MOST_SECTIONS_EXPLAINED", 3)
    answer = client.post("/v1/evidence", json={**act, "labels": [part], "by_section": True})
    assert (answer.status_code, answer.json()["field"]) == (413, "by_section")


def test_a_part_that_is_none_and_one_without_a_label_of_the_model_are_named(
    client: httpx.Client, thesaurus: Thesaurus, fitted: dict[str, Method]
) -> None:
    known = fitted["svm"].label_space
    unseen = next(
        id
        for id in thesaurus.concepts
        if not any(one in known.index for one in thesaurus.within(f"under:{id}"))
    )
    for labels, field, sentence in (
        ([known.ids[0], "mt:0000"], "labels[1]", "'mt:0000' is no part of the thesaurus"),
        ([f"under:{unseen}"], "labels", "no label of svm is meant"),
    ):
        answer = client.post("/v1/evidence", json={"text": ACT, "labels": labels})
        assert (answer.status_code, answer.json()["field"]) == (422, field)
        assert sentence in answer.json()["detail"]


def test_what_the_front_door_writes_of_a_tag_is_what_is_sent(
    client: httpx.Client, act: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field of a prediction is written in one place."""
    written = Tag.to_json

    def louder(tag: Tag, text: str = "") -> dict[str, Any]:
        return written(replace(tag, descriptor=tag.descriptor.upper()), text)

    monkeypatch.setattr(Tag, "to_json", louder)
    tagged = client.post("/v1/tag", json={**act, "top": 2}).json()["predictions"]
    for one in (*tagged, *explain(client, **act, top=2)["evidence"]):
        assert one["descriptor"].isupper()


def test_read_section_by_section_a_network_has_evidence_beyond_its_reach(
    client: httpx.Client,
) -> None:
    sections = [
        {"kind": "recitals", "text": "The Council decides on budgets. " * 40},
        {"kind": "article", "text": "The import of citrus fruit is free."},
    ]
    body = {"sections": sections, "model": "z-cnn-lwan", "top": 2}
    whole = explain(client, **body)["evidence"]
    assert {part["section"] for one in whole for part in one["sections"]} == {0}
    parts = explain(client, **body, by_section=True)["evidence"]
    for one in parts:
        assert [part["section"] for part in one["sections"]] == [0, 1]
        assert all(0 <= part["score"] <= 1 for part in one["sections"])
        assert all(part["weight"] == pytest.approx(1, abs=1e-3) for part in one["sections"])


def test_an_unknown_label_is_named(client: httpx.Client) -> None:
    answer = client.post("/v1/evidence", json={"text": ACT, "labels": ["nothing"]})
    assert answer.status_code == 422
    assert answer.json()["field"] == "labels[0]"


@pytest.mark.parametrize("by_section", [False, True])
def test_evidence_streams_one_label_a_line(
    by_section: bool, client: httpx.Client, act: dict[str, Any]
) -> None:
    body = {**act, "top": 3, "by_section": by_section}
    with client.stream("POST", "/v1/evidence/stream", json=body) as answer:
        events = [json.loads(line) for line in answer.iter_lines()]
    assert [one["event"] for one in events] == ["start", *["evidence"] * 3, "end"]
    assert [one["evidence"] for one in events[1:-1]] == explain(client, **body)["evidence"]


class Counted:
    """A method that remembers of how many labels it was asked for evidence, call after call, and
    how many documents it scored."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.asked: list[int] = []
        self.scored = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)

    def scores(self, documents: Sequence[Document]) -> Scores:
        self.scored += len(documents)
        return self.method.scores(documents)

    def evidence(
        self, document: Document, labels: Sequence[str], explainer: str | None = None
    ) -> list[Evidence]:
        self.asked.append(len(labels))
        return self.method.evidence(document, labels, explainer)


@pytest.mark.parametrize("route", ["evidence", "evidence/stream"])
def test_ten_labels_are_explained_by_as_many_readings_as_one(
    route: str, serve: Callable[..., httpx.Client], act: dict[str, Any], fitted: dict[str, Method]
) -> None:
    sections = len(act["sections"])
    for by_section, readings in ((False, 1), (True, sections)):
        counted: Any = Counted(fitted["svm"])
        client = serve([Servable("svm", method=counted)])
        before = counted.scored
        body = {**act, "top": 10, "by_section": by_section}
        assert client.post(f"/v1/{route}", json=body).status_code == 200
        assert counted.asked == [10] * readings
        assert counted.scored - before == 1 + (sections if by_section else 0)


def test_evidence_of_many_labels_of_a_long_act_is_found_some_at_a_time(
    serve: Callable[..., httpx.Client],
    act: dict[str, Any],
    fitted: dict[str, Method],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    length = sum(len(section["text"]) for section in act["sections"])
    monkeypatch.setattr(explaining, "CHARACTERS", 4 * length)
    counted: Any = Counted(fitted["svm"])
    client = serve([Servable("svm", method=counted)])
    assert len(explain(client, **act, top=10)["evidence"]) == 10
    assert counted.asked == [4, 4, 2]


def test_a_concept_that_no_document_had_is_scored_by_its_words(
    client: httpx.Client, synthetic: Dataset, fitted: dict[str, Method]
) -> None:
    known = synthetic.label_space.labels[0]
    concepts = [
        {"id": "new", "descriptor": "import of citrus fruit"},
        {"id": known.id, "descriptor": known.descriptor},
    ]
    answer = client.post("/v1/score", json={"text": ACT, "concepts": concepts}).json()
    assert answer["model"] == "z-cnn-lwan"
    new, old = answer["scores"]
    assert (new["in_model"], old["in_model"]) == (False, True)
    tagged = client.post(
        "/v1/tag", json={"text": ACT, "model": "z-cnn-lwan", "include": [known.id]}
    ).json()
    assert old["score"] == pytest.approx(tagged["predictions"][0]["score"], abs=2e-6)
    assert 0 < new["score"] < 1


def test_a_concept_without_a_known_word_and_a_model_that_cannot_are_refused(
    client: httpx.Client,
) -> None:
    unknown = [{"id": "new", "descriptor": "qwrtplk"}]
    answer = client.post("/v1/score", json={"text": ACT, "concepts": unknown})
    assert answer.status_code == 422
    assert answer.json()["field"] == "concepts"
    assert "knows no word" in answer.json()["detail"]
    answer = client.post("/v1/score", json={"text": ACT, "model": "svm", "concepts": unknown})
    assert answer.json()["field"] == "model"
    partly = [{"id": "new", "descriptor": "citrus qwrtplk"}]
    answer = client.post("/v1/score", json={"text": ACT, "concepts": partly})
    assert "qwrtplk" in answer.json()["notes"][0]
