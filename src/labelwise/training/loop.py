"""The one training loop, for every network.

Binary cross-entropy over all labels (or another of ``losses``), summed over labels and averaged
over documents; AdamW; a learning rate that warms up and then falls linearly to zero; early stopping
on dev RP@5, the best weights kept. What a step does follows from the seed and its number alone, so
that a training that was killed goes on from its last checkpoint as if nothing had happened.
Several processes (``processes``) share every batch, and take the steps that one would.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.errors import LabelwiseError
from labelwise.evaluation.counts import at_k, bitmask
from labelwise.layers import Embedding
from labelwise.layers.dropout import Share, sharing
from labelwise.locks import locked
from labelwise.progress import bar
from labelwise.training.batches import Batch, Gatherer, epoch_batches
from labelwise.training.checkpoint import before, last_checkpoint, write_checkpoint
from labelwise.training.device import autocast, choose_device, memory_errors
from labelwise.training.log import RunLog
from labelwise.training.losses import LOSSES, hbm
from labelwise.training.numbered import Numbered, gold_columns
from labelwise.training.predict import predict_batches
from labelwise.training.processes import processes
from labelwise.training.recipe import Recipe
from labelwise.training.top import highest_columns

CHECKPOINT_SECONDS = 60.0
"""At most this much work, and a step, is lost when a training is killed."""

CHECKPOINT_TAKES = 3.0
"""Seconds. One that takes longer is written less often: a twentieth of the time, and no more, goes
into checkpoints, also where an encoder of 100 million parameters has gigabytes to keep."""

WAIT = 5.0
"""Seconds that a training waits for another one to leave its folder."""

LOOK_BACK = 20
"""Steps between looks at the loss on a GPU, for each look makes it wait."""


@dataclass(frozen=True)
class RunFolder:
    """Where a training keeps its checkpoint and its log, and whether it goes on from there."""

    path: Path
    resume: bool = False

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.safetensors"

    @property
    def checkpoints(self) -> list[Path]:
        """The last one and the one before, where they are there."""
        return [one for one in (self.checkpoint, before(self.checkpoint)) if one.exists()]

    @property
    def log(self) -> Path:
        return self.path / "log.jsonl"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Within it no other training writes to the folder. One that was killed with the command
        that started it may take a moment to end."""
        busy = (
            f"{self.path}: another training is writing to this folder: wait for it to end, or give "
            "this one a folder of its own"
        )
        with locked(self.path / ".lock", busy, wait=WAIT):
            yield


@dataclass
class Progress:
    """Where a training stands: all of it but the weights."""

    epoch: int = 0
    batch: int = 0  # batches of this epoch that are done
    step: int = 0
    seconds: float = 0.0
    best_rp5: float = -1.0
    best_ndcg5: float = -1.0
    best_epoch: int = -1
    finished: bool = False
    losses: list[float] = field(default_factory=list)  # of this epoch's steps


def train(
    network: nn.Module,
    examples: Numbered,
    dev: Numbered,
    recipe: Recipe,
    *,
    name: str = "training",
    run: RunFolder | None = None,
    identity: Mapping[str, Any] | None = None,
    siblings: NDArray[np.int64] | None = None,
) -> Progress:
    """Train the network; it ends with the weights that did best on dev, ready to score.

    Without dev documents the last weights are kept. ``identity`` is what else decides the result
    (labels, vocabulary, settings): a checkpoint of another training is not resumed. ``siblings``
    is the group of each label (``training.siblings``), which the loss ``hbm`` needs. Where several
    processes train together, all call this and all end with the network; the first one writes.
    """
    known = json.loads(json.dumps(dict(identity or {})))  # as a checkpoint will give it back
    training = _Training(
        network, examples, dev, recipe=recipe, name=name, run=run, identity=known, siblings=siblings
    )
    with run.locked() if run and training.processes.is_first else nullcontext():
        return training.run()


class _Training:
    def __init__(
        self,
        network: nn.Module,
        examples: Numbered,
        dev: Numbered,
        *,
        recipe: Recipe,
        name: str,
        run: RunFolder | None,
        identity: dict[str, Any],
        siblings: NDArray[np.int64] | None = None,
    ) -> None:
        self.network, self.examples, self.dev, self.recipe = network, examples, dev, recipe
        self.name, self.run_folder, self.identity = name, run, identity
        self.processes = processes()
        self.device = choose_device(recipe.device)
        network.to(self.device)
        self.model = self.processes.sharing_gradients(network)
        self.gather = Gatherer(examples, self.device)
        self.gather_dev = Gatherer(dev, self.device)
        self.gold, self.gold_dev = (
            torch.from_numpy(gold_columns(of.gold)).to(self.device) for of in (examples, dev)
        )  # (D, most)
        self.siblings = None if siblings is None else torch.from_numpy(siblings).to(self.device)
        self.groups = 0 if siblings is None else int(siblings.max()) + 1
        self.batch = recipe.batch_for(len(examples))
        groups = parameter_groups(network, recipe)
        self.parameters = [p for group in groups for p in group["params"]]
        self.optimizer = torch.optim.AdamW(
            groups,
            lr=recipe.learning_rate,
            betas=(0.9, recipe.beta2),
            fused=self.device.type == "cuda",
        )
        self.average = [p.detach().clone() for p in self.parameters] if recipe.averaging else []
        self.best: dict[str, Tensor] = {}
        self.state = Progress()
        # Losses that were not looked at yet, and the documents of the batch of each.
        self.unseen: list[tuple[Sequence[int], Tensor]] = []
        self.dev_seconds = 0.0  # what scoring the dev documents took the last time
        self.first_step = math.nan  # seconds from the start of this process's part to its end
        self.steps = recipe.epochs * len(self._batches(0))

    def run(self) -> Progress:
        self.processes.wait()  # for the first one, which has the lock now
        log_length = self._resume() if self.run_folder and self.run_folder.resume else 0
        self._require_one_beginning()
        writes = self.run_folder is not None and self.processes.is_first
        self.log = RunLog(self.run_folder.log if self.run_folder and writes else None, log_length)
        if self.state.finished:
            self.network.load_state_dict(self.best)
            return self.state
        self.began = time.monotonic()
        self.started = self.began - self.state.seconds
        self.written = time.monotonic()
        self.writing = 0.0  # seconds that the last checkpoint took
        if not self.state.step:
            self.log.write(
                event="start",
                method=self.name,
                documents=len(self.examples),
                batch=self.batch,
                steps=self.steps,
                device=str(self.device),
                processes=self.processes.size,
                parameters=sum(p.numel() for p in self.parameters),
                training=self.identity,
            )
        # A step seeds the generators from its number. The caller's are put back afterwards.
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices), bar(self.name, self.steps) as self.advance:
            self.advance(self.state.step)
            while not self.state.finished:
                self._epoch()
        self.network.load_state_dict(self.best)
        self.network.eval()
        return self.state

    def _epoch(self) -> None:
        state = self.state
        batches = self._batches(state.epoch)
        while state.batch < len(batches) and not self._out_of_time():
            self._step(batches[state.batch], len(batches))
            state.batch += 1
            state.step += 1
            if self._checkpoint_due():
                self._look_at_losses()
                self._write_checkpoint()
        self._look_at_losses()
        loss = float(np.mean(state.losses)) if state.losses else math.nan
        started = time.monotonic()
        with self._averaged():
            rp5, ndcg5 = self._dev_scores()
            self.dev_seconds = time.monotonic() - started
            # RP@5 decides, nDCG@5 where it cannot; without dev documents (NaN) the last epoch is
            # best.
            if math.isnan(rp5) or (rp5, ndcg5) > (state.best_rp5, state.best_ndcg5):
                state.best_rp5, state.best_ndcg5, state.best_epoch = rp5, ndcg5, state.epoch
                self.best = {k: v.detach().clone() for k, v in self.network.state_dict().items()}
        state.finished = (
            state.epoch + 1 >= self.recipe.epochs
            or state.epoch - state.best_epoch >= self.recipe.patience
            or self._out_of_time()
        )
        dev = {"dev_rp5": rp5, "dev_ndcg5": ndcg5} if not math.isnan(rp5) else {}
        took = {"dev_seconds": self.dev_seconds, "first_step_seconds": self.first_step}
        self.log.write(event="epoch", loss=loss, **dev, **took, **self._standing())
        if state.finished:
            self.log.write(event="end", **self._standing())
        state.epoch, state.batch, state.losses = state.epoch + 1, 0, []
        if state.finished or self._checkpoint_due():
            self._write_checkpoint()

    def _step(self, documents: Sequence[int], batches: int) -> None:
        state, recipe = self.state, self.recipe
        batch, share, weight = self._gathered(documents)
        torch.manual_seed(recipe.seed * 1_000_003 + state.step)  # what dropout draws in this step
        done = (state.epoch + state.batch / batches) / recipe.epochs
        if recipe.max_seconds is not None:
            done = max(done, self._elapsed() / recipe.max_seconds)
        rate = recipe.learning_rate_at(state.step, done, self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["share"]
        self.network.train()
        with memory_errors(batch):
            with autocast(self.device, recipe.precision), sharing(share):
                logits = self.model(batch)  # (D, L)
            loss = self._loss(logits.float(), batch) * weight
            self.optimizer.zero_grad(set_to_none=True)
            # The mean of all processes' gradients is to be the sum of their shares.
            (loss * self.processes.size).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.parameters, recipe.clip)
            self._decay_rows()
            self.optimizer.step()
            if self.average:
                # A mean at first: the weights that training began with are soon forgotten.
                kept = min(recipe.averaging, state.step / (state.step + 10))
                torch._foreach_lerp_(self.average, self.parameters, 1 - kept)
        self.unseen.append((documents, self.processes.summed(loss.detach())))
        first = math.isnan(self.first_step)
        if first or self.device.type == "cpu" or len(self.unseen) == LOOK_BACK:
            self._look_at_losses()
        if first:  # kernels are compiled in it
            self.first_step = time.monotonic() - self.began
        self.advance(1, self._description())

    def _gathered(self, documents: Sequence[int]) -> tuple[Batch, Share | None, float]:
        """What this process reads of a batch, where it stands in it, and its weight in the loss.

        One that a small batch leaves nothing for reads a document in vain, so that all take part.
        """
        if self.processes.size == 1:
            return self.gather(documents), None, 1.0
        part = self.processes.part(documents)
        own = part or documents[:1]
        return self.gather(own), self.gather.share(documents, own), len(part) / len(documents)

    @torch.no_grad()
    def _decay_rows(self) -> None:
        """Shrink the rows of word vectors that may change, as AdamW shrinks all of a matrix."""
        for group in self.optimizer.param_groups:
            if "decays" in group:
                (weight,) = group["params"]  # (V, E)
                weight.mul_(1 - group["lr"] * group["decays"])

    def _loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The loss over the labels that the network scores in training."""
        target = logits.new_zeros((len(batch), self.examples.gold.shape[1] + 1))
        target.scatter_(1, self.gold[batch.index], 1.0)  # the last column takes what is no label
        target = target[:, : logits.shape[1]]
        if self.recipe.loss != "hbm":
            return LOSSES[self.recipe.loss](logits, target)
        assert self.siblings is not None
        return hbm(
            logits,
            target,
            self.siblings[: logits.shape[1]],
            count=self.groups,
            bias=self.recipe.hbm_bias,
            margin=self.recipe.hbm_margin,
        )

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Within it the network has the averaged weights, where the recipe asks for them."""
        own = [p.detach().clone() for p in self.parameters] if self.average else []
        with torch.no_grad():
            if own:
                torch._foreach_copy_(self.parameters, self.average)
            yield
            if own:
                torch._foreach_copy_(self.parameters, own)

    def _look_at_losses(self) -> None:
        if not self.unseen:
            return
        losses = torch.stack([loss for _, loss in self.unseen]).tolist()
        for (documents, _), loss in zip(self.unseen, losses, strict=True):
            if not math.isfinite(loss):
                names = [self.examples.ids[document] for document in documents]
                shown = ", ".join(names[:8]) + (
                    f" and {len(names) - 8} more" if len(names) > 8 else ""
                )
                raise LabelwiseError(
                    f"the loss became {loss} in epoch {self.state.epoch + 1} on the batch of the "
                    f"documents {shown}: lower learning_rate or clip, or look at these documents"
                )
        self.state.losses += losses
        self.unseen = []

    def _dev_scores(self) -> tuple[float, float]:
        """RP@5 and nDCG@5 over the dev documents that have a label; NaN where none has.

        Only labels that training documents carry are ranked: an epoch is not chosen by labels that
        it cannot have learned, whose scores may be on another scale.
        """
        gold_labels = np.diff(self.dev.gold.indptr)  # (D,)
        if not gold_labels.any():
            return math.nan, math.nan
        hits = torch.zeros((len(self.dev), 5), dtype=torch.uint8, device=self.device)
        labels = np.arange(self.examples.gold.shape[1])
        others = np.setdiff1d(labels, self.examples.gold.indices)
        barred = torch.as_tensor(others, device=self.device)
        for batch, logits in predict_batches(
            self.network, self.gather_dev, self.recipe, share=self.processes
        ):
            ranked = highest_columns(logits.index_fill(1, barred, -math.inf), 5)  # (D, at most 5)
            gold = self.gold_dev[batch.index]  # (D, most)
            found = (ranked[:, :, None] == gold[:, None, :]).any(2)
            hits[batch.index, : ranked.shape[1]] = found.to(torch.uint8)
        hits = self.processes.summed(hits)
        kept = gold_labels > 0
        places = bitmask(hits.cpu().numpy()[kept] > 0)
        rp5, ndcg5 = (at_k(name, places, gold_labels[kept]).mean() for name in ("RP@5", "nDCG@5"))
        return float(rp5), float(ndcg5)

    def _batches(self, epoch: int) -> list[list[int]]:
        documents, recipe = self.examples, self.recipe
        return epoch_batches(documents, self.batch, recipe.batch_tokens, recipe.seed, epoch)

    def _out_of_time(self) -> bool:
        limit = self.recipe.max_seconds
        # The dev documents are still to be scored.
        return limit is not None and self._elapsed(self.dev_seconds) >= limit

    def _elapsed(self, later: float = 0.0) -> float:
        """Seconds from the beginning until so much later, by the clock of the first process."""
        return self.processes.agreed(time.monotonic() - self.started + later)

    def _standing(self) -> dict[str, Any]:
        self.state.seconds = time.monotonic() - self.started
        standing = asdict(self.state)
        del standing["losses"]
        return standing

    def _description(self) -> str:
        recent = self.state.losses[-LOOK_BACK:]
        parts = [f"{self.name} epoch {self.state.epoch + 1}/{self.recipe.epochs}"]
        if recent:
            parts.append(f"loss {np.mean(recent):.2f}")
        if self.state.best_rp5 >= 0:
            parts.append(f"dev RP@5 {self.state.best_rp5:.4f}")
        return " · ".join(parts)

    def _checkpoint_due(self) -> bool:
        every = CHECKPOINT_SECONDS * max(1.0, self.writing / CHECKPOINT_TAKES)
        return self.processes.is_first and time.monotonic() - self.written >= every

    def _write_checkpoint(self) -> None:
        if self.run_folder is None or not self.processes.is_first:
            return
        self.state.seconds = time.monotonic() - self.started
        tensors = {f"best.{k}": v for k, v in self.best.items()}
        if not self.state.finished:
            tensors |= {f"network.{k}": v for k, v in self.network.state_dict().items()}
            for at, parameter in enumerate(self.parameters):
                for key, value in self.optimizer.state[parameter].items():
                    tensors[f"optimizer.{at}.{key}"] = value
            tensors |= {f"average.{at}": value for at, value in enumerate(self.average)}
        values = {
            "identity": self.identity,
            "progress": asdict(self.state),
            "log_length": self.log.length,
        }
        started = time.monotonic()
        write_checkpoint(self.run_folder.checkpoint, tensors, values)
        self.written = time.monotonic()
        self.writing = self.written - started

    def _require_one_beginning(self) -> None:
        """Raise an error where processes go on from different checkpoints."""
        if self.processes.agreed(self.state.step) != self.state.step:
            raise LabelwiseError(
                "the processes of this training do not find the same checkpoint: give --run-dir a "
                "folder that all machines share"
            )

    def _resume(self) -> int:
        """Go back to the last checkpoint, if there is one; says how long the log was then."""
        assert self.run_folder is not None
        file = self.run_folder.checkpoint
        last = last_checkpoint(file)
        if last is None:
            return 0
        try:
            return self._go_back_to(file, *last)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise LabelwiseError(
                f"{file}: this checkpoint does not fit the training, as where another labelwise "
                f"wrote it ({error}): train without resuming"
            ) from error

    def _go_back_to(self, file: Path, tensors: dict[str, Tensor], values: dict[str, Any]) -> int:
        differing = [
            name
            for name in sorted(self.identity.keys() | values["identity"].keys())
            if self.identity.get(name) != values["identity"].get(name)
        ]
        if differing:
            raise LabelwiseError(
                f"{file}: this checkpoint belongs to another training, which differs in "
                f"{', '.join(differing)}: train with the same, or without resuming"
            )
        self.state = Progress(**values["progress"])
        self.best = {k: v.to(self.device) for k, v in _under("best.", tensors).items()}
        if self.state.finished:
            return int(values["log_length"])
        self.network.load_state_dict(_under("network.", tensors))
        for at, parameter in enumerate(self.parameters):
            moments = _under(f"optimizer.{at}.", tensors)
            self.optimizer.state[parameter] = {k: v.to(self.device) for k, v in moments.items()}
        for at, value in enumerate(self.average):
            value.copy_(tensors[f"average.{at}"])
        return int(values["log_length"])


@runtime_checkable
class LearningByShares(Protocol):
    """A network whose parts do not all learn at the same rate."""

    learning_shares: Mapping[str, float]
    """A share of the rate by the beginning of a parameter's name."""


def parameter_groups(network: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    """What is learned, by the share of the learning rate that it gets and whether it decays.

    A network may say so itself (``LearningByShares``); what it does not name has the whole rate.
    Where there is a share, biases and norms do not decay. Of word vectors only the rows that
    training may change decay, which AdamW cannot do: ``decays`` is how much each of their rows
    does, (V, 1).
    """
    shares = network.learning_shares if isinstance(network, LearningByShares) else {}
    changes = {
        id(one.weight): one.changes for one in network.modules() if isinstance(one, Embedding)
    }
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    by_row: list[dict[str, Any]] = []
    for name, parameter in network.named_parameters():
        if not parameter.requires_grad:
            continue
        named = [prefix for prefix in shares if name.startswith(prefix)]
        share = shares[max(named, key=len)] if named else 1.0
        decay = recipe.weight_decay if not shares or parameter.dim() > 1 else 0.0
        if decay and id(parameter) in changes:
            rows = {"decays": decay * changes[id(parameter)]}
            by_row.append({"params": [parameter], "share": share, "weight_decay": 0.0, **rows})
            continue
        groups.setdefault((share, decay), []).append(parameter)
    return by_row + [
        {"params": parameters, "share": share, "weight_decay": decay}
        for (share, decay), parameters in groups.items()
    ]


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
