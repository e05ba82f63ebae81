"""The examples in the docstrings of the export room run and print what they say."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import labelwise.export


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.iter_modules(labelwise.export.__path__)]
)
def test_the_examples_hold(name: str) -> None:
    assert doctest.testmod(import_module(f"labelwise.export.{name}")).failed == 0
