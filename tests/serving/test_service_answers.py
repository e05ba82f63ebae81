"""Answers are bounded, and long ones are made piece by piece as they are taken."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from threads_apart import apart

from labelwise.evidence.heat import MOST
from labelwise.methods.base import Evidence
from labelwise.methods.spans import Span
from labelwise.serving import answers
from labelwise.serving.answers import in_pieces
from labelwise.serving.explaining import REMEMBERED, _Sections
from labelwise.serving.problems import ProblemError
from labelwise.serving.routes import annif, tag
from labelwise.serving.shapes import Prediction

pytestmark = pytest.mark.xdist_group("serving")


class Entry(BaseModel):
    number: int


def pieces_of(response: Any, most: int) -> list[str]:
    """The first pieces of an answer."""
    assert isinstance(response, StreamingResponse)

    async def taken() -> list[str]:
        found: list[str] = []
        pieces: AsyncIterator[Any] = response.body_iterator  # type: ignore[assignment]
        while len(found) < most:
            try:
                found.append(await anext(pieces))
            except StopAsyncIteration:
                break
        return found

    return apart(asyncio.run, taken())


def entries(made: list[tuple[int, str]], count: int) -> list[Callable[[], BaseModel]]:
    def make(number: int) -> BaseModel:
        made.append((number, threading.current_thread().name))
        return Entry(number=number)

    return [lambda number=number: make(number) for number in range(count)]  # type: ignore[misc]


def test_a_long_answer_is_made_as_it_is_taken_and_never_on_the_event_loop() -> None:
    made: list[tuple[int, str]] = []
    response = in_pieces(entries(made, 100), each=answers.PIECE // 2)
    pieces = pieces_of(response, 3)
    assert pieces[0] == "["
    assert [number for number, _ in made] == [0, 1, 2, 3]
    assert all(name.startswith("asyncio_") for _, name in made)


def test_the_pieces_together_are_one_json_object() -> None:
    response = in_pieces(
        entries([], 5), each=answers.PIECE, before=[("model", "é")], name="all", after=[("n", [1])]
    )
    whole = json.loads("".join(pieces_of(response, 100)))
    assert whole == {"model": "é", "all": [{"number": n} for n in range(5)], "n": [1]}
    assert list(whole) == ["model", "all", "n"]
    assert json.loads("".join(pieces_of(in_pieces([], each=0), 100))) == []


def test_a_batch_that_asks_for_too_many_labels_is_refused_before_it_is_read(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tag, "MOST_PREDICTED", 100)
    body = {"documents": [{"text": "oranges"}] * 21, "top": 5}
    answer = client.post("/v1/tag/batch", json=body)
    assert answer.status_code == 413
    assert answer.json()["field"] == "top"
    assert "105 labels, and 100 are answered at a time" in answer.json()["detail"]
    body["documents"] = body["documents"][:20]  # type: ignore[index]
    assert len(client.post("/v1/tag/batch", json=body).json()["documents"]) == 20


def test_so_is_one_of_annif(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annif, "MOST_SUGGESTED", 10)
    body = {"documents": [{"text": "oranges"}] * 3}
    answer = client.post("/v1/projects/svm/suggest-batch?limit=5", json=body)
    assert answer.status_code == 413
    assert answer.json()["field"] == "limit"
    assert len(client.post("/v1/projects/svm/suggest-batch?limit=3", json=body).json()) == 3


def test_a_hundred_documents_with_a_thousand_labels_each_are_too_many() -> None:
    with pytest.raises(ProblemError, match="100,000 labels"):
        answers.check_length(100 * 1_000, answers.MOST_PREDICTED, "labels", field="top")
    answers.check_length(100 * 200, answers.MOST_PREDICTED, "labels", field="top")


@pytest.mark.parametrize(
    ("route", "options", "field"),
    [
        ("/v1/evidence", {"by_section": True}, "by_section"),
        ("/v1/evidence/stream", {"by_section": True}, "by_section"),
        ("/v1/tag/stream", {"section_top": 100}, "section_top"),
        ("/v1/tag/stream", {"top": 1000}, "top"),
    ],
)
def test_twenty_thousand_sections_are_not_explained_one_by_one(
    route: str, options: dict[str, Any], field: str, client: httpx.Client
) -> None:
    sections = [{"kind": "article", "text": "fig"}] * 20_000
    body = {"sections": sections, "model": "exact-match", **options}
    answer = client.post(route, json=body)
    assert answer.status_code == 413, answer.text[:300]
    assert answer.json()["field"] == field


def test_of_many_sections_as_much_evidence_is_kept_as_of_one_document() -> None:
    found = _Sections(Prediction.model_construct(id="693", score=0.5), 0)
    scores = np.ones(1, dtype=np.float32)
    words = 2_000
    for number in range(30):
        spans = tuple(
            Span(5 * word, 5 * word + 4, 0.5 + word / (4 * words) + number / 1000)
            for word in range(words)
        )
        found.add(number, number * 5 * words, Evidence("693", "contribution", spans), scores)
        assert found._runs <= 2 * MOST + words
        assert len(found._spans) <= 2 * REMEMBERED
    shown = found.shown("figs " * words * 30)
    runs = [run for section in shown.sections for run in section.spans]
    assert len(runs) == MOST
    assert shown.left_out == 30 * words - MOST
    assert min(run.weight for run in runs) > 0.74  # the strongest ones
    assert len(shown.sections) == 30
