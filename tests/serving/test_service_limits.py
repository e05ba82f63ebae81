"""Nothing takes it down: too much, too many, too slow, cut off, and not HTTP at all."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from serving_cases import PATIENCE, Held, figure, is_closed, raw, wait_until

from labelwise.methods import Method
from labelwise.serving.limits import Limits
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("serving")


@pytest.fixture
def held(fitted: dict[str, Method]) -> Iterator[Held]:
    method = Held(fitted["exact-match"])
    yield method
    method.go.set()


def source(method: Any) -> list[Servable]:
    return [Servable("model", method=method)]


def test_a_full_queue_answers_503_at_once_and_says_when_to_come_back(
    serve: Callable[..., httpx.Client], held: Held
) -> None:
    client = serve(source(held), limits=Limits(queue=6, max_documents=4, max_wait=0))
    body = {"documents": [{"text": "oranges"}] * 2}
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(client.post, "/v1/tag/batch", json=body) for _ in range(2)]
        wait_until(lambda: figure(client, "labelwise_queue_documents") == 4)
        refused = client.post("/v1/tag", json={"text": "lemons"})  # those that wait are still held
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["type"] == "urn:labelwise:overloaded"
        assert client.get("/health").status_code == 200
        held.go.set()
        assert [one.result().status_code for one in waiting] == [200, 200]
    assert client.post("/v1/tag", json={"text": "lemons"}).status_code == 200
    assert figure(client, 'labelwise_refused_total{reason="overloaded"}') >= 1


def test_requests_that_wait_are_scored_together(
    serve: Callable[..., httpx.Client], held: Held
) -> None:
    client = serve(source(held), limits=Limits(max_batch=8, max_wait=0))
    texts = [f"oranges and import number {n}" for n in range(11)]
    with ThreadPoolExecutor(12) as pool:
        first = pool.submit(client.post, "/v1/tag", json={"text": "lemons"})
        assert held.begun.wait(PATIENCE)
        others = [pool.submit(client.post, "/v1/tag", json={"text": text}) for text in texts]
        wait_until(lambda: figure(client, "labelwise_queue_documents") == 12)
        held.go.set()
        answers = [one.result() for one in [first, *others]]
    assert [one.status_code for one in answers] == [200] * 12
    assert held.batches == [1, 8, 3]
    for text, answer in zip(texts, answers[1:], strict=True):
        alone = client.post("/v1/tag", json={"text": text})
        assert alone.json() == answer.json()


def test_no_answer_in_time_is_504_and_the_service_goes_on(
    serve: Callable[..., httpx.Client], held: Held
) -> None:
    client = serve(source(held), limits=Limits(timeout=0.5))
    answer = client.post("/v1/tag", json={"text": "oranges"})
    assert answer.status_code == 504
    assert answer.json()["type"] == "urn:labelwise:timeout"
    held.go.set()
    wait_until(lambda: client.post("/v1/tag", json={"text": "oranges"}).status_code == 200)


def test_work_for_a_client_that_went_away_is_not_done(
    serve: Callable[..., httpx.Client], held: Held
) -> None:
    client = serve(source(held), limits=Limits(max_wait=0))
    body = json.dumps({"text": "oranges"}).encode()
    head = (
        f"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/v1/tag", json={"text": "lemons"})
        assert held.begun.wait(PATIENCE)
        gone = [raw(client) for _ in range(5)]
        for one in gone:
            one.sendall(head + body)
        wait_until(lambda: figure(client, "labelwise_queue_documents") == 6)
        for one in gone:
            one.close()
        wait_until(lambda: figure(client, "labelwise_cut_total") == 5)
        held.go.set()
        assert first.result().status_code == 200
    wait_until(lambda: figure(client, "labelwise_queue_documents") == 0)
    assert held.batches == [1]


def test_a_body_above_the_limit_is_413_announced_or_not(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(max_body=50_000))
    text = "oranges " * 10_000
    announced = client.post("/v1/tag", json={"text": text})
    assert announced.status_code == 413
    assert announced.json()["detail"] == "the request is larger than the 50,000 bytes that are read"

    def pieces() -> Iterator[bytes]:
        yield b'{"text": "'
        for _ in range(100):
            yield b"oranges " * 100
        yield b'"}'

    chunked = client.post("/v1/tag", content=pieces(), headers={"Content-Type": "application/json"})
    assert chunked.status_code == 413
    assert client.post("/v1/tag", json={"text": "oranges " * 1_000}).status_code == 200


def test_an_endless_body_is_cut_off(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(max_body=50_000, silence=1))
    with raw(client) as made:
        made.sendall(
            b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"

        def is_cut() -> bool:
            try:
                made.sendall(piece * 100)
            except ConnectionError:
                return True
            return False

        wait_until(is_cut)
    assert client.get("/health").status_code == 200
    assert figure(client, "labelwise_body_bytes_held") == 0


def test_too_many_documents_are_refused_with_the_number(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(max_documents=3))
    answer = client.post("/v1/tag/batch", json={"documents": [{"text": "oranges"}] * 4})
    assert answer.status_code == 413
    assert answer.json()["field"] == "documents"
    assert "4 were sent, and 3 are read" in answer.json()["detail"]


def test_a_slow_body_is_408_and_holds_nothing_afterwards(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(timeout=0.5))
    with raw(client) as made:
        made.sendall(
            b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b'Content-Length: 1000\r\n\r\n{"text": "'
        )
        answer = ""
        while "}" not in answer:
            answer += made.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 408")
    assert "urn:labelwise:slow-request" in answer
    assert figure(client, "labelwise_body_bytes_held") == 0


def test_silent_connections_are_closed(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(silence=0.5))
    with raw(client) as nothing, raw(client) as half:
        half.sendall(b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nX-Slow:")
        assert nothing.recv(100) == b""
        assert half.recv(100) == b""


def test_a_client_that_does_not_take_its_answer_is_let_go(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(silence=3))
    text = "The import of fruit from Morocco. " * 240_000
    body = json.dumps({"text": text, "labels": fitted["exact-match"].label_space.ids[:1]}).encode()
    with raw(client) as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.sendall(
            b"POST /v1/evidence HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        wait_until(lambda: figure(client, "labelwise_requests_under_way") == 2)
        # the answer repeats the sections: far more than the buffers of a connection take
        wait_until(lambda: figure(client, "labelwise_requests_under_way") == 1)


def test_more_connections_than_allowed_are_turned_away(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(connections=8))
    made = [raw(client) for _ in range(20)]
    try:
        wait_until(lambda: sum(map(is_closed, made)) >= 12)
        open_ones = [one for one in made if not is_closed(one)]
        assert open_ones, "those within the limit are served"
        open_ones[0].setblocking(True)
        open_ones[0].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert open_ones[0].recv(12) == b"HTTP/1.1 200"
    finally:
        for one in made:
            one.close()
    wait_until(lambda: client.get("/health").status_code == 200)


def test_bodies_held_at_a_time_are_bounded_whoever_sends_them(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(source(fitted["exact-match"]), limits=Limits(max_body=1_000_000))
    made = [raw(client) for _ in range(8)]
    head = (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 999999\r\n\r\n"
    )
    try:
        for one in made:
            one.sendall(head + b" " * 900_000)
        wait_until(lambda: figure(client, 'labelwise_refused_total{reason="overloaded"}') >= 4)
        assert figure(client, "labelwise_body_bytes_held") <= 4_000_000
    finally:
        for one in made:
            one.close()
    wait_until(lambda: figure(client, "labelwise_body_bytes_held") == 0)
    assert client.post("/v1/tag", json={"text": "oranges"}).status_code == 200


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\x00\x01\x02\x03" * 1000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 500,  # a TLS greeting
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"b" * 200_000 + b"\r\n\r\n",
        b"NOT HTTP\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",  # no host
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/tag HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    ],
    ids=["bytes", "tls", "long line", "long header", "words", "no host", "negative", "two lengths"],
)
def test_what_is_no_http_is_answered_400_and_closed(rubbish: bytes, client: httpx.Client) -> None:
    with raw(client) as made:
        try:
            made.sendall(rubbish)
        except ConnectionError:
            return  # refused before it was all sent
        answer = b""
        try:
            while piece := made.recv(65536):
                answer += piece
        except ConnectionError:
            pass
    assert not answer or answer.startswith(b"HTTP/1.1 400")
    if answer:
        assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["type"] == "urn:labelwise:bad-request"
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{", "body"),
        (b"\xff\xfe\x00rubbish", "body"),
        (b"[" * 200_000, "body"),
        (b'{"a":' * 50_000, "body"),
        (b"null", "body"),
        (b'"text"', "body"),
        (b'{"text": null}', "body"),
        (b'{"text": ["oranges"]}', "text"),
        (b'{"text": "oranges", "top": 0}', "top"),
        (b'{"text": "oranges", "top": 1e400}', "top"),
        (b'{"text": "oranges", "top": "5"}', "top"),
        (b'{"text": "oranges", "threshold": NaN}', "threshold"),
        (b'{"text": "oranges", "threshold": "high"}', "threshold"),
        (b'{"text": "oranges", "exclude": "1309"}', "exclude"),
        (b'{"text": "oranges", "exclude": ["1309", 5]}', "exclude[1]"),
        (b'{"text": "half a character: \\ud800"}', "text"),
        (b'{"sections": [{"kind": "chapter", "text": "x"}]}', "sections[0].kind"),
        (b'{"sections": [{"kind": "article"}]}', "sections[0].text"),
        (b'{"text": "a", "sections": []}', "body"),
        (b'{"text": "oranges", "modle": "svm"}', "modle"),
    ],
)
def test_a_wrong_body_is_422_and_names_the_field(
    body: bytes, field: str, client: httpx.Client
) -> None:
    answer = client.post("/v1/tag", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == "urn:labelwise:invalid"
    assert problem.get("field") == field
    assert field in problem["detail"]


def test_another_content_type_is_415(client: httpx.Client) -> None:
    answer = client.post("/v1/tag", content=b'{"text": "oranges"}', headers={"Content-Type": "x/y"})
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]


def test_fifty_thousand_words_and_one_gigantic_line(client: httpx.Client) -> None:
    long = "The import of citrus fruit from third countries " * 6_250
    line = "orange" * 1_000_000
    for text in (long, line):
        answer = client.post("/v1/tag", json={"text": text, "top": 2})
        assert answer.status_code == 200
        assert len(answer.json()["predictions"]) == 2


def test_memory_comes_back_after_many_large_requests(client: httpx.Client) -> None:
    body = json.dumps({"text": "The import of citrus fruit. " * 20_000, "top": 1}).encode()
    headers = {"Content-Type": "application/json"}
    for _ in range(3):
        client.post("/v1/tag", content=body, headers=headers)
    before = figure(client, "process_resident_memory_bytes")
    for _ in range(10):
        assert client.post("/v1/tag", content=body, headers=headers).status_code == 200
    assert figure(client, "process_resident_memory_bytes") < before + 60_000_000
