"""One training in a process of its own: ``python -m labelwise.experiments.worker JOB.json PARENT``.

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
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise import methods
from labelwise.corpus.dataset import NOTHING, Additions
from labelwise.corpus.hidden import Hiding
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import run_figures
from labelwise.evaluation.runs import (
    Run,
    current_versions,
    log_path,
    peak_memory,
)
from labelwise.evaluation.threshold import tune_threshold
from labelwise.experiments.jobs import Job
from labelwise.experiments.joining import joined, member_digests
from labelwise.experiments.kept_scores import write_kept
from labelwise.experiments.run_folder import finish_run
from labelwise.experiments.settings import parse_settings
from labelwise.experiments.training_data import Documents, Kept, Numbers, TrainingData
from labelwise.files import write_whole
from labelwise.locks import locked
from labelwise.methods import Method, Scores
from labelwise.methods.base import Resumable, VectorSettings

WAIT = 10.0
"""Seconds that a worker waits for another one: that of a command that was killed ends by itself."""


def do(job: Job) -> None:
    """Train or join, measure, and write: one worker at a time for what it writes."""
    written = Path(job.bundle or job.run_dir)
    busy = f"{written}: another process is at work on this training: wait for it to end"
    with locked(written.with_name(f".{written.name}.lock"), busy, wait=WAIT):
        _do(job)


def _do(job: Job) -> None:
    started = time.perf_counter()
    hiding = Hiding.from_json(job.hide) if job.hide else None
    documents: TrainingData = (
        Numbers(Path(job.prepared), Path(job.rows) if job.rows else None, hiding)
        if job.prepared
        else Documents(
            Path(job.data or ""),
            Additions.from_json(job.additions) if job.additions else NOTHING,
            hiding,
        )
    )
    seconds = {"read": time.perf_counter() - started}
    splits = [split for split in job.splits if documents.record.counts.get(split)]
    if "dev" not in splits:
        raise LabelwiseError(
            f"the data set {documents.record.name} has no dev documents, on which thresholds and "
            "settings are chosen"
        )
    started = time.perf_counter()
    if job.members:
        members = {path: bundles.load(path) for path in job.members}
        known = Kept(documents, members)
        cls = methods.get(job.method)
        method, scores = joined(cls, [*members.values()], known, splits)
        fit = [bundles.describe(path)["card"]["seconds"]["fit"] for path in job.members]
        seconds |= {"fit": sum(fit), "score": time.perf_counter() - started}
    else:
        method = _train(job, documents)
        seconds["fit"] = time.perf_counter() - started
        started = time.perf_counter()
        scores = {split: documents.scores(method, split) for split in splits}
        seconds["score"] = time.perf_counter() - started
    chosen = method.settings
    if isinstance(chosen, VectorSettings) and chosen.vectors:
        # Where the file lay here means nothing elsewhere.
        method.settings = dataclasses.replace(chosen, vectors=Path(chosen.vectors).name)
    _write(job, method, documents, scores, seconds)


def _train(job: Job, documents: TrainingData) -> Method:
    cls = methods.get(job.method)
    method = cls(parse_settings(cls.Settings, job.settings, job.method))
    method.cache = Path(job.cache) if job.cache else None
    if isinstance(method, Resumable):
        method.run_dir, method.resume = Path(job.run_dir), True
    documents.fit(method)
    return method


def _write(
    job: Job,
    method: Method,
    documents: TrainingData,
    scores: dict[str, Scores],
    seconds: dict[str, float],
) -> None:
    """The bundle, the best labels, the log, the figures; the run last: it says that all is done."""
    space = method.label_space
    method.threshold = tune_threshold(scores["dev"], documents.gold("dev"))
    device, memory = _device(method)
    run = Run(
        method=method.name,
        seed=job.seed,
        measures={
            split: run_figures(of, documents.gold(split), space, tuned_threshold=method.threshold)
            for split, of in scores.items()
        },
        data=documents.record,
        threshold=method.threshold,
        settings=dataclasses.asdict(method.settings),
        versions=current_versions(*(("triton",) if device != "cpu" else ())),
        seconds={what: round(took, 3) for what, took in seconds.items()},
        peak_memory=memory,
        command=job.command,
        device=device,
        members=member_digests(job.members),
    )
    if job.bundle:
        _save(method, Path(job.bundle), run, documents.places)
        write_kept(Path(job.bundle), scores, space, documents.record)
    if job.outcome:
        write_whole(Path(job.outcome), json.dumps(outcome_of(run)).encode())
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


def outcome_of(run: Run) -> dict[str, Any]:
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
        "seconds": run.seconds.get("fit"),
        "peak_memory": run.peak_memory,
    }
    return {"figures": figures, "made": made}


def _device(method: Method) -> tuple[str, int | None]:
    """The name of what the method was trained on, and the most memory it held there."""
    if (recipe := method.recipe) is not None:
        import torch

        from labelwise.training.device import choose_device

        if (device := choose_device(recipe.device)).type == "cuda":
            return torch.cuda.get_device_name(device), torch.cuda.max_memory_allocated(device)
    return "cpu", peak_memory()


def _save(method: Method, folder: Path, run: Run, places: Thesaurus | None) -> None:
    """The bundle; a network in half precision, which loading widens again."""
    card = {
        "data": dataclasses.asdict(run.data),
        "seconds": run.seconds,
        "peak_memory": run.peak_memory,
        "device": run.device,
        "versions": run.versions,
        "command": run.command,
        **({"digests": run.members} if run.members else {}),
        **({"thesaurus": places.to_json()} if places else {}),
        **method.card,
    }
    bundles.save(method, folder, card=card, half=True)


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
