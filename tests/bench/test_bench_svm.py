"""The SVM beside its peer, with a stand-in for the peer that needs no installation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from labelwise.bench import Plan, svm
from labelwise.bench.page import section
from labelwise.corpus.synthetic import make_dataset

STAND_IN = '''
"""Scores every label by how often it is gold in train: the same ranking for every document."""
import collections, json, pathlib, sys
import numpy as np

train, both, out = map(pathlib.Path, sys.argv[1:])
gold = [line.split("\\t")[0].split() for line in train.read_text("utf-8").splitlines()]
counts = collections.Counter(label for labels in gold for label in labels)
labels = sorted(counts)
documents = len(both.read_text("utf-8").splitlines())
out.mkdir(exist_ok=True)
scores = np.array([counts[label] for label in labels], "float32")
np.save(out / "scores.npy", np.tile(scores, (documents, 1)))
(out / "labels.json").write_text(json.dumps(labels))
cost = {"fit": 4.0, "score": 0.5, "peak_memory": 10**8, "columns": 7}
(out / "cost.json").write_text(json.dumps(cost))
'''


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libmultilabel_svm.py").write_text(STAND_IN)
    monkeypatch.setattr(svm, "PROGRAMS", tmp_path)
    monkeypatch.setattr(svm, "environment", lambda name, packages, out: sys.executable)


def test_both_sides_are_measured_on_the_same_documents(tmp_path: Path, stand_in: None) -> None:
    make_dataset(tmp_path / "acts", seed=0, train=300, dev=40, test=40)
    result = svm.run(Plan(out=tmp_path, data=tmp_path / "acts", repeats=2))
    ours, peer = result["rows"]
    assert (ours[""], peer[""]) == ("labelwise svm", "LibMultiLabel SVM")
    assert ours["fit seconds"]["repeats"] == peer["fit seconds"]["repeats"] == 2
    assert peer["fit seconds"]["median"] == 4.0
    assert ours["all RP@5"] > peer["all RP@5"] > 0  # the stand-in knows how often, not what
    assert ours["columns"] > 1000
    text = section(json.loads(json.dumps(result)), "svm-synthetic.json")
    assert "time to score 80 documents" in text
    assert "peer: `libmultilabel==0.10.0`" in text


def test_a_corpus_made_for_the_run_is_there_to_its_end(
    tmp_path: Path, stand_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(folder: Path, seed: int) -> None:
        make_dataset(folder, seed=seed, train=200, dev=20, test=20)

    monkeypatch.setattr("labelwise.bench.results.make_dataset", small)
    result = svm.run(Plan(out=tmp_path))
    assert result["data"]["name"] == "synthetic"
    assert result["data"]["counts"]["train"] == 200


def test_without_data_the_synthetic_corpus_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    monkeypatch.setattr("labelwise.bench.results.make_dataset", lambda *a, **k: made.append((a, k)))
    from labelwise.bench.results import data_folder

    assert data_folder(Plan(), tmp_path) == tmp_path / "synthetic"
    assert made == [((tmp_path / "synthetic",), {"seed": 0})]
    assert data_folder(Plan(data=tmp_path), tmp_path) == tmp_path
