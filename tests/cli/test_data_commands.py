"""``labelwise data``: describe and make (fetch has its own tests beside its downloader)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def test_describe_gives_a_table_and_the_same_as_json(labelwise: Callable, corpus: Path) -> None:
    found = labelwise("data", "describe", corpus, "--json").json
    assert {name: split["documents"] for name, split in found["splits"].items()} == {
        "train": 300,
        "dev": 60,
        "test": 60,
    }
    table = labelwise("data", "describe", corpus)
    assert table.code == 0
    assert "300" in table.out
    assert max(map(len, table.out.splitlines())) <= 80


def test_the_data_may_come_from_the_environment(
    labelwise: Callable, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELWISE_DATA", str(corpus))
    assert labelwise("data", "describe", "--json").json["name"] == "synthetic"


@pytest.mark.parametrize("name", ["labels.svg", "labels.png"])
def test_the_figure_is_drawn(labelwise: Callable, corpus: Path, tmp_path: Path, name: str) -> None:
    called = labelwise("data", "describe", corpus, "--json", "--figure", tmp_path / name)
    assert called.json
    assert (tmp_path / name).stat().st_size > 1000


def test_bad_lines_stop_or_are_counted(labelwise: Callable, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    lines = (corpus / "dev.jsonl").read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:5], "{", *lines[5:8]]), "utf-8")
    stopped = labelwise("data", "describe", path)
    assert stopped.code == 1
    assert f"{path}, line 6" in stopped.err
    went_on = labelwise("data", "describe", path, "--json", "--skip-bad")
    assert went_on.json["splits"]["all"]["documents"] == 8
    assert sum(went_on.json["skipped"].values()) == 1
    assert went_on.err


def test_make_writes_the_same_files_for_the_same_seed(labelwise: Callable, tmp_path: Path) -> None:
    sizes = ("--train", 20, "--dev", 5, "--test", 5)
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        called = labelwise(
            "data", "make", "--out", tmp_path / name, "--seed", seed, *sizes, "--json"
        )
        assert called.json["documents"] == {"train": 20, "dev": 5, "test": 5}
    a, b, c = ((tmp_path / name / "train.jsonl").read_bytes() for name in "abc")
    assert a == b != c
    assert a.count(b"\n") == 20


def test_an_unknown_data_set_is_answered_with_the_known_ones(labelwise: Callable) -> None:
    called = labelwise("data", "fetch", "eurlex4k")
    assert called.code == 1
    assert "eurlex57k" in called.err
