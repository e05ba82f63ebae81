"""What the tests of the service share: an act, and services on a free port of loopback."""

from __future__ import annotations

import functools
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from httpx._transports import default as transports

from labelwise.corpus.document import Document
from labelwise.methods import Method
from labelwise.methods.base import Scores
from labelwise.serving.models import Servable
from labelwise.serving.server import Server

MODELS = ("svm", "exact-match", "z-cnn-lwan")

ACT = """COMMISSION REGULATION (EC) No 12/2001
of 5 January 2001
fixing the import duties on citrus fruit
THE COMMISSION OF THE EUROPEAN COMMUNITIES,
Having regard to the Treaty establishing the European Community,
Whereas the market in citrus fruit is in need of support,
HAS ADOPTED THIS REGULATION:
Article 1
The import duty on oranges and lemons shall be fixed every week.
Article 2
This Regulation shall enter into force on the day of its publication.
Done at Brussels, 5 January 2001.
"""
"""Written for these tests."""


PATIENCE = 240.0
"""Seconds that a test waits for what must come: long, for a machine may be busy."""

for _part in ("connect", "read", "write", "pool"):  # what httpx.get and its like wait by themselves
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, _part, PATIENCE)

# Every client reads all certificates again, which takes longer than what it is asked for.
transports.create_ssl_context = functools.cache(transports.create_ssl_context)


@contextmanager
def served(wanted: list[Servable], **options: Any) -> Iterator[httpx.Client]:
    """A service on a free port, with a client of its address; ended as by a signal."""
    server = Server(wanted, port=0, **options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    with httpx.Client(base_url=server.address, timeout=PATIENCE) as client:
        try:
            wait_until(lambda: server.started and client.get("/ready").status_code == 200)
            yield client
        finally:
            server.stop()
            thread.join(PATIENCE)
    assert not thread.is_alive(), "the service did not end"


def wait_until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class Held:
    """A method whose scores wait until they are let go."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.go = threading.Event()
        self.begun = threading.Event()
        self.batches: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)

    def scores(self, documents: Sequence[Document]) -> Scores:
        self.begun.set()
        self.batches.append(len(documents))
        assert self.go.wait(PATIENCE)
        return self.method.scores(documents)


def figure(client: httpx.Client, start: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return next((float(x.rsplit(" ", 1)[1]) for x in lines if x.startswith(start)), 0.0)


def raw(client: httpx.Client) -> socket.socket:
    """A bare connection to the service."""
    return socket.create_connection((client.base_url.host, client.base_url.port or 80), PATIENCE)


def is_closed(made: socket.socket) -> bool:
    """Whether the other side has ended a bare connection on which nothing is to be read."""
    made.setblocking(False)
    try:
        return made.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
