"""Labels that processes share: the same loss, measured in the shape that results have."""

from __future__ import annotations

import pytest

from labelwise.bench.attention import Sizes
from labelwise.bench.label_parallel import benchmark
from labelwise.bench.page import section
from labelwise.bench.plan import Plan


@pytest.mark.slow
def test_two_processes_find_the_loss_of_one() -> None:
    result = benchmark(Plan(), Sizes(2, 16, 20, 30_001))
    one, two = result["rows"]
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-5)
    assert "two processes" in section(result, "label-parallel.json")
