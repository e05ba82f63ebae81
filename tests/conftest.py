"""Shared fixtures: the real data where the user has it, and one small synthetic data set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # There is a worker for each core: threads beyond one would wait for those of the other, in the
    # commands that tests call too. It counts only where torch was not imported yet.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.synthetic import make_dataset


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file run in one worker, which makes what they share once."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder that holds eurlex57k/, eurovoc/ and vectors/; tests skip without it."""
    folder = os.environ.get("LABELWISE_DATA")
    if not folder:
        pytest.skip("needs the real data: set LABELWISE_DATA to the folder that holds eurlex57k/")
    return Path(folder)


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A small synthetic data set: 600 training, 80 dev and 80 test documents."""
    folder = tmp_path_factory.mktemp("synthetic")
    make_dataset(folder, seed=0, train=600, dev=80, test=80)
    return open_dataset(folder)
