"""A body is judged in bounded time and memory, apart from everybody's answers."""

from __future__ import annotations

import json
import threading
import tracemalloc
from typing import Any

import pytest
from pydantic import TypeAdapter

from labelwise.serving import bodies
from labelwise.serving.annif_shapes import BatchRequest
from labelwise.serving.bodies import MOST_FIELDS, judged
from labelwise.serving.problems import ProblemError
from labelwise.serving.shapes import DocumentText, TagBatchRequest, TagRequest


def refused(shape: Any, value: object) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        judged(TypeAdapter(shape), shape, json.dumps(value).encode())
    return caught.value


def test_a_million_unknown_fields_are_not_looked_at() -> None:
    section = {"kind": "article", "text": "x"} | {f"unknown{n}": 1 for n in range(60)}
    data = json.dumps({"sections": [section] * 20_000}).encode()
    tracemalloc.start()
    try:
        with pytest.raises(ProblemError) as caught:
            judged(TypeAdapter(TagRequest), TagRequest, data)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert caught.value.problem.status == 413
    assert "more than 100,000 fields" in caught.value.problem.detail


@pytest.mark.parametrize(
    ("shape", "value", "field"),
    [
        (TagRequest, {"text": "x", **{f"u{n}": n for n in range(50_000)}}, "u0"),
        (TagRequest, {"sections": [{"kind": "no"}] * 20_000}, "sections[0].text"),
        (TagRequest, {"text": "x", "include": [1] * 20_000}, "include[0]"),
        (TagRequest, {"sections": [{"kind": "article", "text": "x", "y": 1}]}, "sections[0].y"),
        (TagBatchRequest, {"documents": [{"text": "x"}, {"txt": 1}] * 9_000}, "documents[1].txt"),
        (TagBatchRequest, {"documents": [{"text": 1}] * 9_000}, "documents[0].text"),
        (BatchRequest, {"documents": [{"text": 1}] * 30}, "documents[0].text"),
    ],
)
def test_it_stops_at_the_first_error(
    shape: Any, value: object, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    problem = bodies.fields.problem

    def counted(errors: Any) -> ProblemError:
        seen.append(len(errors))
        return problem(errors)

    monkeypatch.setattr(bodies.fields, "problem", counted)
    found = refused(shape, value).problem
    assert found.status == 422
    assert found.field == field or found.field == field.rpartition(".")[0] + ".kind"
    assert seen[0] <= 3


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"top": ' + b"1" * 5000 + b"}", "a number has too many digits"),
        (b"[" * 200_000, "brackets are nested too deeply"),
        (b'{"text": "\xff"}', "it is not UTF-8"),
        (b"{", "Expecting property name"),
    ],
)
def test_what_is_no_json_is_told_why(data: bytes, reason: str) -> None:
    with pytest.raises(ProblemError, match=reason) as caught:
        judged(TypeAdapter(TagRequest), TagRequest, data)
    assert (caught.value.problem.status, caught.value.problem.field) == (422, "body")


def test_as_many_fields_as_a_long_act_has_are_read() -> None:
    sections = [{"kind": "article", "text": 'a "b": c'}] * 20_000
    data = json.dumps({"sections": sections}).encode()
    assert data.count(b'":') < MOST_FIELDS
    assert len(judged(TypeAdapter(DocumentText), DocumentText, data).sections or ()) == 20_000


def test_no_body_is_judged_on_the_event_loop(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    where: list[str] = []
    parsed = bodies.judged

    def noted(*given: Any) -> Any:
        where.append(threading.current_thread().name)
        return parsed(*given)

    monkeypatch.setattr(bodies, "judged", noted)
    assert client.post("/v1/tag", json={"text": "oranges"}).status_code == 200
    assert where
    assert all(name.startswith("asyncio_") for name in where)
