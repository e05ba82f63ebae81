"""The GPU benchmark of the recurrent encoder, run small and on the CPU."""

from __future__ import annotations

import json

from labelwise.bench import Plan
from labelwise.bench.gru_gpu import OURS, READINGS, Sizes, benchmark
from labelwise.bench.page import section


def test_every_reading_gives_the_states_and_gradients_of_float64() -> None:
    kept: list[int] = []
    plan = Plan(repeats=3, keep=lambda result: kept.append(len(result["tables"])))
    result = benchmark(plan, Sizes(documents=(2, 4), longest=9, width=6, units=5), "cpu")
    assert kept == [1, 2]
    for table in result["tables"]:
        assert {row[""] for row in table["rows"]} == set(READINGS)
        for row in table["rows"]:
            limit = 2e-2 if "16" in row[""] or row[""] == OURS else 1e-5
            assert row["error of states"] < limit, row
            assert row["error of gradients"] < limit, row
    text = section(json.loads(json.dumps(result)), "gru-gpu.json")
    assert "### 2 documents, " in text
    assert "plain PyTorch, step by step" in text
