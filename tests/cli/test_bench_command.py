"""``labelwise bench``: what it lists, what it refuses, what it leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from labelwise.bench import BENCHMARKS, Plan, Result
from labelwise.errors import LabelwiseError

RESULT: Result = {"what": "Tagging", "columns": ["", "speed"], "rows": [{"": "ours", "speed": 3}]}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Plan]]:
    """What would be measured; each leaves a result, but the SVM's peer cannot be installed."""
    asked: list[tuple[str, Plan]] = []

    def run(name: str, plan: Plan) -> Path:
        asked.append((name, plan))
        if name == "svm":
            raise LabelwiseError("the peer libmultilabel could not be installed")
        path = plan.out / "results" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(RESULT))
        return path

    monkeypatch.setattr("labelwise.bench.runner.run_benchmark", run)
    return asked


def test_the_list_names_all_and_says_what_each_needs(labelwise: Callable) -> None:
    listed = {one["name"]: one["device"] for one in labelwise("bench", "--list", "--json").json}
    assert listed["svm"] == listed["label-attention-cpu"] == "cpu"
    assert listed["label-attention-gpu"] == listed["training-gpu"] == "gpu"
    assert "one-vs-rest SVM" in labelwise("bench", "--list").out


def test_a_wrong_name_is_told_before_anything_is_measured(
    labelwise: Callable, measured: list, tmp_path: Path
) -> None:
    called = labelwise("bench", "inference", "speed", "--out", tmp_path)
    assert called.code == 1
    assert called.err.startswith("labelwise: there is no benchmark 'speed': choose from")
    assert measured == []


def test_without_names_all_of_the_cpu_run_and_a_failure_does_not_stop_the_others(
    labelwise: Callable, measured: list, tmp_path: Path
) -> None:
    called = labelwise("bench", "--out", tmp_path, "--repeats", 3)
    cpu = [name for name, one in BENCHMARKS.items() if one.device == "cpu"]
    assert [name for name, _ in measured] == cpu
    assert measured[0][1].repeats == 3
    assert called.code == 1
    assert "labelwise: svm: the peer libmultilabel could not be installed" in called.err
    assert "## Tagging" in (tmp_path / "README.md").read_text("utf-8")


def test_gpu_runs_all_that_need_one(labelwise: Callable, measured: list, tmp_path: Path) -> None:
    assert labelwise("bench", "--gpu", "--out", tmp_path).code == 0
    assert [name for name, _ in measured] == [
        "encoder-gpu",
        "gru-gpu",
        "label-attention-gpu",
        "training-gpu",
    ]


def test_a_gpu_benchmark_is_given_the_source_of_the_peer_and_a_limit(
    labelwise: Callable, measured: list, tmp_path: Path
) -> None:
    called = labelwise(
        "bench", "label-attention-gpu", "--out", tmp_path, "--libmultilabel-source", "peer",
        "--max-seconds", 60, "--json",
    )  # fmt: skip
    assert called.code == 0
    assert called.json == [str(tmp_path / "results" / "label-attention-gpu.json")]
    ((name, plan),) = measured
    assert name == "label-attention-gpu"
    assert plan.libmultilabel_source == Path("peer")
    assert plan.max_seconds == 60


def test_the_page_alone_measures_nothing(
    labelwise: Callable, measured: list, tmp_path: Path
) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "training-gpu.json").write_text(json.dumps(RESULT))
    called = labelwise("bench", "--page", "--out", tmp_path)
    assert called.code == 0
    assert measured == []
    assert "| ours | 3 |" in (tmp_path / "README.md").read_text("utf-8")


def test_a_result_that_is_not_one_is_named(labelwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "mine.json").write_text("{}")
    called = labelwise("bench", "--page", "--out", tmp_path)
    assert called.code == 1
    assert "mine.json, field 'what': a result has a sentence in it" in called.err
