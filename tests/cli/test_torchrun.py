"""The command under torchrun: one bundle, one log; a killed process ends all, and it goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset

QUICK = ["units=8", "dim=10", "max_tokens=150", "device=cpu", "epochs=3"]
PROGRAM = """
from labelwise.training import loop
loop.CHECKPOINT_SECONDS = 0.0
from labelwise.cli import main
main()
"""


def train(folder: Path, out: str, size: int, *more: str) -> subprocess.Popen[bytes]:
    """A training by so many processes that keeps a checkpoint after every step."""
    (folder / "train.py").write_text(PROGRAM)
    words = ["train", "bigru-lwan", "--data", "acts", "--out", out, *more]
    words += [word for one in QUICK for word in ("--set", one)]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(size)]
    return subprocess.Popen(
        [sys.executable, *torchrun, "train.py", *words],
        cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.mark.slow
def test_a_killed_process_ends_all_and_another_number_of_them_goes_on(tmp_path: Path) -> None:
    make_dataset(tmp_path / "acts", train=60, dev=12, test=12)
    whole = train(tmp_path, "whole", 1)
    said, _ = whole.communicate(timeout=900)
    assert whole.returncode == 0, said.decode()

    killed = train(tmp_path, "killed", 2)
    checkpoint = tmp_path / "killed.run" / "checkpoint.safetensors"
    while not checkpoint.exists():
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.05)
    workers = psutil.Process(killed.pid).children()
    last = max(workers, key=lambda one: int(one.environ().get("RANK", -1)))
    last.send_signal(signal.SIGKILL)
    said, _ = killed.communicate(timeout=900)
    assert killed.returncode != 0
    assert not any(one.is_running() and one.status() != "zombie" for one in workers)
    assert not (tmp_path / "killed" / "bundle.json").exists()

    resumed = train(tmp_path, "killed", 4, "--resume")
    said, _ = resumed.communicate(timeout=900)
    assert resumed.returncode == 0, said.decode()
    assert said.decode().count("bigru-lwan") == 1, "one of them tells"
    assert bundles.describe(tmp_path / "killed")["card"]["processes"] == 4
    documents = open_dataset(tmp_path / "acts").test
    np.testing.assert_allclose(
        bundles.load(tmp_path / "killed").scores(documents),
        bundles.load(tmp_path / "whole").scores(documents),
        atol=1e-3,
    )


@pytest.mark.slow
def test_what_several_processes_cannot_train_is_said(tmp_path: Path) -> None:
    make_dataset(tmp_path / "acts", train=60, dev=12, test=12)
    told = {"WORLD_SIZE": "2", "RANK": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "labelwise", "train", "svm", "--data", "acts", "--out", "no"],
        cwd=tmp_path, env=os.environ | told, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert b"svm is trained by one process" in done.stderr
