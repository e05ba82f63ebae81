"""Shared fixtures: the real data where the user has it, and one small synthetic data set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder that holds eurlex57k/, eurovoc/ and vectors/; tests skip without it."""
    folder = os.environ.get("LABELWISE_DATA")
    if not folder:
        pytest.skip("needs the real data: set LABELWISE_DATA to the folder that holds eurlex57k/")
    return Path(folder)
