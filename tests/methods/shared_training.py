"""Run by test_networks_processes.py in each of several processes: trains small networks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from encoder_cases import tiny_encoder
from network_cases import NAMES, acts, label_space, small

from labelwise.methods.minilm_lwan import MinilmLwan
from labelwise.methods.network import NetworkMethod
from labelwise.training.processes import together

ENCODER = "minilm-lwan"
TRAINED = [*NAMES, ENCODER]


def trained(name: str, folder: Path) -> NetworkMethod:
    """A network after two epochs, with all that is drawn at random. The last batch of an epoch has
    two acts, so that of four processes two have none."""
    torch.set_num_threads(1)
    train = acts(26)
    if name == ENCODER:
        method: Any = MinilmLwan(
            MinilmLwan.Settings(
                encoder=str(tiny_encoder("bert")), piece_tokens=12, stride=12, epochs=2,
                averaging=0.9, device="cpu",
            )
        )  # fmt: skip
    else:
        method = small(name, dropout=0.3, word_dropout=0.1, averaging=0.9)
    method.run_dir = folder / name
    method.fit(train, acts(12, seed=1), label_space(train))
    found: NetworkMethod = method
    return found


def losses(folder: Path, name: str) -> list[tuple[float, float]]:
    """The loss and the dev RP@5 of each epoch."""
    lines = map(json.loads, (folder / name / "log.jsonl").read_text("utf-8").splitlines())
    return [(line["loss"], line["dev_rp5"]) for line in lines if line["event"] == "epoch"]


if __name__ == "__main__":
    out, names = Path(sys.argv[1]), sys.argv[2:]
    with together("cpu") as processes:
        for name in names:
            scores = trained(name, out).scores(acts(5, seed=2))
            (out / f"{name}-{processes.rank}.json").write_text(json.dumps(scores.tolist()))
