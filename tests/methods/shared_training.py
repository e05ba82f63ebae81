"""Run by test_networks_processes.py in each of several processes: trains small networks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from encoder_cases import tiny_encoder
from network_cases import NAMES, TOPICS, acts, label_space, small
from safetensors.torch import save_file
from torch import Tensor

from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.layers.label_parallel import LabelParallel, own_labels
from labelwise.layers.labels import LabelWise
from labelwise.methods.minilm_lwan import MinilmLwan
from labelwise.methods.network import NetworkMethod
from labelwise.training.processes import Processes, together

ENCODER = "minilm-lwan"
HBM = "bigru-lwan-hbm"
"""A network whose loss asks which labels are siblings."""
TRAINED = [*NAMES, ENCODER, HBM]
LABELS = 11


def thesaurus() -> Thesaurus:
    """The topics under concepts that are no labels: two of them, one of which is unseen, at sea."""
    above = {"693": "1", "3173": "1", "2437": "2", "5255": "2"}
    topics = [
        Concept(id, "", name, broader=(above[id],) if id in above else ())
        for id, (name, _) in TOPICS.items()
    ]
    return Thesaurus.of([*topics, Concept("1", "", "produce"), Concept("2", "", "sea")])


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
    elif name == HBM:
        method = small("bigru-lwan", dropout=0.3, loss="hbm")
        method.thesaurus = thesaurus()
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


def encoded(rank: int) -> tuple[Tensor, Tensor]:
    """What a process has encoded: one document more than the process before, and longer ones."""
    source = torch.Generator().manual_seed(rank)
    lengths = torch.arange(rank + 2) + 3
    h = torch.randn(len(lengths), int(lengths[-1]), 8, generator=source)
    return h.requires_grad_(), lengths


def share_labels(processes: Processes, out: Path) -> None:
    """The logits, the loss and the gradients of a process that has some of the labels."""
    h, lengths = encoded(processes.rank)
    own = own_labels(LABELS, processes.rank, processes.size)
    shared = LabelParallel(8, torch.zeros(own.stop - own.start))
    whole = every_label()
    with torch.no_grad():
        for mine, theirs in zip(shared.labels(), whole(), strict=True):
            mine.copy_(theirs[own])
    logits = shared(h, lengths)
    (logits.sigmoid().sum()).backward()
    found = {"logits": logits, "h": h.grad, "queries": shared.labels.queries.grad}
    save_file(
        {name: x.detach().contiguous() for name, x in found.items()},
        out / f"labels-{processes.rank}.safetensors",
    )


def every_label() -> LabelWise:
    torch.manual_seed(7)
    return LabelWise(8, torch.zeros(LABELS))


if __name__ == "__main__":
    out, names = Path(sys.argv[1]), sys.argv[2:]
    with together("cpu") as processes:
        share_labels(processes, out)
        for name in names:
            scores = trained(name, out).scores(acts(5, seed=2))
            (out / f"{name}-{processes.rank}.json").write_text(json.dumps(scores.tolist()))
