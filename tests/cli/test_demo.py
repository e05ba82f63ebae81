"""``labelwise demo``: the main job first, then the whole way, and what is synthetic is said so."""

from __future__ import annotations

import functools
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise.cli.demo import WRITTEN, _act_of_eu_law
from labelwise.corpus import synthetic
from labelwise.corpus.synthetic import make_dataset


def test_the_demo_tags_an_act_trains_a_network_and_names_commands_that_work(
    labelwise: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    fewer = functools.partial(make_dataset, train=500, dev=60, test=60)  # what is said is the same
    monkeypatch.setattr(synthetic, "make_dataset", fewer)
    out = tmp_path / "demo"
    called = labelwise("demo", "--out", out)
    assert called.code == 0, called.err
    shipped, _, rest = called.out.partition("2. ")
    assert "catch quota" in shipped  # what the model of the package says of our own act
    assert "because of" in shipped
    assert "Written for labelwise" in (out / "explained.html").read_text("utf-8")
    assert "synthetic" in rest.lower()
    assert "chance" in rest
    for group in ("frequent", "few-shot", "zero-shot"):
        assert group in rest
    page = (out / "synthetic.html").read_text("utf-8")
    assert "A synthetic act" in page
    assert "Gold labels:" in page
    assert "<mark" in page
    for name in ("exact-match", "svm", "z-cnn-lwan"):
        assert (out / f"{name}.bundle").is_dir()
        assert (out / "results" / "synthetic" / name / "seed-0.json").is_file()
    assert max(len(line) for line in called.out.splitlines() if str(out) not in line) <= 80
    assert called.out.splitlines()[-1].startswith("labelwise serve")

    suggested = [line.split(" #")[0].split() for line in called.out.splitlines()]
    suggested = [words[1:] for words in suggested if words[:1] == ["labelwise"]]
    assert [words[0] for words in suggested] == (
        ["tag", "explain", "compare", "train", "data", "serve"]
    )
    for words in suggested[:3]:
        assert labelwise(*words).code == 0


def test_where_the_real_data_is_the_demo_tags_a_real_act(real_data: Path) -> None:
    act, note = _act_of_eu_law()
    assert act.id.startswith("3")
    assert act.labels
    assert note == ""


@pytest.mark.parametrize("named", ["eurlex57k", "."])
def test_the_data_set_is_found_by_its_own_folder_and_by_the_one_around_it(
    named: str, acts: list[dict[str, Any]], corpus: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    folder = tmp_path / "eurlex57k"
    folder.mkdir()
    (folder / "test.jsonl.xz").write_bytes(lzma.compress((corpus / "test.jsonl").read_bytes()))
    monkeypatch.setenv("LABELWISE_DATA", str(tmp_path / named))
    act, note = _act_of_eu_law()
    assert (act.id, note) == (acts[0]["celex_id"], "")


def test_a_folder_without_the_data_set_leaves_the_act_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELWISE_DATA", str(tmp_path))
    assert _act_of_eu_law()[1] == WRITTEN
