"""The CPU benchmark of the label-wise attention, run small."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labelwise.bench import Plan, attention_cpu
from labelwise.bench.attention import OURS, PLAIN, Sizes, curve_table
from labelwise.bench.page import cell, section
from labelwise.bench.processes import Function, run_apart

CURVES: attention_cpu.Curves = {
    "labels": (Sizes(1, 5, 8, 0), (10, 20)),
    "documents": (Sizes(0, 5, 8, 10), (1, 2, 3)),
}


def points(seconds: list[float], memory: list[float]) -> list[dict[str, Any]]:
    return [
        {
            "labels": 10**at,
            f"{OURS} seconds": second,
            f"{OURS} bytes": held,
            f"{PLAIN} seconds": 2 * second,
            f"{PLAIN} bytes": "does not fit",
        }
        for at, (second, held) in enumerate(zip(seconds, memory, strict=True))
    ]


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A process for each point would take a minute: measure here, and note what was asked for."""
    asked: list[dict[str, Any]] = []

    def ask(function: Function, request: dict[str, Any]) -> Any:
        asked.append(request)
        return function({**json.loads(json.dumps(request)), "threads": 1})

    monkeypatch.setattr(attention_cpu, "run_apart", ask)
    return asked


def test_each_point_of_each_curve_is_measured_for_both(
    in_this_process: list[dict[str, Any]],
) -> None:
    kept: list[int] = []
    plan = Plan(repeats=2, keep=lambda result: kept.append(len(result["tables"])))
    result = attention_cpu.benchmark(plan, Sizes(2, 5, 8, 10), CURVES)
    batch, labels, documents = result["tables"]
    assert kept == [2, 3]
    assert [row["labels"] for row in labels["rows"]] == [10, 20]
    assert [row["documents"] for row in documents["rows"]] == [1, 2, 3]
    assert len(batch["rows"]) == 6
    assert all(row["seconds"]["repeats"] >= 2 for row in batch["rows"])
    assert [point["version"] for point in in_this_process[6:]] == [OURS, PLAIN] * 5
    assert [point["timed"] for point in in_this_process[6:8]] == [[OURS, PLAIN], []]
    page = section(json.loads(json.dumps(result)), "label-attention-cpu.json")
    assert "### Over labels: 1 document × 5 tokens × 8 wide, float32" in page
    assert "ms" not in page.replace("documents", "")  # seconds would say more about the machine


def test_a_point_runs_in_a_process_of_its_own() -> None:
    request = {
        "version": OURS,
        "timed": [OURS, PLAIN],
        "sizes": {"documents": 2, "tokens": 50, "width": 16, "labels": 30},
        "dtype": "bfloat16",
        "repeats": 3,
        "threads": 1,
    }
    answer = run_apart(attention_cpu.measure_point, request)
    assert len(answer["seconds"][OURS]) == len(answer["seconds"][PLAIN]) >= 3
    assert min(answer["seconds"][OURS]) > 0
    assert answer["bytes"] >= 0


def test_what_cannot_fit_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_cpu, "memory", lambda: 1_000_000_000)
    found = attention_cpu.point([PLAIN], Sizes(256, 8192, 600, 4271), repeats=3)
    assert found == {PLAIN: {"seconds": "does not fit", "bytes": "does not fit"}}


def test_linear_growth_is_told_from_a_cliff() -> None:
    linear = curve_table("", "labels", points([1, 9, 95], [10, 100, 1000]), seconds=True)
    assert linear["linear"] is True
    assert linear["steepest"] == {"time exponent": 1.023, "memory exponent": 1.0}
    assert linear["text"].endswith("the quickest repeats are compared): no cliff.")
    cliff = curve_table("", "labels", points([1, 9, 900], [10, 100, 1000]), seconds=True)
    assert cliff["linear"] is False
    assert cliff["text"].endswith("there is a cliff.")


def test_memory_below_the_floor_has_no_growth() -> None:
    table = curve_table("", "labels", points([1, 10, 100], [0, 5, 50]), seconds=False, floor=50)
    assert table["steepest"]["memory exponent"] == 0


def test_a_ratio_to_what_could_not_run_is_left_open() -> None:
    row = {f"{OURS} seconds": 2.0, f"{PLAIN} seconds": "does not fit"}
    column = {"key": f"{OURS} seconds", "as": "ratio", "to": f"{PLAIN} seconds"}
    assert cell(column, row, [row], "labels") == "–"


@pytest.mark.slow
def test_two_processes_that_share_the_labels_find_the_loss_of_one() -> None:
    result = attention_cpu.benchmark_shared(Plan(), Sizes(2, 16, 20, 30_001))
    one, two = result["rows"]
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-5)
    assert "two processes" in section(result, "label-parallel.json")
