"""``labelwise crowding``: on dev and on a file, for people and for machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_crowding_is_measured_on_dev_and_on_a_file(
    labelwise: Callable[..., Any], bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    asked = ("crowding", bundle, "--data", corpus, "--results", tmp_path)
    said = labelwise(*asked, "--json")
    assert said.code == 0, said.err
    record = said.json
    assert record["documents"] == 60
    assert record["relatives"] > 0
    assert 0 <= record["gold"]["documents"] <= 1
    assert set(record["rules"]) == {"same", "together"}
    assert (tmp_path / "synthetic/svm/crowding-seed-0.json").is_file()

    said = labelwise(*asked, "--on", corpus / "dev.jsonl")
    assert said.code == 0, said.err
    assert "held out" in said.out
    assert "documents with a concept beside its broader one: gold" in said.out
    assert (tmp_path / "synthetic-dev/svm@synthetic/crowding-seed-0.json").is_file()

    some = labelwise(*asked, "--on", corpus / "dev.jsonl", "--documents", 20, "--json").json
    assert some["documents"] == 20
    assert "--documents goes with --on" in labelwise(*asked, "--documents", 20).err


def test_a_model_of_another_data_set_is_called_by_it(
    labelwise: Callable[..., Any], corpus: Path, tmp_path: Path
) -> None:
    """Its record would replace that of the data set's own model."""
    more, bundle = tmp_path / "more.jsonl", tmp_path / "lexical.bundle"
    act = (corpus / "train.jsonl").read_text("utf-8").splitlines()[0]
    more.write_text(act.replace('"celex_id": "', '"celex_id": "more', 1), "utf-8")
    asked = ("--data", corpus, "--more", more, "--out", bundle)
    assert labelwise("train", "lexical", *asked).code == 0
    called = labelwise("crowding", bundle, "--data", corpus, "--results", tmp_path)
    assert called.code == 0, called.err
    assert (tmp_path / "synthetic/lexical@synthetic+more/crowding-seed-0.json").is_file()
    assert not (tmp_path / "synthetic/lexical").exists()
