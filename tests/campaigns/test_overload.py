"""Load that does not wait for answers, and what it tells of a service."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from threads_apart import apart

from labelwise.bench.load import Request
from labelwise.bench.results import read_result, write_result
from labelwise.campaigns import overload
from labelwise.campaigns.open_load import Asked, Borne, bear
from labelwise.campaigns.overload import memory_over_time

ACT = Request("/v1/suggest", b"text=figs", "application/x-www-form-urlencoded")


class Handler(BaseHTTPRequestHandler):
    """Good to the first five requests, busy for the next, and then it hangs up."""

    asked: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.asked.append((self.client_address[0], body))
        if len(self.asked) > 10:
            self.close_connection = True
            return
        self.send_response(200 if len(self.asked) <= 5 else 503)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    Handler.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join()


def test_requests_come_from_many_addresses_and_each_is_counted_once(
    server: ThreadingHTTPServer,
) -> None:
    borne = apart(bear, server.server_port, [ACT], rate=100.0, seconds=0.195)
    assert len(borne.asked) == len(Handler.asked) == 20
    assert {body for _, body in Handler.asked} == {b"text=figs"}
    assert len({address for address, _ in Handler.asked}) == 16
    shares = [borne.share(range(200, 201)), borne.share(range(503, 504)), borne.share(range(1))]
    assert shares == [0.25, 0.25, 0.5]
    assert len(borne.accepted) == 5


def test_a_service_that_gives_no_good_answer_has_no_latency() -> None:
    borne = Borne(2.0, [Asked(503, 0.1), Asked(0, 30.0)])
    assert (borne.rate, borne.wait(50)) == (0.0, None)


def test_memory_is_looked_at_within_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overload, "EVERY", 0.001)
    looked = threading.Event()
    sizes = iter([10, 11, 12])

    def size(_: int) -> int:
        found = next(sizes, 12)
        if found == 12:
            looked.set()
        return found

    monkeypatch.setattr(overload, "memory_of", size)
    with memory_over_time(os.getpid()) as memory:
        assert looked.wait(60)
    assert memory[:3] == [10, 11, 12]


def test_the_tables_can_be_read_back(tmp_path: Path) -> None:
    sides = {overload.OURS: (0, os.getpid()), overload.PEER: (0, os.getpid())}
    good = Borne(1.0, [Asked(200, 0.1)] * 3 + [Asked(503, 0.01)])
    able = dict.fromkeys(sides, 10.0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(overload, "bear", lambda *_: good)
        tables = [
            overload._overload(sides, [ACT], able, 5.0),
            overload._soak(sides, [ACT], able, 30.0),
        ]
    assert "40.0 requests a second" in tables[0]["text"]
    assert tables[0]["rows"][0]["refused"] == 0.25
    assert tables[1]["rows"][0]["grown"] == pytest.approx(1.0, rel=0.2)
    read_result(write_result(tmp_path, "overload", {"what": "x", "tables": tables}))
