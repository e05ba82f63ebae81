"""The page of benchmarks says what the result files hold, and nothing else."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest

from labelwise.bench import attention, page, processes, results, runner
from labelwise.bench.attention import curve_table
from labelwise.bench.page import curves_svg, write_figures
from labelwise.bench.results import read_result, write_result
from labelwise.errors import InputError, LabelwiseError

COMMITTED = Path(__file__).parents[2] / "benchmarks"
ROWS = [{"": "ours", "fit": 2.0}, {"": "theirs", "fit": 5.0}]


@pytest.mark.parametrize("module", [attention, page, processes, results, runner])
def test_the_examples_hold(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted > 0


def test_the_committed_page_is_what_the_committed_results_give() -> None:
    assert (COMMITTED / "README.md").read_text("utf-8") == page.page(COMMITTED)


def test_every_figure_that_the_committed_page_shows_is_committed() -> None:
    shown = re.findall(r"\]\((figures/[^)]+)\)", (COMMITTED / "README.md").read_text("utf-8"))
    for path in shown:
        assert (COMMITTED / path).read_bytes().startswith(b"<?xml"), path


def test_the_committed_results_name_no_machine_and_no_folder_of_it() -> None:
    for path in (COMMITTED / "results").glob("*.json"):
        assert not re.search(r'"[^"]*(?<![\w.])/(home|work|tmp|root|Users)/', path.read_text())


def test_a_result_written_by_hand_in_the_simple_shape_becomes_a_table(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    result = {
        "what": "Training on one card",
        "text": "BIGRU-LWAN, 300 units a direction.",
        "columns": ["variant", "epoch", {"key": "seconds", "name": "to .76", "as": "seconds"}],
        "rows": [
            {"variant": "materialised", "epoch": 25.04, "seconds": 140.0},
            {"variant": "fused", "epoch": 14, "seconds": None},
        ],
    }
    (tmp_path / "results" / "training-gpu.json").write_text(json.dumps(result))
    assert page.page(tmp_path).endswith(
        "## Training on one card\n\n"
        "BIGRU-LWAN, 300 units a direction.\n\n"
        "| variant | epoch | to .76 |\n"
        "| --- | ---: | ---: |\n"
        "| materialised | 25.04 | 140 s |\n"
        "| fused | 14 | – |\n\n"
        "From `results/training-gpu.json`.\n"
    )


@pytest.mark.parametrize(
    ("how", "value", "shown"),
    [
        ("seconds", 0.0123, "12.30 ms"),
        ("seconds", 2.5e-5, "25.00 µs"),
        ("seconds", 250.9, "251 s"),
        ("bytes", 2_418_020_352, "2.4 GB"),
        ("bytes", 900, "0.9 kB"),
        ("count", 196652, "196,652"),
        ("figure", 0.81418, "0.8142"),
        ("error", 0.00021, "2.1e-04"),
        ("share", 0.523, "52%"),
        ("plain", 4271, "4,271"),
    ],
)
def test_a_figure_is_shown_with_its_unit(how: str, value: float, shown: str) -> None:
    assert page.cell({"key": "it", "as": how}, {"it": value}, [], "") == shown


def test_repeats_are_shown_as_median_and_spread() -> None:
    row = {"": "ours", "fit": results.spread([2.0, 1.0, 4.0])}
    column = {"key": "fit", "as": "seconds"}
    assert page.cell(column, row, [row], "") == "2.00 s (1.00 s – 4.00 s)"
    beside = {**column, "as": "ratio", "peer": "theirs"}
    assert page.cell(beside, row, [row, ROWS[1]], "") == "0.40 (0.20 – 0.80)"


def test_times_as_fast_is_the_peer_over_ours_and_its_spread_rises() -> None:
    column = {"key": "fit", "as": "times", "peer": "theirs"}
    assert page.cell(column, ROWS[0], ROWS, "") == "2.50"
    row = {"": "ours", "fit": results.spread([2.0, 1.0, 4.0])}
    assert page.cell(column, row, [row, ROWS[1]], "") == "2.50 (1.25 – 5.00)"


def test_a_column_that_cannot_be_shown_says_why() -> None:
    with pytest.raises(LabelwiseError, match="shown as 'hours', which is none of plain, count"):
        page.cell({"key": "fit", "as": "hours"}, ROWS[0], ROWS, "")
    with pytest.raises(LabelwiseError, match="no row 'omikuji' to compare 'fit' with"):
        page.cell({"key": "fit", "as": "ratio", "peer": "omikuji"}, ROWS[0], ROWS, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ("[]", "field 'what'"),
        ('{"columns": ["a"], "rows": [{"a": 1}]}', "field 'what'"),
        ('{"what": "SVM", "rows": [{"a": 1}]}', "field 'columns'"),
        ('{"what": "SVM", "columns": ["a"], "rows": []}', "field 'rows'"),
        ('{"what": "SVM", "columns": ["a"], "rows": [3]}', "a row is an object, not 3"),
        ('{"what": "SVM", "columns": ["b"], "rows": [{"a": 1}]}', "no row has a value for 'b'"),
        ('{"what": "SVM", "columns": [{}], "rows": [{"a": 1}]}', "no row has a value for"),
    ],
)
def test_a_result_of_another_shape_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_result(path)
    assert str(path) in str(caught.value)


def test_a_result_on_data_is_named_after_them(tmp_path: Path) -> None:
    result = {"what": "SVM", "columns": [""], "rows": ROWS}
    data = {"name": "synthetic", "fingerprint": "ab12"}
    assert write_result(tmp_path, "svm", result).name == "svm.json"
    assert write_result(tmp_path, "svm", {**result, "data": data}).name == "svm-synthetic.json"
    assert "data: synthetic (fingerprint `ab12`)" in page.page(tmp_path)


def test_a_curve_is_drawn_the_same_each_time_and_shown_on_the_page(tmp_path: Path) -> None:
    points = [
        {
            "labels": labels,
            "labelwise seconds": results.spread([labels * 1e-6]),
            "labelwise bytes": labels,
            "plain PyTorch seconds": labels * 3e-6 if labels < 9000 else "out of memory",
            "plain PyTorch bytes": labels * 20 if labels < 9000 else "out of memory",
        }
        for labels in (1000, 4000, 16000)
    ]
    table = curve_table("Over labels", "labels", points, seconds=False)
    assert curves_svg(table) == curves_svg(json.loads(json.dumps(table)))
    write_result(tmp_path, "curves", {"what": "Curves", "tables": [table]})
    (figure,) = write_figures(tmp_path)
    assert f"![Over labels](figures/{figure.name})" in page.page(tmp_path)
    assert b"labelwise" in figure.read_bytes()
