"""The examples in the docstrings run and give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "calibration",
        "chance",
        "counts",
        "expected_precision",
        "logistic_fit",
        "ranking",
        "significance",
        "tables",
        "threshold",
    ],
)
def test_the_examples_run(module: str) -> None:
    found = doctest.testmod(import_module(f"labelwise.evaluation.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
