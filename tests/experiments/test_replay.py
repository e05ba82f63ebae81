"""What learning from decisions brings is measured on acts that came later."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.eurlex57k import record
from labelwise.corpus.labels import GROUPS
from labelwise.evaluation.calibration import Calibration, Curve
from labelwise.experiments.replay import _acts, replay
from labelwise.methods.lessons import Belief
from labelwise.methods.svm import SVM, SVMSettings


@pytest.fixture(scope="module")
def svm(synthetic: Dataset) -> SVM:
    method = SVM(SVMSettings(passes=2))
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return method


@pytest.fixture(scope="module")
def on(synthetic: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty acts, each of a year of its own, in no order."""
    records = []
    for year, document in enumerate(synthetic.dev[:40], start=1960):
        records.append(record(document) | {"celex_id": f"3{year}R0001"})
    random.Random(0).shuffle(records)
    return written(tmp_path_factory.mktemp("replay") / "acts.jsonl", records)


def written(file: Path, records: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    return file


def tables(method: SVM, on: Path, folder: Path) -> list[Any]:
    bundles.save(method, folder / "svm.bundle")
    result, _ = replay(folder / "svm.bundle", on, out=folder, every=5)
    found: list[Any] = result["tables"]
    return found


def test_acts_are_taken_in_the_order_of_time(svm: SVM, on: Path, tmp_path: Path) -> None:
    records = [json.loads(line) for line in on.read_text("utf-8").splitlines()]
    by_time = sorted(records, key=lambda one: str(one["celex_id"]))
    assert records != by_time
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    other = written(tmp_path / "other/acts.jsonl", by_time)
    assert tables(svm, on, tmp_path / "one") == tables(svm, other, tmp_path / "other")


def test_a_calibration_that_may_know_the_acts_is_left_out(
    svm: SVM, on: Path, tmp_path: Path
) -> None:
    sure = SVM(svm.settings)
    sure._label_space = svm.label_space
    sure._restore(svm.state())
    sure.calibration = Calibration({group: Curve("platt", (0.5, 2.0)) for group in GROUPS})
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    assert tables(sure, on, tmp_path / "one") == tables(svm, on, tmp_path / "other")


def test_nothing_is_learned_from_the_acts_that_are_measured(
    svm: SVM, on: Path, tmp_path: Path
) -> None:
    """With the gold of five acts and of all later ones at other acts they score the same."""
    records = [json.loads(line) for line in on.read_text("utf-8").splitlines()]
    records.sort(key=lambda one: str(one["celex_id"]))
    last = [one["concepts"] for one in records[20:]]
    for one, labels in zip(records[20:], last[1:] + last[:1], strict=True):
        one["concepts"] = labels
    bundles.save(svm, tmp_path / "svm.bundle")
    permuted = written(tmp_path / "acts.jsonl", records)
    one, other = (_acts(tmp_path / "svm.bundle", file) for file in (on, permuted))
    block = slice(20, 25)
    assert (one.gold[block] != other.gold[block]).any()
    scores = one.scored(block, Belief())
    assert (scores != one.scores[block]).any()
    np.testing.assert_array_equal(scores, other.scored(block, Belief()))
