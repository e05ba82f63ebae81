"""The examples in docstrings of evidence, experiments and service run and give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "experiments.settings",
        "evidence.examination",
        "evidence.faithfulness_tables",
        "evidence.heat",
        "evidence.numbered_phrases",
        "evidence.predictions",
        "evidence.terminal",
        "evidence.words",
        "serving.models",
    ],
)
def test_the_examples_run(module: str) -> None:
    found = doctest.testmod(import_module(f"labelwise.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
