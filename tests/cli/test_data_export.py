"""A data set as a folder of Parquet files: every document and label, and a card."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.eurlex57k import record

parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: labelwise[bulk]")


def test_every_document_and_label_is_written_once(
    labelwise: Callable[..., Any], corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "acts"
    called = labelwise("data", "export", "--data", corpus, "--out", out, "--json")
    assert called.code == 0, called.err
    assert called.json["documents"] == {"train": 300, "validation": 60, "test": 60}
    dataset = open_dataset(corpus)
    for name, documents in (("validation", dataset.dev), ("test", dataset.test)):
        rows = parquet.read_table(out / "data" / f"{name}.parquet").to_pylist()
        assert rows == [record(one) for one in documents]
    labels = parquet.read_table(out / "labels.parquet").to_pylist()
    assert [one["id"] for one in labels] == list(dataset.label_space.ids)
    card = (out / "README.md").read_text("utf-8")
    assert "  - split: validation\n    path: data/validation.parquet\n" in card
    assert "- config_name: labels\n  data_files: labels.parquet\n" in card

    again = labelwise("data", "export", "--data", corpus, "--out", out)
    assert "the folder holds files already" in again.err


def test_datasets_reads_the_folder(
    labelwise: Callable[..., Any], corpus: Path, tmp_path: Path
) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the package datasets")
    out = tmp_path / "acts"
    assert labelwise("data", "export", "--data", corpus, "--out", out).code == 0
    read = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert {name: len(split) for name, split in read.items()} == {
        "train": 300, "validation": 60, "test": 60,
    }  # fmt: skip
