"""`data split-by-year` and `data near-copies`, and what reproduce and report make of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from labelwise.evaluation.runs import Run
from labelwise.experiments import corpora, trainings


@pytest.fixture
def by_year(labelwise: Callable, corpus: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "synthetic-by-year"
    called = labelwise(
        *("data", "split-by-year", "--data", corpus, "--out", folder),
        *("--dev-from", 2005, "--test-from", 2010, "--json"),
    )
    years = called.json["years"]
    assert max(map(int, years["train"])) < 2005 <= min(map(int, years["dev"]))
    assert sum(sum(of.values()) for of in years.values()) == 420
    return folder


def test_the_split_is_counted_and_takes_the_name_of_its_data(
    labelwise: Callable, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    years = ("--dev-from", 2005, "--test-from", 2010)
    called = labelwise("data", "split-by-year", "--data", corpus, *years)
    assert called.code == 0
    assert (tmp_path / "synthetic-by-year" / "train.jsonl").is_file()
    assert [line.split()[0] for line in called.out.splitlines()] == [
        *("split", "train", "dev", "test")
    ]
    assert "2010 to 2014" in called.out
    again = labelwise("data", "split-by-year", "--data", corpus, *years)
    assert again.code == 1
    assert "synthetic-by-year: the folder holds files already" in again.err


@pytest.mark.usefixtures("workers_here")
def test_a_method_is_trained_and_reported_by_year_with_the_settings_of_the_whole(
    labelwise: Callable, by_year: Path, tmp_path: Path
) -> None:
    (tmp_path / "configs" / "synthetic").mkdir(parents=True)
    (tmp_path / "configs" / "synthetic" / "svm.toml").write_text("C = 0.5\n")
    results = tmp_path / "results"
    copies = labelwise("data", "near-copies", "--data", by_year, "--results", results, "--json")
    assert copies.json["threshold"] == 0.5
    called = labelwise(
        *("reproduce", "--data", by_year, "--methods", "svm", "--configs", tmp_path / "configs"),
        *("--out", results, "--bundles", tmp_path / "bundles"),
    )
    assert called.code == 0, called.err
    run = Run.read(results / "synthetic-by-year" / "svm" / "seed-0.json")
    assert run.settings["C"] == 0.5
    assert (tmp_path / "bundles" / "synthetic-by-year" / "svm-0.bundle").is_dir()
    page = (results / "synthetic-by-year" / "README.md").read_text("utf-8")
    assert "| method | 2005, dev | " in page
    assert "## Without near-copies" in page


def test_a_model_of_the_random_split_is_not_measured_on_documents_that_it_was_trained_on(
    labelwise: Callable, corpus: Path, by_year: Path, tmp_path: Path
) -> None:
    """Its figures, far too good, stood in the place of the model that was trained by year."""
    results, bundle = tmp_path / "results", tmp_path / "svm.bundle"
    assert labelwise("train", "svm", "--data", corpus, "--out", bundle).code == 0
    called = labelwise("evaluate", bundle, "--data", by_year, "--results", results)
    assert called.code == 1
    assert "trained on synthetic, with other labels or label counts" in called.err
    assert "synthetic-by-year" in called.err
    assert not results.exists()
    assert labelwise("evaluate", bundle, "--data", corpus, "--results", results).code == 0


def test_settings_of_its_own_come_first(by_year: Path, tmp_path: Path) -> None:
    for data, value in (("synthetic", 0.5), ("synthetic-by-year", 0.25)):
        (tmp_path / data).mkdir(exist_ok=True)
        (tmp_path / data / "svm.toml").write_text(f"C = {value}\n")
    corpus = corpora.open_corpus(by_year, (), ())
    (one,) = trainings.trainings(["svm"], range(1), corpus, tmp_path, ())
    assert one.settings.C == 0.25


def test_a_test_document_that_was_trained_on_is_a_near_copy(
    labelwise: Callable, corpus: Path, tmp_path: Path
) -> None:
    """The act of another number with one word more is one, though its id is new"""
    data = tmp_path / "acts"
    data.mkdir()
    lines = (corpus / "train.jsonl").read_text("utf-8").splitlines()
    copy = json.loads(lines[7])
    original, copy["celex_id"] = copy["celex_id"], "32020R9999"
    copy["header"] += " again"
    (data / "train.jsonl").write_text("\n".join(lines[:40]), "utf-8")
    (data / "test.jsonl").write_text(f"{json.dumps(copy)}\n{lines[60]}", "utf-8")
    called = labelwise(
        *("data", "near-copies", "--data", data, "--threshold", 0.8, "--results", tmp_path)
    )
    assert called.code == 0
    assert called.out.split()[-3:] == ["test", "2", "1"]
    written = json.loads((tmp_path / "acts" / "documents.json").read_text("utf-8"))
    (first, second) = written["test"]
    assert first[:2] == ["32020R9999", original]
    assert first[2] > 0.95
    assert len(second) == 1
