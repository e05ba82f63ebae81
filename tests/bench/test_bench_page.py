"""The page of benchmarks says what the result files hold, and nothing else."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest

from labelwise.bench import cells, page, repeats

COMMITTED = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("module", [cells, page, repeats])
def test_the_examples_hold(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted > 0


def test_the_committed_page_is_what_the_committed_results_give() -> None:
    assert (COMMITTED / "README.md").read_text("utf-8") == page.page(COMMITTED)


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
