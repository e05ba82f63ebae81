"""The GPU benchmark of the label-wise attention, run small and on the CPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from labelwise.bench import Plan, Result, attention, attention_gpu
from labelwise.bench.attention import OURS, OUTPUTS_FIRST, PLAIN, Sizes
from labelwise.bench.attention_gpu import BLOCKED, COMPILED, LIBMULTILABEL, Scale, benchmark
from labelwise.bench.page import section
from labelwise.errors import InputError

SMALL = Scale(
    operator=Sizes(4, 9, 8, 20),
    many_labels=Sizes(2, 9, 8, 100),
    curve=Sizes(2, 9, 8, 20),
    labels=(10, 100),
    tokens=(4, 16),
    documents=(1, 4),
    product=16,
)

MODULES = """
import torch
from torch import nn


class LabelwiseAttention(nn.Module):
    def __init__(self, input_size, num_classes):
        super().__init__()
        self.attention = nn.Linear(input_size, num_classes, bias=False)

    def forward(self, input):
        attention = torch.softmax(self.attention(input).transpose(1, 2), -1)
        return torch.bmm(attention, input), attention


class LabelwiseLinearOutput(nn.Module):
    def __init__(self, input_size, num_classes):
        super().__init__()
        self.output = nn.Linear(input_size, num_classes)

    def forward(self, input):
        return (self.output.weight * input).sum(dim=-1) + self.output.bias
"""
"""Written after LibMultiLabel's two classes: the same names, sizes and products."""


@pytest.fixture(scope="module", autouse=True)
def one_thread_and_no_compiler() -> Iterator[None]:
    """Sums this small are quicker on one thread, and a compiler would take a minute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "compile", lambda function, **options: function)
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    package = tmp_path_factory.mktemp("peer") / "libmultilabel"
    (package / "nn" / "networks").mkdir(parents=True)
    (package / "nn" / "networks" / "modules.py").write_text(MODULES)
    return package


@pytest.fixture(scope="module")
def result(source: Path) -> Result:
    return benchmark(Plan(repeats=3, libmultilabel_source=source), SMALL, "cpu")


def test_every_version_is_measured_beside_ours(result: Result) -> None:
    full, ragged, *_, wide = result["tables"]
    all_versions = {PLAIN, OUTPUTS_FIRST, COMPILED, LIBMULTILABEL, BLOCKED, OURS}
    assert {row[""] for row in full["rows"]} == {row[""] for row in wide["rows"]} == all_versions
    assert {row[""] for row in ragged["rows"]} == {PLAIN, OUTPUTS_FIRST, BLOCKED, OURS}
    assert full["what"] == "4 documents × 9 tokens × 8 wide × 20 labels, bfloat16"


def test_all_versions_compute_the_same_to_their_precision(result: Result) -> None:
    full, ragged, *_, wide = result["tables"]
    for table, limit in ((full, 2e-2), (ragged, 2e-2), (wide, 1e-5)):
        for row in table["rows"]:
            assert 0 < row["error of logits"] < limit, row
            assert 0 < row["error of gradients"] < limit, row
    exact = {row[""]: row["error of logits"] for row in full["rows"]}
    assert exact[OURS] <= exact[PLAIN]


def test_the_curves_go_over_labels_tokens_and_documents(result: Result) -> None:
    curves = [table for table in result["tables"] if "figure" in table]
    assert [table["figure"]["over"] for table in curves] == ["labels", "tokens", "documents"]
    for table, steps in zip(curves, ((10, 100), (4, 16), (1, 4)), strict=True):
        assert tuple(row[table["figure"]["over"]] for row in table["rows"]) == steps
        assert table["rows"][1]["time exponent"] is not None


def test_the_result_becomes_a_section_of_the_page(result: Result) -> None:
    text = section(json.loads(json.dumps(result)), "label-attention-gpu.json")
    assert "## Label-wise attention on a GPU, forward and backward" in text
    assert "### A training step with many labels: 2 documents × 9 tokens" in text
    assert "![Over labels: 2 documents × 9 tokens × 8 wide, bfloat16]" in text
    assert "libmultilabel, nn/networks/modules.py (sha256 " in text


def test_what_is_measured_is_kept_as_it_comes_and_the_rest_is_named() -> None:
    kept: list[int] = []
    plan = Plan(repeats=3, max_seconds=0, keep=lambda result: kept.append(len(result["tables"])))
    result = benchmark(plan, SMALL, "cpu")
    assert kept == []
    assert len(result["left out"]) == 7
    assert benchmark(Plan(repeats=3, keep=plan.keep), SMALL, "cpu")["left out"] == []
    assert kept == [1, 2, 3, 4, 5, 6, 7]


def test_without_its_source_the_peer_is_left_out(tmp_path: Path) -> None:
    result = benchmark(Plan(out=tmp_path, repeats=3), SMALL, "cpu")
    assert result["peer"] is None
    assert LIBMULTILABEL not in {row[""] for row in result["tables"][0]["rows"]}


def test_a_folder_without_the_peer_is_named_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"modules\.py is not below this folder"):
        benchmark(Plan(libmultilabel_source=tmp_path), SMALL, "cpu")


def test_a_curve_ends_when_the_time_is_up() -> None:
    table = attention_gpu.curve(
        "Over labels", over="labels", fixed=SMALL.curve, steps=(5, 10, 20), device="cpu", until=0
    )
    assert [row["labels"] for row in table["rows"]] == [5]
    assert table["left out"] == ["10 labels", "20 labels"]
    assert table["text"] == "Too few points were measured to say how it grows."
    page = section({"what": "Curves", "tables": [table], **table}, "curves.json")
    assert "The time was up before these: 10 labels; 20 labels." in page


def test_a_version_that_does_not_fit_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def full_card(x: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(attention_gpu, "plain", full_card)
    table = attention_gpu.curve(
        "Over labels",
        over="labels",
        fixed=SMALL.curve,
        steps=(5, 10),
        device="cpu",
        until=float("inf"),
    )
    assert [row["plain PyTorch seconds"] for row in table["rows"]] == ["out of memory"] * 2
    assert table["rows"][1]["labelwise seconds"]["repeats"] >= 3


def test_ragged_lengths_are_those_of_the_corpus() -> None:
    lengths = attention.ragged_lengths(1001)
    assert lengths == sorted(lengths)
    assert lengths[500] == 513
    assert abs(lengths[900] - 1531) < 5
    assert lengths[-1] == 2000
