"""No other site asks through somebody's browser, and no request hides in another."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable

import httpx
import pytest
from serving_cases import PATIENCE, raw

from labelwise.methods import Method
from labelwise.serving.limits import Limits
from labelwise.serving.models import Servable
from labelwise.serving.problems import ProblemError
from labelwise.serving.sites import check_site

pytestmark = pytest.mark.xdist_group("serving")


def asked(method: str = "POST", *, loopback: bool = True, **headers: str) -> None:
    given = {name.replace("_", "-").encode(): text.encode() for name, text in headers.items()}
    check_site(method, given, loopback=loopback, names=frozenset({"labels.example.org"}))


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "127.9.9.9", "[::1]:80"]
)
def test_on_loopback_the_names_of_this_machine_are_answered(host: str) -> None:
    asked("GET", host=host)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", ""],
)
def test_on_loopback_another_name_is_refused(host: str) -> None:
    with pytest.raises(ProblemError, match="--site") as caught:
        asked("GET", host=host)
    assert caught.value.problem.status == 403
    asked("GET", host=host, loopback=False)  # others may reach it by whatever name it has


def test_the_name_of_a_proxy_is_answered_where_it_was_given() -> None:
    asked(host="labels.example.org", origin="https://labels.example.org")
    asked(host="127.0.0.1:8000", origin="https://labels.example.org")


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:9000", "http://127.0.0.1", "http://[", ""],
)
def test_a_post_from_another_origin_is_refused(origin: str) -> None:
    with pytest.raises(ProblemError, match="another site"):
        asked(host="localhost:8000", origin=origin)
    asked("GET", host="localhost:8000", origin=origin)


def test_a_post_from_the_page_itself_or_from_no_browser_is_answered() -> None:
    asked(host="localhost:8000", origin="http://localhost:8000")
    asked(host="localhost:8000")
    asked(host="127.0.0.1:8000", origin="https://tls.example", sec_fetch_site="same-origin")


def test_a_length_beside_pieces_is_the_last_request_of_its_connection(
    client: httpx.Client,
) -> None:
    with raw(client) as made:
        made.sendall(
            b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        answer = b""
        while piece := made.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 405")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_client_that_takes_its_answer_slowly_but_steadily_gets_all_of_it(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    source = Servable("model", method=fitted["exact-match"])
    client = serve([source], limits=Limits(silence=1))
    text = "The import of fruit from Morocco. " * 60_000
    body = json.dumps({"text": text, "top": 1}).encode()
    address = (client.base_url.host, client.base_url.port or 80)
    with socket.socket() as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(PATIENCE)
        made.connect(address)
        made.sendall(
            b"POST /v1/evidence HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        got = len(made.recv(1000))
        began = time.monotonic()
        while piece := made.recv(65536):
            got += len(piece)
            if time.monotonic() - began < 4:  # four times the silence that is allowed
                time.sleep(0.1)
    assert got > len(text)
