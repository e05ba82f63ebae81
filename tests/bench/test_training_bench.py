"""The training benchmark, in small, on a CPU: every variant trains, in a process of its own."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from labelwise.bench import Plan
from labelwise.bench.training import benchmark
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import DataRecord
from labelwise.training.prepared import prepare, write_prepared


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    make_dataset(tmp_path / "data", train=60, dev=20, test=10)
    dataset = open_dataset(tmp_path / "data")
    folder = tmp_path / "prepared"
    write_prepared(folder, prepare(dataset.train, dataset.dev, dataset.label_space, dim=8))
    record = {"data": dataclasses.asdict(DataRecord.of(dataset)), "settings": {"dim": 8}}
    (folder / "data.json").write_text(json.dumps(record))
    return folder


def test_it_times_an_epoch_dev_and_the_first_step(prepared: Path) -> None:
    small = {"max_tokens": 30, "units": 4, "epochs": 2}
    result = benchmark(
        Plan(data=prepared, max_seconds=1e9), {"ours": {"settings": {"batch": 16}}}, small
    )
    ours, to_quality = result["rows"]
    assert ours["variant"] == "ours"
    assert min(ours["epoch"], ours["dev"], ours["first step"]) > 0
    assert to_quality["variant"] == "to quality"
    assert "to quality" not in to_quality  # six epochs of so little do not pass the mark
    assert not result["left out"]


def test_it_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match="prepared corpus"):
        benchmark(Plan(data=tmp_path), {}, {})
