"""Training MINILM-LWAN and MPNET-LWAN on a card beside the same network made of ``transformers``.

The peer is a pretrained encoder with label-wise attention as one writes it: the encoder is theirs,
with their own attention, over rows padded to the longest of the batch; the attention of labels is
plain PyTorch, with its weights held whole. Dropout acts at the same places as in ours.

Both sides get the same weights and the same batches, in one process and in turns, and do what the
training loop does in a step: gather, forward in bfloat16, backward, clip, AdamW. Of an epoch's
batches some are measured, evenly from the shortest to the longest, and the epoch is reckoned from
them. What was random, and what a prepared corpus or an encoder's folder gave, the result says.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.bench import Plan, Result, cuda
from labelwise.bench.results import spread, taking_turns
from labelwise.errors import LabelwiseError
from labelwise.layers.encoder_files import FOLDERS, EncoderShape, read_shape, read_weights
from labelwise.methods.encoder import EncoderMaterial, EncoderNetwork, EncoderSettings
from labelwise.methods.minilm_lwan import MinilmLwanSettings
from labelwise.methods.mpnet_lwan import MpnetLwanSettings
from labelwise.progress import track
from labelwise.text.pieces import Pieces
from labelwise.training.batches import Batch, Gatherer, epoch_batches
from labelwise.training.loop import parameter_groups
from labelwise.training.losses import bce
from labelwise.training.numbered import Numbered, Reading, gold_columns
from labelwise.training.prepared import NumberedSplit, read_prepared

OURS, PEER = "labelwise", "transformers and plain PyTorch"
REPEATS = 3
SPECIAL = 101, 102  # any two pieces may open and close a row

SHARES = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
PIECES = (60, 349, 426, 545, 719, 1214, 2110, 2775, 6000)
"""So many of EURLEX57K's training documents have at most so many of MiniLM's word pieces."""

GOLD = 5  # labels of a document


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


def split_of(
    folder: Path | None, documents: int, labels: int, rows: int
) -> tuple[NumberedSplit, Any]:
    """The training documents of a prepared corpus and what is told of them; without such a folder,
    random ones, and None."""
    if folder is None or not (folder / "data.json").is_file():
        return random_split(documents, labels, rows), None
    prepared, _ = read_prepared(folder)
    if not isinstance(prepared.vocabulary, Pieces):
        raise LabelwiseError(
            f"{folder} is prepared in words, and encoders read word pieces: prepare it with "
            "`labelwise prepare --encoder`"
        )
    record = json.loads((folder / "data.json").read_text("utf-8"))
    return prepared.train, record["data"]


def random_split(documents: int, labels: int, rows: int) -> NumberedSplit:
    """Documents as long as those of EURLEX57K, of random pieces and with random labels."""
    random = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(lengths(documents))]).astype(np.int64)
    tokens = random.integers(min(1_000, rows // 2), rows, starts[-1]).astype(np.int32)
    gold = random.integers(0, labels, (documents, GOLD))
    each = np.repeat(np.arange(documents), GOLD)
    matrix = sp.csr_matrix(
        (np.ones(documents * GOLD, np.int8), (each, gold.ravel())), shape=(documents, labels)
    )
    ids = [str(number) for number in range(documents)]
    return NumberedSplit(tokens, starts, np.arange(documents + 1), ids, matrix)


def lengths(documents: int) -> NDArray[np.int64]:
    """Word pieces of so many documents like those of EURLEX57K, the shortest first.

    >>> lengths(4).tolist()
    [445, 632, 966, 1960]
    """
    share = (np.arange(documents) + 0.5) / documents
    return np.interp(share, SHARES, PIECES).astype(np.int64)


def _transformers() -> Any:
    try:
        import transformers
    except ImportError:
        raise LabelwiseError(
            "encoders are held against those of transformers, which is not installed: "
            "pip install transformers"
        ) from None
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return transformers


def transformers_version() -> dict[str, str]:
    return {"transformers": _transformers().__version__}


def transformers_model(shape: EncoderShape, *, dropout: float = 0.0) -> Any:
    """An encoder of this shape with random weights."""
    transformers = _transformers()
    bert = shape.kind == "bert"
    config_type = transformers.BertConfig if bert else transformers.MPNetConfig
    config = config_type(
        vocab_size=shape.rows,
        hidden_size=shape.width,
        num_attention_heads=shape.heads,
        num_hidden_layers=shape.layers,
        intermediate_size=shape.inner,
        max_position_embeddings=shape.positions + (0 if bert else 2),
        layer_norm_eps=shape.epsilon,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=0.0,  # ours has none among tokens
        **({} if bert else {"relative_attention_num_buckets": shape.buckets}),
    )
    model_type = transformers.BertModel if bert else transformers.MPNetModel
    return model_type(config, add_pooling_layer=False)


class PlainEncoder(nn.Module):
    """The logits of a batch, as ours gives them, from the same word pieces."""

    def __init__(self, model: Any, labels: nn.Module, special: tuple[int, int]) -> None:
        super().__init__()
        self.model, self.labels, self.special = model, labels, special

    def forward(self, batch: Batch) -> Tensor:
        longest = batch.tokens.shape[1]
        at = torch.arange(longest + 2, device=batch.tokens.device)
        lengths = batch.lengths[:, None]  # (S, 1)
        first, last = self.special
        ids = nn.functional.pad(batch.tokens, (1, 1), value=last)  # (S, T + 2)
        ids = torch.where(at > lengths, last, ids)
        ids[:, 0] = first
        real = at < lengths + 2
        h = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state[:, 1:-1]

        # (S, T, H) to (D, K · T, H): the pieces of a document side by side, padding and all.
        documents, most = len(batch), int(batch.cpu_counts.max())
        tokens = h.new_zeros(documents, most, longest, h.shape[2])
        tokens[batch.owner, batch.position] = h
        there = torch.zeros(documents, most, longest, dtype=torch.bool, device=h.device)
        there[batch.owner, batch.position] = at[:longest] < lengths
        return plain_attention(tokens.flatten(1, 2), there.flatten(1), *self.labels())


def plain_attention(
    h: Tensor, there: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor
) -> Tensor:
    """Tokens (D, M, H) and which are there (D, M) to the logits (D, L), every weight held."""
    scores = queries @ h.transpose(1, 2)  # (D, L, M)
    weights = scores.masked_fill(~there[:, None], float("-inf")).softmax(-1)
    read = weights.to(h.dtype) @ h  # (D, L, H)
    return (read * outputs).sum(-1) + bias
