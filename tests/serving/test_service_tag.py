"""Tagging over REST: the same scores as in Python and on the command line, cut as was asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from conformance import SMALL_NETWORK
from serving_cases import ACT, MODELS

from labelwise.bundle import save
from labelwise.cli import main
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document
from labelwise.corpus.labels import GROUPS
from labelwise.corpus.plain_text import split_act
from labelwise.evaluation.calibration import Calibration, Certificate, Curve
from labelwise.evidence.predictions import rank
from labelwise.methods import Method
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("serving")


def tag(client: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = client.post("/v1/tag", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("model", MODELS)
def test_python_command_line_and_rest_give_the_same_scores(
    model: str,
    client: httpx.Client,
    fitted: dict[str, Method],
    folders: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sent = tag(client, text=ACT, model=model, top=10)["predictions"]

    title, sections = split_act(ACT)
    method = fitted[model]
    scores = method.scores([Document("act", title, sections)])[0]
    ranked = rank(scores, method.label_space, top=10)
    assert [one["id"] for one in sent] == [one.label.id for one in ranked]
    assert [one["score"] for one in sent] == pytest.approx([one.score for one in ranked], abs=2e-6)

    file = tmp_path / "act.txt"
    file.write_text(ACT, "utf-8")
    with pytest.raises(SystemExit):
        main(["tag", str(file), "--bundle", str(folders[model]), "--top", "10", "--json"])
    printed = json.loads(capsys.readouterr().out)[0]["predictions"]
    assert [one["id"] for one in printed] == [one["id"] for one in sent]
    assert [one["score"] for one in printed] == pytest.approx(
        [one["score"] for one in sent], abs=2e-6
    )
    assert [one["group"] for one in printed] == [one["group"] for one in sent]


def test_a_prediction_names_its_label_its_place_and_how_often_it_was_seen(
    client: httpx.Client, act: dict[str, Any], synthetic: Dataset
) -> None:
    answer = tag(client, **act, top=3)
    assert answer["model"] == "svm"
    first = answer["predictions"][0]
    label = synthetic.label_space.labels[synthetic.label_space.index[first["id"]]]
    assert (first["descriptor"], first["group"], first["count"]) == (
        label.descriptor,
        label.group,
        label.count,
    )
    assert first["uri"] == f"http://eurovoc.europa.eu/{first['id']}"
    assert first["rank"] == 1
    assert first["in_model"] is True
    place = first["place"]
    assert place["domains"]
    assert place["microthesauri"]
    assert place["path"].startswith(place["domains"][0]["name"])
    assert place["path"].endswith(label.descriptor)


def test_a_batch_answers_like_its_documents_one_by_one(
    client: httpx.Client, synthetic: Dataset
) -> None:
    documents = [
        {
            "id": one.id,
            "sections": [{"kind": section.kind, "text": section.text} for section in one.sections],
        }
        for one in synthetic.test[:12]
    ]
    batch = client.post("/v1/tag/batch", json={"documents": documents, "top": 4}).json()
    assert [one["document"] for one in batch["documents"]] == [one["id"] for one in documents]
    for sent, together in zip(documents, batch["documents"], strict=True):
        alone = tag(client, **sent, top=4)
        assert together["predictions"] == alone["predictions"]
        assert together["words"] == alone["words"]


def test_threshold_top_include_and_exclude_cut_the_ranking(
    client: httpx.Client, act: dict[str, Any]
) -> None:
    whole = tag(client, **act, top=50)["predictions"]
    scores = [one["score"] for one in whole]
    assert scores == sorted(scores, reverse=True)

    cut = (scores[2] + scores[3]) / 2
    above = tag(client, **act, top=50, threshold=cut)["predictions"]
    assert [one["id"] for one in above] == [one["id"] for one in whole[:3]]

    tuned = tag(client, **act, top=50, threshold="tuned")
    assert all(one["assigned"] for one in tuned["predictions"])
    assert all(one["score"] > tuned["threshold"] - 1e-6 for one in tuned["predictions"])

    without = tag(client, **act, top=3, exclude=[whole[0]["id"], whole[2]["id"]])["predictions"]
    assert [one["id"] for one in without] == [whole[n]["id"] for n in (1, 3, 4)]

    only = tag(client, **act, top=50, include=[whole[9]["id"], whole[4]["id"]])["predictions"]
    assert [one["id"] for one in only] == [whole[4]["id"], whole[9]["id"]]


def test_a_document_gets_its_best_labels_whatever_the_threshold(
    client: httpx.Client, act: dict[str, Any]
) -> None:
    whole = tag(client, **act, top=50)["predictions"]
    assert tag(client, **act, threshold=1)["predictions"] == []
    assert tag(client, **act, threshold=1, best=2)["predictions"] == whole[:2]
    too_many = client.post("/v1/tag", json={**act, "top": 3, "best": 4})
    assert (too_many.status_code, too_many.json()["field"]) == (422, "best")
    alone = client.post("/v1/tag", json={**act, "best": 2})
    assert (alone.status_code, alone.json()["field"]) == (422, "best")
    assert "best goes with threshold, certified or precision" in alone.json()["detail"]


def test_labels_are_kept_while_they_are_expected_to_be_precise_enough(
    client: httpx.Client, act: dict[str, Any]
) -> None:
    whole = [one["score"] for one in tag(client, **act, top=50)["predictions"]]
    precision = (np.mean(whole[:3]) + np.mean(whole[:4])) / 2
    answer = tag(client, **act, top=50, precision=precision)
    assert [one["score"] for one in answer["predictions"]] == whole[:3]
    assert answer["notes"] == [
        "the scores of svm are not calibrated, so that precision is a rough guess"
    ]


def test_a_calibrated_model_gives_chances_and_what_is_certified_of_them(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method], act: dict[str, Any]
) -> None:
    sure = copy(fitted["svm"])
    curves = {group: Curve("platt", (0.5, 1.0)) for group in GROUPS}
    sure.calibration = Calibration(curves, (Certificate(0.9, 0.8),))
    client = serve([Servable("plain", method=fitted["svm"]), Servable("sure", method=sure)])
    plain, told = client.get("/v1/models").json()["models"]
    assert (plain["calibrated"], plain["certified"]) == (False, [])
    assert (told["calibrated"], told["certified"]) == (True, [0.9])

    before = {one["id"]: one["score"] for one in tag(client, **act, top=20)["predictions"]}
    after = tag(client, **act, model="sure", top=20, precision=0.1)
    assert after["notes"] == []
    for one in after["predictions"][:5]:
        z = np.log(before[one["id"]]) - np.log1p(-before[one["id"]])
        assert one["score"] == pytest.approx(1 / (1 + np.exp(-0.5 * z - 1)), abs=1e-3)
    kept = tag(client, **act, model="sure", certified=0.9)["predictions"]
    assert [one["id"] for one in kept] == [
        one["id"] for one in after["predictions"] if one["score"] > 0.8
    ]
    for body, sentence in (
        ({"model": "sure", "certified": 0.95}, "0.95 is not certified for this model"),
        ({"model": "plain", "certified": 0.9}, "no precision is certified for this model"),
        ({"model": "sure", "certified": 0.9, "threshold": 0.1}, "another one is given"),
    ):
        refused = client.post("/v1/tag", json={**act, **body})
        assert (refused.status_code, refused.json()["field"]) == (422, "certified")
        assert sentence in refused.json()["detail"]


def test_ten_thousand_labels_to_exclude_are_taken_and_the_unknown_ones_counted(
    client: httpx.Client, act: dict[str, Any]
) -> None:
    best = tag(client, **act, top=1)["predictions"][0]["id"]
    answer = tag(client, **act, top=1, exclude=[best, *(f"x{n}" for n in range(9_999))])
    assert answer["predictions"][0]["id"] != best
    assert answer["notes"] == [
        "9999 of the 10000 labels in exclude are not in the model and were left out"
    ]
    too_many = client.post("/v1/tag", json={**act, "exclude": [best] * 20_001})
    assert too_many.status_code == 422
    assert too_many.json()["field"] == "exclude"


def test_lists_that_leave_nothing_are_refused(client: httpx.Client, act: dict[str, Any]) -> None:
    answer = client.post("/v1/tag", json={**act, "include": ["no such label"]})
    assert answer.status_code == 422
    assert answer.json()["field"] == "include"
    assert "leave no label" in answer.json()["detail"]


@pytest.mark.parametrize("text", ["", "   \n ", "\x00\x01"])
def test_a_document_without_a_word_has_no_predictions(client: httpx.Client, text: str) -> None:
    answer = tag(client, text=text)
    assert answer["predictions"] == []
    assert answer["words"] == 0


def test_a_network_says_how_much_of_a_long_document_it_reads(client: httpx.Client) -> None:
    answer = tag(client, text="The import of citrus fruit. " * 400, model="z-cnn-lwan", top=1)
    assert answer["words"] == 2400
    assert answer["words_read"] == SMALL_NETWORK["max_tokens"]
    assert answer["notes"] == ["the document is longer than the 80 words that this model reads"]


def test_models_are_compared_by_rank_label_by_label(
    client: httpx.Client, act: dict[str, Any], fitted: dict[str, Method], synthetic: Dataset
) -> None:
    body = {**act, "models": ["svm", "exact-match"], "top": 5}
    answer = client.post("/v1/compare", json=body).json()
    assert answer["models"] == ["svm", "exact-match"]
    assert 5 <= len(answer["labels"]) <= 10
    rows = [fitted[name].scores([synthetic.test[0]])[0] for name in answer["models"]]
    space = synthetic.label_space
    for one in answer["labels"]:
        column = space.index[one["id"]]
        assert one["scores"] == pytest.approx([row[column] for row in rows], abs=1e-6)
        order = [np.argsort(-row, kind="stable").tolist().index(column) + 1 for row in rows]
        assert one["ranks"] == order
    assert sorted(min(one["ranks"]) for one in answer["labels"]) == [
        min(one["ranks"]) for one in answer["labels"]
    ]
    twice = client.post("/v1/compare", json={**act, "models": ["svm", "svm"]})
    assert twice.json()["field"] == "models"
    none = client.post("/v1/compare", json={**act, "models": ["svm", "nobody"]})
    assert (none.status_code, none.json()["field"]) == (404, "models[1]")


def test_a_long_act_is_streamed_section_by_section(client: httpx.Client) -> None:
    sections = [{"kind": "header", "text": "Regulation on fruit"}] + [
        {"kind": "article", "text": f"Article {n}. " + "The import of citrus fruit. " * 160}
        for n in range(52)
    ]
    events = []
    body = {"sections": sections, "top": 3, "section_top": 2}
    with client.stream("POST", "/v1/tag/stream", json=body) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        events = [json.loads(line) for line in answer.iter_lines()]
    assert [one["event"] for one in events] == ["start", "document", *["section"] * 53, "end"]
    assert events[0]["words"] > 50_000
    assert events[0]["steps"] == 54
    assert [one["done"] for one in events[1:-1]] == list(range(1, 55))
    whole = tag(client, sections=sections, top=3)
    assert events[1]["tagging"] == whole
    wanted = {one["id"] for one in whole["predictions"]}
    for event in events[2:-1]:
        assert set(event["scores"]) == wanted
        assert len(event["predictions"]) == 2
    alone = tag(client, sections=[sections[5]], top=2)["predictions"]
    assert events[7]["predictions"] == alone


def test_a_stream_of_a_wrong_request_is_an_ordinary_problem(client: httpx.Client) -> None:
    answer = client.post("/v1/tag/stream", json={"text": "Oranges.", "model": "none"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_language_is_told_and_a_foreign_one_is_noted(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method], tmp_path: Path
) -> None:
    save(fitted["exact-match"], tmp_path / "m.bundle", card={"language": "en"})
    client = serve([Servable("m", tmp_path / "m.bundle")])
    german = "Der Zoll auf Orangen und Zitronen aus Drittländern wird jede Woche festgesetzt. "
    one = {"text": german, "id": "zoll"}
    for route, body in (("/v1/tag", one), ("/v1/tag/batch", {"documents": [one]})):
        answer = client.post(route, json=body).json()
        tagging = answer["documents"][0] if "documents" in answer else answer
        assert tagging["language"] == "de"
        assert answer["notes"] == ["zoll looks like German; the model reads English"]
    answer = client.post("/v1/tag", json={"text": ACT}).json()
    assert (answer["language"], answer["notes"]) == ("en", [])


def test_a_threshold_that_is_none_is_told_all_that_it_may_be(client: httpx.Client) -> None:
    answer = client.post("/v1/tag", json={"text": "steel", "threshold": "tunned"})
    assert answer.json()["detail"] == "threshold: input should be a valid number, or 'tuned'"


@pytest.mark.parametrize(
    ("route", "body", "detail"),
    [
        ("/v1/tag", [], "body: input should be an object of JSON"),
        (
            "/v1/tag/batch",
            {"documents": [{"text": "steel"}, "steel"]},
            "documents[1]: input should be an object of JSON",
        ),
        (
            "/v1/tag/batch",
            {"documents": [{"text": "steel"}, {"text": 3}]},
            "documents[1].text: input should be a valid string",
        ),
        ("/v1/tag/batch", {"documents": []}, "documents: list should have at least 1 item, not 0"),
    ],
)
def test_what_is_wrong_is_said_in_words_of_json(
    client: httpx.Client, route: str, body: Any, detail: str
) -> None:
    assert client.post(route, json=body).json()["detail"] == detail


def test_of_marks_without_a_word_nothing_is_said(client: httpx.Client) -> None:
    found = tag(client, text="... — (!)")
    assert (found["predictions"], found["words"]) == ([], 0)
