"""Training MINILM-LWAN and MPNET-LWAN on a card beside the same network made of ``transformers``.

Both sides get the same weights and the same batches, in one process and in turns, and do what the
training loop does in a step: gather, forward in bfloat16, backward, clip, AdamW. Of an epoch's
batches some are measured, evenly from the shortest to the longest, and the epoch is reckoned from
them. What was random, and what a prepared corpus or an encoder's folder gave, the result says.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from labelwise.bench import cuda
from labelwise.bench.encoder_peer import (
    PlainEncoder,
    split_of,
    transformers_model,
    transformers_version,
)
from labelwise.bench.plan import Plan, Result
from labelwise.bench.results import spread, taking_turns
from labelwise.layers.encoder_files import FOLDERS, EncoderShape, read_shape, read_weights
from labelwise.methods.encoder import EncoderMaterial, EncoderNetwork, EncoderSettings
from labelwise.methods.minilm_lwan import MinilmLwanSettings
from labelwise.methods.mpnet_lwan import MpnetLwanSettings
from labelwise.progress import track
from labelwise.training.batches import Batch, Gatherer, epoch_batches
from labelwise.training.loop import parameter_groups
from labelwise.training.losses import bce
from labelwise.training.numbered import Numbered, Reading, gold_columns

OURS, PEER = "labelwise", "transformers and plain PyTorch"
REPEATS = 3
SPECIAL = 101, 102  # any two pieces may open and close a row


@dataclass(frozen=True)
class Encoder:
    """One of the encoders that are measured."""

    name: str
    shape: EncoderShape
    settings: EncoderSettings


@dataclass(frozen=True)
class Scale:
    """How much is measured; a test takes less."""

    encoders: Sequence[Encoder]
    documents: int = 45_000
    labels: int = 4_108  # of EURLEX57K's labels, those that training documents carry
    batches: int = 16


FULL = Scale(
    (
        Encoder(
            "all-MiniLM-L6-v2",
            EncoderShape("bert", 30_522, 384, 12, 6, 1_536, 512, 1e-12),
            MinilmLwanSettings(),
        ),
        Encoder(
            "all-mpnet-base-v2",
            EncoderShape("mpnet", 30_527, 768, 12, 12, 3_072, 512, 1e-5, 32),
            MpnetLwanSettings(),
        ),
    )
)


def run(plan: Plan) -> Result:
    return benchmark(plan, FULL, "cuda")


def benchmark(plan: Plan, scale: Scale, device: str) -> Result:
    """Each encoder in turn, written as it is done; none is begun once the time is up."""
    split, data = split_of(
        plan.data, scale.documents, scale.labels, min(one.shape.rows for one in scale.encoders)
    )
    result: Result = {
        "what": "Training an encoder with label-wise attention on a GPU",
        "text": "A step is gathering a batch, forward in bfloat16 by autocast, backward, clipping "
        "and AdamW; both sides take the same steps from the same weights, in turns. The peer's "
        "encoder is that of transformers, with its own attention over padded rows, its attention "
        "of labels is plain PyTorch. An epoch is reckoned from "
        f"{scale.batches} of its batches, evenly from the shortest to the longest, without scoring "
        "dev. Documents are "
        + ("a prepared corpus." if data else "random pieces, as long as those of EURLEX57K."),
        **({"data": data} if data else {}),
        "repeats": plan.repeats or REPEATS,
        "versions": transformers_version(),
        "left out": [],
        "tables": [],
    }
    deadline = time.perf_counter() + plan.max_seconds
    for encoder in track(scale.encoders, "encoders"):
        if time.perf_counter() > deadline:
            result["left out"].append(encoder.name)
            continue
        examples = split.rows(_reading(encoder.settings))
        result["tables"].append(table(encoder, examples, scale.batches, result["repeats"], device))
        plan.keep(result)
        cuda.free(device)
    return result


def table(
    encoder: Encoder, examples: Numbered, batches: int, repeats: int, device: str
) -> dict[str, Any]:
    """Both sides of one encoder."""
    s = encoder.settings
    ours, peer, weights = networks(encoder, examples.gold.shape[1], device)
    epoch = epoch_batches(examples, s.batch, s.batch_tokens, s.seed, epoch=0)
    gather = Gatherer(examples, torch.device(device))
    chosen = some_batches(epoch, examples, batches)
    gold = torch.from_numpy(gold_columns(examples.gold)).to(device)
    difference = _difference(ours, peer, gather(chosen[0]), device)
    documents = sum(map(len, chosen))

    sides: dict[str, Callable[[], float]] = {}
    memory: dict[str, Any] = {}
    for name, network in ((OURS, ours), (PEER, peer)):
        training = _Training(network, s, gather, gold, device)
        try:
            training.epoch(chosen)  # kernels are compiled for its shapes, and memory is found
            held = 3 * sum(p.numel() * p.element_size() for p in training.parameters)  # with Adam's
            extra = cuda.extra_memory(lambda one=training: one.epoch(chosen), device)  # type: ignore[misc]
        except torch.OutOfMemoryError:
            memory[name] = cuda.OUT_OF_MEMORY
            continue
        memory[name] = None if extra is None else held + extra
        sides[name] = lambda one=training: one.epoch(chosen)  # type: ignore[misc]
    found = taking_turns(sides, repeats)
    rows = []
    for name, held in memory.items():
        seconds = found.get(name)
        row: dict[str, Any] = {"": name, "memory": held}
        if seconds is not None:
            row["documents a second"] = spread([documents / one for one in seconds])
            row["epoch"] = spread([one * len(epoch) / len(chosen) for one in seconds])
        rows.append(row)
    return {
        "what": f"{encoder.name}, {len(examples):,} documents, {s.pieces} pieces of "
        f"{s.piece_tokens} tokens, {s.batch} documents a batch",
        "text": f"{len(epoch):,} batches, of which {len(chosen)} were measured; "
        f"{examples.gold.shape[1]:,} labels; weights {weights}. Before training the logits "
        f"of the two differ by at most {difference:.2g} of their deviation, in bfloat16.",
        "difference": difference,
        "columns": [
            "",
            {"key": "documents a second", "as": "count"},
            {"key": "epoch", "name": "an epoch", "as": "seconds"},
            {"key": "epoch", "name": "times as fast", "as": "times", "peer": PEER},
            {"key": "memory", "name": "peak memory", "as": "bytes"},
        ],
        "rows": rows,
    }


def networks(
    encoder: Encoder, labels: int, device: str
) -> tuple[EncoderNetwork, PlainEncoder, str]:
    """Ours and the peer's with the same weights, and where these are from."""
    torch.manual_seed(0)
    folder = known_folder(encoder.name)
    shape = encoder.shape if folder is None else read_shape(folder)
    model = transformers_model(shape, dropout=encoder.settings.dropout)
    if folder is not None:
        model = type(model).from_pretrained(folder, config=model.config, add_pooling_layer=False)
    with tempfile.TemporaryDirectory() as work:
        model.save_pretrained(work)
        stored = read_weights(Path(work))
    material = EncoderMaterial(
        shape,
        *SPECIAL,
        nn.functional.normalize(torch.randn(labels, shape.width)),
        torch.full((labels,), -5.0),
        torch.zeros(shape.width),
        torch.eye(shape.width),
    )
    ours = EncoderNetwork(material, encoder.settings)
    ours.load_state_dict(ours.state_dict() | stored)
    peer = PlainEncoder(model, deepcopy(ours.labels), SPECIAL)
    source = "of the encoder" if folder is not None else "random, in the encoder's shape"
    return ours.to(device), peer.to(device), source


def known_folder(name: str) -> Path | None:
    """The encoder's folder, where there is one on this machine."""
    for folder in (os.environ.get(FOLDERS), "encoders"):
        if folder and (Path(folder) / name / "model.safetensors").is_file():
            return Path(folder) / name
    return None


def some_batches(
    epoch: Sequence[Sequence[int]], examples: Numbered, count: int
) -> list[Sequence[int]]:
    """So many batches of an epoch, evenly from the one with the fewest tokens to the largest."""
    rows = examples
    tokens = np.add.reduceat(rows.lengths, rows.first[:-1])  # (D,)
    ordered = sorted(epoch, key=lambda batch: int(tokens[list(batch)].sum()))
    count = min(count, len(ordered))
    return [ordered[int((at + 0.5) * len(ordered) / count)] for at in range(count)]


class _Training:
    """The steps of the training loop, for either side."""

    def __init__(
        self,
        network: nn.Module,
        settings: EncoderSettings,
        gather: Gatherer,
        gold: Tensor,
        device: str,
    ) -> None:
        self.network, self.settings, self.device = network.train(), settings, device
        self.gather, self.gold = gather, gold
        groups = parameter_groups(network, settings)
        self.parameters = [p for group in groups for p in group["params"]]
        # A small rate: a network of random weights is to stay finite, at any rate the same work.
        self.optimizer = torch.optim.AdamW(
            groups, lr=1e-6, betas=(0.9, settings.beta2), fused=device == "cuda"
        )

    def epoch(self, batches: Sequence[Sequence[int]]) -> float:
        """Seconds of training on these batches."""
        started = time.perf_counter()
        for documents in batches:
            self._step(self.gather(documents))
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - started

    def _step(self, batch: Batch) -> None:
        with torch.autocast(self.device, torch.bfloat16):
            logits = self.network(batch)
        target = torch.zeros(len(batch), logits.shape[1] + 1, device=logits.device)
        target.scatter_(1, self.gold[batch.index], 1.0)  # the last column takes what is no label
        bce(logits.float(), target[:, :-1]).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def _difference(ours: nn.Module, peer: nn.Module, batch: Batch, device: str) -> float:
    """How far the two networks are apart on a batch, in bfloat16 and without dropout."""
    with torch.no_grad(), torch.autocast(device, torch.bfloat16):
        a, b = (network.eval()(batch).float() for network in (ours, peer))
    return float((a - b).abs().max() / b.std())


def _reading(settings: EncoderSettings) -> Reading:
    return Reading(settings.max_tokens, piece_tokens=settings.piece_tokens, stride=settings.stride)
