"""Several processes train the network that one would have trained: every network, the encoder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from network_cases import acts
from safetensors.torch import load_file
from shared_training import TRAINED, encoded, every_label, losses, trained
from torch.nn.functional import pad

from labelwise.bench.load import free_port
from labelwise.kernels.label_attention import label_attention

PROGRAM = Path(__file__).parent / "shared_training.py"
TESTS = PROGRAM.parents[1]


def start(size: int, *arguments: str) -> None:
    """As many processes as torchrun would start, with what it tells them."""
    told = {"WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    path = os.pathsep.join([*sys.path, str(PROGRAM.parent), str(TESTS)])
    running = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments],
            env={**os.environ, **told, "RANK": str(rank), "PYTHONPATH": path},
            stderr=subprocess.PIPE,
        )
        for rank in range(size)
    ]
    for one in running:
        _, errors = one.communicate(timeout=600)
        assert one.returncode == 0, errors.decode()


@pytest.fixture(scope="module")
def by_processes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """The folder of trainings of all networks by so many processes."""
    made: dict[int, Path] = {}

    def folder(size: int) -> Path:
        if size not in made:
            made[size] = tmp_path_factory.mktemp(f"by-{size}")
            start(size, str(made[size]), *TRAINED)
        return made[size]

    return folder


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", TRAINED)
def test_losses_dev_and_scores_are_those_of_one_process(
    by_processes: Callable[[int], Path], tmp_path: Path, name: str, size: int
) -> None:
    several = by_processes(size)
    alone = trained(name, tmp_path)
    np.testing.assert_allclose(losses(several, name), losses(tmp_path, name), rtol=1e-4)
    expected = alone.scores(acts(5, seed=2))
    for rank in range(size):  # all end with the network
        found = json.loads((several / f"{name}-{rank}.json").read_text("utf-8"))
        np.testing.assert_allclose(found, expected, atol=1e-4)
    logs = (several / name / "log.jsonl").read_text("utf-8").splitlines()
    assert len(logs) == 4  # the first process alone writes: start, two epochs, end
    assert json.loads(logs[0])["processes"] == size


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_labels_that_processes_share_have_the_logits_and_gradients_of_labels_in_one_place(
    by_processes: Callable[[int], Path], size: int
) -> None:
    found = [load_file(by_processes(size) / f"labels-{rank}.safetensors") for rank in range(size)]
    parts = [encoded(rank) for rank in range(size)]
    labels = every_label()
    longest = max(h.shape[1] for h, _ in parts)
    h = torch.cat([pad(h, (0, 0, 0, longest - h.shape[1])) for h, _ in parts])
    logits = label_attention(h, torch.cat([lengths for _, lengths in parts]), *labels())
    logits.sigmoid().sum().backward()
    torch.testing.assert_close(torch.cat([one["logits"] for one in found], 1), logits.detach())
    torch.testing.assert_close(torch.cat([one["queries"] for one in found]), labels.queries.grad)
    for one, (own, _) in zip(found, parts, strict=True):
        torch.testing.assert_close(one["h"], own.grad)
