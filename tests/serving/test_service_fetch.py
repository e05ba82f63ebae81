"""Acts by their names: off unless allowed, from the allowed hosts alone, told in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from cellar_server import Server, running

from labelwise.corpus import cellar
from labelwise.corpus.readers import read
from labelwise.errors import LabelwiseError
from labelwise.methods import Method
from labelwise.serving.fetching import allowed_hosts
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("serving")

PAGE = Path(__file__).parent.parent / "corpus" / "files" / "oj_2024.xhtml"


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with running() as state:
        monkeypatch.setattr(cellar, "SERVICE", state.service)
        state.add("32016R0001", date="2016-01-05", text=PAGE.read_bytes())
        yield state


def fetch(client: httpx.Client, act: str) -> httpx.Response:
    return client.post("/v1/fetch", json={"act": act})


def test_no_act_is_fetched_unless_that_was_allowed(client: httpx.Client, office: Server) -> None:
    answer = fetch(client, "32016R0001")
    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:labelwise:no-fetching"
    assert office.requests == []


def test_an_allowed_act_comes_as_its_file_would(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method], office: Server
) -> None:
    client = serve(
        [Servable("exact-match", method=fitted["exact-match"])], fetch_from=frozenset({"127.0.0.1"})
    )
    (page,) = read(PAGE)
    for name in ("32016R0001", "http://data.europa.eu/eli/reg/2016/1/oj"):
        answer = fetch(client, name)
        assert answer.status_code == 200, answer.text
        (found,) = answer.json()["documents"]
        assert (found["id"], found["title"]) == ("32016R0001", page.title)
        assert [one["text"] for one in found["sections"]] == [one.text for one in page.sections]
    for name, status, kind in (
        ("http://127.0.0.1/32016R0001", 422, "invalid"),
        ("https://eur-lex.europa.eu/about", 422, "invalid"),
        ("32016R0002", 404, "unknown-act"),
    ):
        answer = fetch(client, name)
        assert answer.status_code == status, answer.text
        assert answer.json()["type"] == f"urn:labelwise:{kind}"
        assert answer.json()["field"] == "act"
    office.moved = office.service.content.replace("127.0.0.1", "localhost")
    asked = len(office.requests)
    answer = fetch(client, "32016R0001")
    assert answer.status_code == 502
    assert answer.json()["type"] == "urn:labelwise:unreachable"
    assert len(office.requests) == asked


def test_a_list_without_the_content_service_is_refused() -> None:
    with pytest.raises(LabelwiseError, match="--fetch-from must name publications"):
        allowed_hosts(["eur-lex.europa.eu"])
    assert allowed_hosts(["publications.europa.eu"]) == {"publications.europa.eu"}
