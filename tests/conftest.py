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

LONGEST = (
    "page",
    "serving",
    "tests/methods/test_networks_learn.py",
    "tests/cli/test_reproduce.py",
    "tests/cli/test_networks_cli.py",
    "tests/methods/test_networks_processes.py",
    "ensemble-lwan",
    "tests/cli/test_compact.py",
    "tests/cli/test_tune.py",
    "tests/cli/test_shipped.py",
    "tests/cli/test_prepare.py",
    "tests/cli/test_demo.py",
    "inference",
    "tests/evaluation/test_report.py",
    "tests/training/test_resume.py",
    "tests/campaigns/test_chaos.py",
    "tests/bench/test_encoder_cpu.py",
    "tests/bench/test_training_bench.py",
    "site",
)
"""Groups and files that begin first, so that no worker has one of them left at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file run in one worker, which makes what they share once."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    marker = item.get_closest_marker("xdist_group")
    group = marker.args[0] if marker else ""
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)


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
