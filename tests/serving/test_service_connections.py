"""Connections: who takes an answer slowly but steadily gets it, and so does who has stopped
sending."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from serving_cases import PATIENCE, Held, figure, raw, wait_until

from labelwise.methods import Method
from labelwise.serving import connections
from labelwise.serving.connections import GuardedProtocol, unsent
from labelwise.serving.limits import Limits
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("serving")


@pytest.fixture
def held(fitted: dict[str, Method]) -> Iterator[Held]:
    method = Held(fitted["exact-match"])
    yield method
    method.go.set()


def test_a_client_that_closes_its_side_still_gets_its_answer(
    serve: Callable[..., httpx.Client], held: Held
) -> None:
    client = serve([Servable("model", method=held)], limits=Limits(max_wait=0))
    body = json.dumps({"text": "oranges", "top": 1}).encode()
    with raw(client) as made:
        made.sendall(
            b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        assert held.begun.wait(PATIENCE)
        made.shutdown(socket.SHUT_WR)
        go_on = made.recv(100)  # the service has seen it, and went on
        assert go_on == b"HTTP/1.1 100 Continue\r\n\r\n"
        held.go.set()
        answer = b""
        while piece := made.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["predictions"]
    assert figure(client, "labelwise_cut_total") == 0


def test_half_a_request_behind_a_whole_one_is_not_waited_for(
    serve: Callable[..., httpx.Client], held: Held
) -> None:
    client = serve([Servable("model", method=held)], limits=Limits(max_wait=0))
    body = json.dumps({"text": "oranges", "top": 1}).encode()
    head = (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + f"Content-Length: {len(body)}\r\n\r\n".encode()
    )
    with raw(client) as made:
        made.sendall(head + body + head + body[:10])
        assert held.begun.wait(PATIENCE)
        made.shutdown(socket.SHUT_WR)
        assert made.recv(100).startswith(b"HTTP/1.1 100")
        held.go.set()
        answer = b""
        while piece := made.recv(65536):
            answer += piece
    assert answer.count(b"HTTP/1.1 200") == 1
    assert held.batches == [1]


def test_a_client_that_closes_its_side_before_its_body_ends_is_let_go(
    client: httpx.Client,
) -> None:
    before = figure(client, "labelwise_cut_total")
    with raw(client) as made:
        made.sendall(b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        made.shutdown(socket.SHUT_WR)
        assert made.recv(100) == b""
    wait_until(lambda: figure(client, "labelwise_cut_total") == before + 1)


class Clock:
    """A loop whose timers are let off by hand."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []

    def call_later(self, delay: float, call: Callable[..., None], *given: Any) -> SimpleNamespace:
        self.timers.append((delay, call, given))
        return SimpleNamespace(cancel=self.timers.clear)

    def strike(self) -> float:
        delay, call, given = self.timers.pop()
        call(*given)
        return delay


def waiting_protocol(clock: Clock, aborted: list[bool]) -> Any:
    protocol = GuardedProtocol.__new__(GuardedProtocol)
    protocol.loop = clock  # type: ignore[assignment]
    protocol.transport = SimpleNamespace(  # type: ignore[assignment]
        get_write_buffer_size=lambda: 1_000_000,
        get_extra_info=lambda name: None,
        abort=lambda: aborted.append(True),
    )
    protocol.flow = SimpleNamespace(pause_writing=lambda: None)  # type: ignore[assignment]
    return protocol


def test_a_client_that_takes_what_the_system_holds_for_it_is_not_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = [500_000, 400_000, 399_999, 399_999]
    monkeypatch.setattr(connections, "unsent", lambda connection: left.pop(0))
    clock, aborted = Clock(), list[bool]()
    waiting_protocol(clock, aborted).pause_writing()
    for _ in range(2):
        left.insert(1, left[0])  # looked at, and then looked at from there
        assert clock.strike() == Limits().silence
        assert not aborted


def test_a_client_that_takes_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "unsent", lambda connection: 500_000)
    clock, aborted = Clock(), list[bool]()
    waiting_protocol(clock, aborted).pause_writing()
    clock.strike()
    assert aborted == [True]


def test_what_the_system_holds_for_a_client_gets_less_when_it_reads() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        reader = socket.create_connection(listening.getsockname())
        writer, _ = listening.accept()
        with reader, writer:
            writer.setblocking(False)
            assert unsent(writer) == 0
            with suppress(BlockingIOError):
                while True:
                    writer.send(bytes(65536))
            full = unsent(writer)
            assert full > 0

            def less() -> bool:
                reader.recv(65536)
                return unsent(writer) < full

            wait_until(less)
    assert unsent(writer) == 0  # closed: nothing to tell
