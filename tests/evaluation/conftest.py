"""Fixtures of the evaluation tests."""

from __future__ import annotations

import pytest
from evaluation_cases import Example
from evaluation_cases import worked_example as make_worked_example


@pytest.fixture
def worked_example() -> Example:
    return make_worked_example()
