"""Search and reproduction on a Ray cluster: a lost node costs time, and no trial."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus.synthetic import make_dataset
from labelwise.errors import LabelwiseError
from labelwise.tuning.jobs import Jobs

QUICK = ["units=8", "dim=10", "epochs=12", "patience=12", "max_tokens=200", "device=cpu"]


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that runs nothing; a test adds nodes."""
    pytest.importorskip("ray", reason="needs ray: labelwise[ray]")
    from ray.cluster_utils import Cluster

    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    yield started
    started.shutdown()


def command(folder: Path, address: str, *arguments: object) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "labelwise", *map(str, arguments)]
    return subprocess.Popen(
        words, cwd=folder, env={**os.environ, "RAY_ADDRESS": address}, stderr=subprocess.PIPE
    )


def ended(process: subprocess.Popen[bytes]) -> str:
    _, said = process.communicate(timeout=900)
    assert process.returncode == 0, said.decode()
    return said.decode()


def wait_for(*files: Path, unless: subprocess.Popen[bytes]) -> None:
    for _ in range(6_000):
        if all(file.is_file() and file.stat().st_size for file in files):
            return
        assert unless.poll() is None, unless.communicate()
        time.sleep(0.1)
    raise AssertionError(f"{files} never came")


@pytest.mark.slow
def test_trials_of_a_lost_node_are_tried_again_and_the_study_goes_on_without_ray(
    cluster: Any, tmp_path: Path
) -> None:
    make_dataset(tmp_path / "acts", train=60, dev=12, test=12)
    _, lost = (cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20) for _ in range(2))
    asked = ["tune", "bigru-att", "--data", "acts", "--study", "att.db", "--trials", 3]
    asked += ["--vary", "learning_rate=0.001..0.004", "--out", "att.toml"]
    asked += [word for one in QUICK for word in ("--set", one)]
    searching = command(tmp_path, cluster.address, *asked, "--on", "ray", "--jobs", 2)
    trials = tmp_path / "att.trials"
    # A node has room for one: where two learn, each node has one of them.
    wait_for(*(trials / f"trial-{at}" / "log.jsonl" for at in (0, 1)), unless=searching)
    cluster.remove_node(lost, allow_graceful=False)
    said = ended(searching)
    assert said.count(": complete") == 3, said
    settings = (tmp_path / "att.toml").read_text("utf-8")
    assert "Tried: 3 trials to their end, 0 that failed" in settings

    ended(command(tmp_path, "", *asked))  # here, where nothing is left to try
    assert (tmp_path / "att.toml").read_text("utf-8") == settings

    on_ray = ["--on", "ray", "--resources", "cpus=1", "--no-report"]
    reproducing = ["reproduce", "--data", "acts", "-m", "exact-match", *on_ray]
    assert "exact-match, seed 0: started" in ended(command(tmp_path, cluster.address, *reproducing))
    assert (tmp_path / "results" / "acts" / "exact-match" / "seed-0.json").is_file()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"on": "slurm"}, "cannot run on 'slurm': write ray, or ray://HOST:PORT"),
        ({"resources": "cpus=four"}, "'cpus=four' is no resource of a node"),
        ({"resources": "gpus=-1"}, "'gpus=-1' is no resource of a node"),
    ],
)
def test_what_is_no_place_to_run_is_said_before_anything_runs(
    given: dict[str, str], problem: str
) -> None:
    with pytest.raises(LabelwiseError, match=problem):
        Jobs(2, **given)
