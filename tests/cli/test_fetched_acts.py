"""``labelwise data fetch cellar`` on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cellar_server import Server, in_the_place_of_cellar

ACT = (Path(__file__).parents[1] / "corpus" / "files" / "oj_2024.xhtml").read_bytes()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with in_the_place_of_cellar(monkeypatch) as state:
        yield state


def test_a_summary_names_what_was_left_out(
    labelwise: Callable, server: Server, tmp_path: Path
) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    server.add("32016R0002", date="2016-01-05", concepts=())
    server.add("32016R0003", date="2016-01-05", title=None)
    asked = ("data", "fetch", "cellar", "--from", 2016, "--to", 2017, "--rate", 10)
    called = labelwise(*asked, "--out", tmp_path / "acts")
    assert called.code == 0
    assert "no English text" in called.out
    assert "left out, Cellar has no English version: 32016R0003" in called.err
    assert "left out, no EUROVOC concepts yet: 32016R0002" in called.err
    again = labelwise(*asked, "--out", tmp_path / "acts", "--json").json
    assert [year["there"] for year in again["years"]] == [1, 0]
    assert again["years"][0]["no_concepts"] == ["32016R0002"]
    described = labelwise("data", "describe", tmp_path / "acts", "--json").json
    assert described["splits"]["all"]["documents"] == 1


def test_a_limit_says_how_to_go_on(labelwise: Callable, server: Server, tmp_path: Path) -> None:
    for number in (1, 2):
        server.add(f"32016R{number:04d}", date="2016-01-05", text=ACT)
    years = ("--from", 2016, "--to", 2016, "--rate", 10, "--limit", 1)
    called = labelwise("data", "fetch", "cellar", *years, "--out", tmp_path)
    assert "stopped after 1 acts (--limit); the same command goes on from there" in called.err


def test_a_wrong_call_is_one_sentence(labelwise: Callable, tmp_path: Path) -> None:
    called = labelwise("data", "fetch", "cellar", "--out", tmp_path)
    assert called.code == 1
    assert "cellar needs the years to fetch: --from 2016 --to 2026" in called.err
    called = labelwise("data", "fetch", "eurlex57k", "--limit", 5, "--out", tmp_path)
    assert "--limit is for cellar: eurlex57k is fetched whole" in called.err
