"""Trains a network from a prepared folder (see gpu_prepare.py) and measures it, on a GPU or not.

    PYTHONPATH=src python benchmarks/gpu_train.py bigru-lwan --prepared prepared --out out \
        --seed 0 --max-seconds 500 --set units=300 --set max_tokens=1200

Under ``--out`` it writes, as it goes: ``runs/<method>-<seed>/log.jsonl`` with a line an epoch and
the checkpoint (``--resume`` goes on from it); then ``results/`` with the run as ``labelwise
evaluate`` writes it (dev and test), ``<method>-<seed>.scores.npz`` with the best labels of each
document, and ``<method>-<seed>.bundle``, the model in half precision.

The network, the loop and the measures are those of the package.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
import time
from pathlib import Path

import numpy as np
import torch

from labelwise import bundle, methods
from labelwise.cli.settings import parse_settings
from labelwise.corpus.labels import LabelSpace
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.ranking import top_k
from labelwise.evaluation.runs import DataRecord, Run, current_versions, peak_memory
from labelwise.evaluation.threshold import tune_threshold
from labelwise.methods import Scores, State
from labelwise.methods.network import NetworkMethod
from labelwise.training.prepared import read_prepared

KEPT = {"frequent": 50, "few": 50, "zero": 20}
"""Labels kept of each group for each document: enough for every K, every group, and F1."""


def main() -> None:
    given = parse()
    cls = methods.get(given.method)
    if not issubclass(cls, NetworkMethod):
        raise SystemExit(f"{given.method} is not a network that trains from a prepared folder")
    record = json.loads((given.prepared / "data.json").read_text("utf-8"))
    settings = [f"{name}={value}" for name, value in record["settings"].items()]
    settings += [*given.set, f"seed={given.seed}"]
    if given.max_seconds:
        settings.append(f"max_seconds={given.max_seconds}")
    method = cls(parse_settings(cls.Settings, settings, given.method))
    name = f"{given.name or given.method}-{given.seed}"
    method.run_dir, method.resume = given.out / "runs" / name, given.resume

    started = time.perf_counter()
    prepared, test = read_prepared(given.prepared)
    seconds = {"read": time.perf_counter() - started}
    say(f"{name}: read in {seconds['read']:.1f} s")
    started = time.perf_counter()
    end = method.fit_prepared(prepared)
    seconds["fit"] = time.perf_counter() - started
    say(
        f"{name}: trained in {seconds['fit']:.1f} s, best dev RP@5 {end.best_rp5:.4f} after epoch "
        f"{end.best_epoch + 1} of {end.epoch}"
    )

    splits = {"dev": prepared.dev} | ({"test": test} if test is not None else {})
    started = time.perf_counter()
    scores = {split: method.scores_of(of) for split, of in splits.items()}
    seconds["score"] = time.perf_counter() - started
    method.threshold = tune_threshold(scores["dev"], prepared.dev.gold)
    space = prepared.label_space
    measures = {
        split: evaluate(scores[split], of.gold, space, tuned_threshold=method.threshold)
        for split, of in splits.items()
    }
    memory = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else peak_memory()
    run = Run(
        method=method.name,
        seed=given.seed,
        measures=measures,
        data=DataRecord(**record["data"]),
        threshold=method.threshold,
        settings=dataclasses.asdict(method.settings),
        versions=current_versions("triton"),
        seconds={what: round(took, 3) for what, took in seconds.items()},
        peak_memory=memory,
        command=command(given),
    )
    results = given.out / "results" / given.name if given.name else given.out / "results"
    run.write(results)
    kept = {f"{s}.{k}": a for s in splits for k, a in best_labels(scores[s], space).items()}
    np.savez_compressed(given.out / f"{name}.scores.npz", **kept)
    if not given.no_bundle:
        save_half(method, given.out / f"{name}.bundle", run)
    if not given.keep_checkpoint:  # three times the size of the model
        (method.run_dir / "checkpoint.safetensors").unlink(missing_ok=True)
    for split, of in measures.items():
        figures = " ".join(
            f"{group} {of[group]['RP@5']:.4f}/{of[group]['nDCG@5']:.4f}"
            for group in ("all", "frequent", "few", "zero")
        )
        say(f"{name} {split}: {figures} micro-F1 {of['all']['micro-F1']:.4f}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("method", help="a network, for example bigru-lwan")
    parser.add_argument("--prepared", type=Path, required=True, help="made by gpu_prepare.py")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--name", help="of the files, where it is not the method's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-seconds", type=float, help="of training; reading and scoring add")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--keep-checkpoint", action="store_true", help="for a later --resume")
    parser.add_argument("--no-bundle", action="store_true", help="keep the scores alone")
    return parser.parse_args()


def command(given: argparse.Namespace) -> str:
    """What was typed, but for the folder written to, which means nothing elsewhere."""
    typed = ["OUT" if word == str(given.out) else word for word in sys.argv]
    return shlex.join(["python", *typed])


def best_labels(scores: Scores, space: LabelSpace) -> dict[str, np.ndarray]:
    """The best columns of each group and their scores: what ``evaluate_topk`` takes."""
    columns = np.concatenate(
        [
            top_k(scores[:, part], min(KEPT[group], part.stop - part.start)) + part.start
            for group, part in space.groups.items()
            if part.stop > part.start
        ],
        axis=1,
    )
    return {
        "columns": columns.astype(np.int32),
        "scores": np.take_along_axis(scores, columns, axis=1),
    }


def save_half(method: NetworkMethod, folder: Path, run: Run) -> None:
    """A bundle whose weights have half precision: loading gives them their width back."""
    state = method.state()
    half = {
        k: a.astype(np.float16) if a.dtype == np.float32 else a for k, a in state.arrays.items()
    }
    method.state = lambda: State(half, state.values)  # type: ignore[method-assign]
    card = {"seconds": run.seconds, "versions": run.versions, "command": run.command}
    bundle.save(method, folder, card=card | {"data": dataclasses.asdict(run.data)})


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
