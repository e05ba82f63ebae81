"""``labelwise tag`` and ``explain`` with the name of an act in place of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cellar_server import Server, in_the_place_of_cellar

from labelwise.corpus import cellar
from labelwise.corpus.cellar_service import Service

ACT = (Path(__file__).parents[1] / "corpus" / "files" / "oj_2024.xhtml").read_bytes()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with in_the_place_of_cellar(monkeypatch) as state:
        state.add("32016R0001", date="2016-01-05", text=ACT)
        yield state


@pytest.mark.parametrize("name", ["32016R0001", "http://data.europa.eu/eli/reg/2016/1/oj"])
def test_an_act_is_tagged_by_its_name(
    labelwise: Callable, server: Server, bundle: Path, name: str
) -> None:
    called = labelwise("tag", name, "--bundle", bundle, "--json")
    assert called.code == 0, called.err
    assert [one["document"] for one in called.json] == ["32016R0001"]
    assert called.json[0]["predictions"]
    assert "32016R0001 is fetched from the Publications Office" in called.err


def test_a_file_of_that_name_is_the_file(
    labelwise: Callable,
    server: Server,
    bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("32016R0001").write_text("Oranges and lemons.")
    assert labelwise("tag", "32016R0001", "--bundle", bundle, "--json").code == 0
    assert server.requests == []


def test_an_act_that_is_not_there_can_be_skipped(
    labelwise: Callable, server: Server, bundle: Path
) -> None:
    asked = ("tag", "32016R0002", "32016R0001", "--bundle", bundle, "--json")
    called = labelwise(*asked)
    assert called.code == 1
    assert "32016R0002: cannot be fetched: Cellar has no English text" in called.err
    called = labelwise(*asked, "--skip-bad")
    assert [one["document"] for one in called.json] == ["32016R0001"]
    assert "skipped 1 record" in called.err


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://example.org/act.html", "only addresses of EUR-Lex that name an act are fetched"),
        ("https://eur-lex.europa.eu/homepage.html", "names no act by its CELEX number or ELI"),
    ],
)
def test_another_address_is_told_as_it_was_typed(
    labelwise: Callable, server: Server, bundle: Path, address: str, told: str
) -> None:
    for command in ("tag", "explain"):
        called = labelwise(command, address, "--bundle", bundle)
        assert called.code == 1
        assert called.err.startswith(f"labelwise: {address}: {told}")
    assert server.requests == []


def test_without_a_network_it_is_one_sentence(
    labelwise: Callable, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(cellar, "SERVICE", Service(content="http://127.0.0.1:9/"))
    called = labelwise("explain", "32016R0679", "--bundle", bundle)
    assert called.code == 1
    assert "without a network, give the file of the act" in called.err
    assert "Traceback" not in called.err
