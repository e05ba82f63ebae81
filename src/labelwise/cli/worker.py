"""One training in a process of its own: ``python -m labelwise.cli.worker JOB.json PARENT``.

`labelwise reproduce` and `labelwise tune` start these side by side. A worker trains a method (or
joins saved ones), measures it on dev and, unless it is a trial, on test, and writes what its job
asks for. It goes on from the checkpoint where one was left, and it ends when whoever started it is
gone.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from labelwise import bundle as bundles
from labelwise import methods
from labelwise.cli.kept_scores import read_kept, write_kept
from labelwise.cli.measured import score
from labelwise.cli.output import note
from labelwise.cli.run_folder import Resumable, finish_run
from labelwise.cli.settings import parse_settings
from labelwise.corpus.dataset import NOTHING, Additions, open_dataset
from labelwise.corpus.hidden import Hiding, hide
from labelwise.corpus.more import repeated_note
from labelwise.errors import InputError, LabelwiseError
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.runs import (
    DataRecord,
    Run,
    current_versions,
    log_path,
    peak_memory,
)
from labelwise.evaluation.threshold import tune_threshold
from labelwise.files import write_whole
from labelwise.locks import locked
from labelwise.methods import Method, Scores, State

if TYPE_CHECKING:
    from labelwise.training.prepared import Split


WAIT = 10.0
"""Seconds that a worker waits for another one: that of a command that was killed ends by itself."""


@dataclass(frozen=True)
class Job:
    """What a worker is to do. Paths are text, since the job travels as JSON."""

    method: str
    seed: int
    settings: list[str]  # name=value, as after --set
    run_dir: str
    data: str | None = None  # a folder of documents, or ...
    prepared: str | None = None  # ... of a prepared corpus
    rows: str | None = None  # vectors in place of those of the prepared corpus
    additions: dict[str, Any] | None = None  # what the data is opened with besides
    hide: dict[str, Any] | None = None  # labels hidden from training (``Hiding``)
    splits: list[str] = dataclasses.field(default_factory=lambda: ["dev", "test"])
    results: str | None = None  # folder of runs
    bundle: str | None = None
    members: list[str] = dataclasses.field(default_factory=list)  # bundles to join
    outcome: str | None = None  # file for the figures on dev
    cache: str | None = None
    command: str = ""

    def write(self, file: Path) -> Path:
        write_whole(file, json.dumps(dataclasses.asdict(self), indent=1).encode())
        return file

    @classmethod
    def read(cls, file: Path) -> Job:
        try:
            return cls(**json.loads(file.read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"this is not the job of a worker ({error})", file=file) from error


class Source(Protocol):
    """Documents to train on and to measure."""

    record: DataRecord

    def fit(self, method: Method) -> None: ...
    def scores(self, method: Method, split: str) -> Scores: ...
    def gold(self, split: str) -> Any: ...


class Documents:
    """A data set, as `labelwise train` reads it."""

    def __init__(
        self, folder: Path, additions: Additions = NOTHING, hiding: Hiding | None = None
    ) -> None:
        dataset = open_dataset(folder, additions)
        self.dataset = hide(dataset, hiding) if hiding else dataset
        self.record = DataRecord.of(self.dataset)
        if dataset.repeated:
            note(repeated_note(dataset.repeated))

    def fit(self, method: Method) -> None:
        method.thesaurus = self.dataset.thesaurus
        method.fit(self.dataset.train, self.dataset.dev, self.dataset.label_space)

    def scores(self, method: Method, split: str) -> Scores:
        return score(method, getattr(self.dataset, split), f"{method.name}: scoring {split}")

    def gold(self, split: str) -> Any:
        return self.dataset.label_space.gold(getattr(self.dataset, split))


class Numbers:
    """A prepared corpus, from which networks alone can be trained."""

    def __init__(self, folder: Path, rows: Path | None, hiding: Hiding | None = None) -> None:
        from labelwise.training.hidden import hide_prepared
        from labelwise.training.prepared import read_prepared, read_record
        from labelwise.training.vector_rows import with_vector_rows

        self.record = DataRecord(**read_record(folder)["data"])
        self.prepared, test = read_prepared(folder)
        if rows is not None:
            self.prepared, _ = with_vector_rows(self.prepared, rows)
        if hiding is not None:
            self.prepared, test = hide_prepared(self.prepared, test, hiding)
            train, space = self.prepared.train, self.prepared.label_space
            self.record = self.record.view(hiding, space, len(train.ids))
        self.splits: dict[str, Split] = {"dev": self.prepared.dev}
        if test is not None:
            self.splits["test"] = test

    def fit(self, method: Method) -> None:
        network = self._network(method)
        if getattr(method.settings, "vectors", None):
            width = self.prepared.vectors.shape[1]
            method.settings = dataclasses.replace(method.settings, dim=width)
        network.fit_prepared(self.prepared)

    def scores(self, method: Method, split: str) -> Scores:
        network = self._network(method)
        if network.vocabulary != self.prepared.vocabulary:
            raise LabelwiseError(
                f"this {method.name} has another vocabulary than the prepared corpus: train it "
                "again from this corpus"
            )
        return method.finished(network.scores_of(self.splits[split]))

    def gold(self, split: str) -> Any:
        return self.splits[split].gold

    def _network(self, method: Method) -> Any:
        from labelwise.methods.network import NetworkMethod

        if not isinstance(method, NetworkMethod):
            raise LabelwiseError(
                f"{method.name} cannot be trained from a prepared corpus, only from documents"
            )
        return method


class Kept:
    """The same documents, with the scores that were kept of saved models where they were."""

    def __init__(self, source: Source, members: Mapping[str, Method]) -> None:
        self.source, self.record = source, source.record
        self.paths = {id(member): Path(path) for path, member in members.items()}

    def fit(self, method: Method) -> None:
        self.source.fit(method)

    def scores(self, method: Method, split: str) -> Scores:
        path = self.paths[id(method)]
        kept = read_kept(path, split, method.label_space, self.record)
        return self.source.scores(method, split) if kept is None else kept

    def gold(self, split: str) -> Any:
        return self.source.gold(split)


def do(job: Job) -> None:
    """Train or join, measure, and write: one worker at a time for what it writes."""
    written = Path(job.bundle or job.run_dir)
    busy = f"{written}: another process is at work on this training: wait for it to end"
    with locked(written.with_name(f".{written.name}.lock"), busy, wait=WAIT):
        _do(job)


def _do(job: Job) -> None:
    started = time.perf_counter()
    hiding = Hiding.from_json(job.hide) if job.hide else None
    source: Source = (
        Numbers(Path(job.prepared), Path(job.rows) if job.rows else None, hiding)
        if job.prepared
        else Documents(
            Path(job.data or ""),
            Additions.from_json(job.additions) if job.additions else NOTHING,
            hiding,
        )
    )
    seconds = {"read": time.perf_counter() - started}
    splits = [split for split in job.splits if source.record.counts.get(split)]
    if "dev" not in splits:
        raise LabelwiseError(
            f"the data set {source.record.name} has no dev documents, on which thresholds and "
            "settings are chosen"
        )
    started = time.perf_counter()
    if job.members:
        members = {path: bundles.load(path) for path in job.members}
        known = Kept(source, members)
        method, scores = JOINERS[job.method]([*members.values()], known, splits)
        fit = [bundles.describe(path)["card"]["seconds"]["fit"] for path in job.members]
        seconds |= {"fit": sum(fit), "score": time.perf_counter() - started}
    else:
        method = _train(job, source)
        seconds["fit"] = time.perf_counter() - started
        started = time.perf_counter()
        scores = {split: source.scores(method, split) for split in splits}
        seconds["score"] = time.perf_counter() - started
    if getattr(method.settings, "vectors", None):  # where the file lay here means nothing elsewhere
        name = Path(method.settings.vectors).name
        method.settings = dataclasses.replace(method.settings, vectors=name)
    _write(job, method, source, scores, seconds)


def _train(job: Job, source: Source) -> Method:
    cls = methods.get(job.method)
    method = cls(parse_settings(cls.Settings, job.settings, job.method))
    method.cache = Path(job.cache) if job.cache else None
    if isinstance(method, Resumable):
        method.run_dir, method.resume = Path(job.run_dir), True
    source.fit(method)
    return method


Joined = tuple[Method, dict[str, Scores]]
"""A method made of saved ones, and its scores of each split."""


def _join_lwan(members: Sequence[Method], source: Source, splits: Sequence[str]) -> Joined:
    from labelwise.methods.ensemble_lwan import EnsembleLwan

    if len(members) != 2:
        raise LabelwiseError("ensemble-lwan joins two bundles: a bigru-lwan and a z-bigru-lwan")
    lwan, z = members
    of_lwan, of_z = (
        {split: source.scores(member, split) for split in splits} for member in (lwan, z)
    )
    method = EnsembleLwan.from_methods(lwan, z)
    method.scale(of_lwan["dev"], of_z["dev"], source.gold("dev"))
    return method, {split: method.joined(of_lwan[split], of_z[split]) for split in splits}


def _join_blend(members: Sequence[Method], source: Source, splits: Sequence[str]) -> Joined:
    from labelwise.methods.blend import Blend

    method = Blend.from_methods(members)
    of_members = {split: [source.scores(member, split) for member in members] for split in splits}
    method.weigh(of_members["dev"], source.gold("dev"))
    return method, {split: method.blended(scores) for split, scores in of_members.items()}


JOINERS: Mapping[str, Callable[[Sequence[Method], Source, Sequence[str]], Joined]] = {
    "blend": _join_blend,
    "ensemble-lwan": _join_lwan,
}
"""How a method is made of the saved ones that ``trainings.MEMBERS`` names."""


def _write(
    job: Job,
    method: Method,
    source: Source,
    scores: dict[str, Scores],
    seconds: dict[str, float],
) -> None:
    """The bundle, the best labels, the log, the figures; the run last: it says that all is done."""
    space = method.label_space
    method.threshold = tune_threshold(scores["dev"], source.gold("dev"))
    device, memory = _device(method)
    run = Run(
        method=method.name,
        seed=job.seed,
        measures={
            split: evaluate(of, source.gold(split), space, tuned_threshold=method.threshold)
            for split, of in scores.items()
        },
        data=source.record,
        threshold=method.threshold,
        settings=dataclasses.asdict(method.settings),
        versions=current_versions(*(("triton",) if device != "cpu" else ())),
        seconds={what: round(took, 3) for what, took in seconds.items()},
        peak_memory=memory,
        command=job.command,
        device=device,
    )
    if job.bundle:
        _save(method, Path(job.bundle), run)
        write_kept(Path(job.bundle), scores, space, source.record)
    if job.outcome:
        write_whole(Path(job.outcome), json.dumps(_outcome(run)).encode())
    log = Path(job.run_dir) / "log.jsonl"
    if job.results:
        path = run.path(Path(job.results))
        if log.is_file():
            write_whole(log_path(path), log.read_bytes())
        run.write(job.results)
    finish_run(method)
    for split, of in run.measures.items():
        print(f"{split}: RP@5 {of['all']['RP@5']:.4f}, nDCG@5 {of['all']['nDCG@5']:.4f}, ", end="")
        print(f"micro-F1 {of['all']['micro-F1']:.4f}", flush=True)


def _outcome(run: Run) -> dict[str, Any]:
    """What a search wants to know of a training, and what a figure needs to count."""
    dev = run.measures["dev"]
    figures = {name: dev["all"][name] for name in ("RP@5", "nDCG@5", "micro-F1")}
    for group in ("few", "zero"):
        if not math.isnan(dev[group]["RP@5"]):  # as where no document has a label of the group
            figures |= {f"{group} {name}": dev[group][name] for name in ("RP@5", "nDCG@5")}
    made = {
        "seed": run.seed,
        "data": run.data.fingerprint,
        "versions": run.versions,
        "device": run.device,
        "max_seconds": run.settings.get("max_seconds"),
        "seconds": run.seconds["fit"],
        "peak_memory": run.peak_memory,
    }
    return {"figures": figures, "made": made}


def _device(method: Method) -> tuple[str, int | None]:
    """The name of what the method was trained on, and the most memory it held there."""
    name = getattr(method.settings, "device", None)
    if name is not None:
        import torch

        from labelwise.training.device import choose_device

        if (device := choose_device(name)).type == "cuda":
            return torch.cuda.get_device_name(device), torch.cuda.max_memory_allocated(device)
    return "cpu", peak_memory()


def _save(method: Method, folder: Path, run: Run) -> None:
    """The bundle; a network in half precision, which loading widens again."""
    if hasattr(method.settings, "precision"):
        state = method.state()
        half = {
            name: array.astype(np.float16) if array.dtype == np.float32 else array
            for name, array in state.arrays.items()
        }
        method.state = lambda: State(half, state.values)  # type: ignore[method-assign]
    card = {
        "data": dataclasses.asdict(run.data),
        "seconds": run.seconds,
        "peak_memory": run.peak_memory,
        "device": run.device,
        "versions": run.versions,
        "command": run.command,
        **getattr(method, "card", {}),
    }
    bundles.save(method, folder, card=card)


def worker_command(file: Path) -> list[str]:
    """What starts a worker, which ends with the process that calls this."""
    return [sys.executable, "-m", "labelwise.cli.worker", str(file), str(os.getpid())]


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, whatever happened to it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    file, parent = sys.argv[1:]
    _end_with(int(parent))
    try:
        do(Job.read(Path(file)))
    except LabelwiseError as error:
        sys.exit(f"labelwise: {error}")


if __name__ == "__main__":
    main()
