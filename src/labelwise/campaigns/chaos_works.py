"""The work that the campaign disturbs: commands on a small synthetic corpus, and what they make."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.campaigns.chaos_process import Copied
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.runs import Run, run_paths
from labelwise.training.checkpoint import before, last_checkpoint

PROGRAM = "from labelwise.cli import main; main()"
OFTEN = "from labelwise.training import loop; loop.CHECKPOINT_SECONDS = 0.1; " + PROGRAM
"""A training that writes a checkpoint with nearly every step: short ones would write one."""

TRIALS = 2
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Work:
    """A command, called the same way each time, and what tells that it is done, and done right."""

    name: str
    words: tuple[str, ...]
    made: Callable[[Path], Any]
    program: str = PROGRAM
    output: str | None = None  # file for what it prints

    def start(
        self, folder: Path, environment: Mapping[str, str] = NOTHING, module: str = ""
    ) -> Copied:
        """In the folder, with a session of its own, so that it can be ended with all it started;
        ``module`` is run before it, and ``environment`` is what its own processes have besides."""

        def work() -> None:
            os.chdir(folder)
            os.environ.update(environment)
            sys.argv = ["labelwise", "--quiet", *self.words]
            exec(module, {})
            exec(self.program, {})

        out = Path(os.devnull) if self.output is None else folder / self.output
        return Copied(work, out, folder / "said.txt")


def _weights(folder: Path, name: str) -> Any:
    about = bundles.describe(folder / name)
    return {part: entry["sha256"] for part, entry in about["files"].items()}, about["threshold"]


def _figures(folder: Path) -> Any:
    runs = [Run.read(path) for path in run_paths(folder / "results")]
    return {f"{one.method}-{one.seed}": one.to_json()["measures"] for one in runs}


def _trials(folder: Path) -> Any:
    ended = tomllib.loads((folder / "best.toml").read_text("utf-8"))
    with sqlite3.connect(folder / "study.db") as study:
        [(complete,)] = study.execute("select count(*) from trials where state = 'COMPLETE'")
    return sorted(ended), complete >= TRIALS


NETWORK = "cnn-lwan --set epochs=4 --set dim=16 --set filters=16 --set kernel=3 --set device=cpu"
WORKS = (
    Work(
        "train",
        ("train", *NETWORK.split(), "--data", "data", "--out", "net.bundle", "--resume"),
        lambda folder: _weights(folder, "net.bundle"),
        OFTEN,
    ),
    Work(
        "tune",
        (
            *("tune", "svm", "--data", "data", "--vary", "C=0.5,1", "--trials", str(TRIALS)),
            *("--study", "study.db", "--out", "best.toml"),
        ),
        _trials,
    ),
    Work(
        "reproduce",
        (
            *("reproduce", "--data", "data", "-m", "exact-match,svm", "--out", "results"),
            *("--bundles", "bundles", "--jobs", "2"),
        ),
        _figures,
    ),
    Work(
        "compact",
        (
            *("compact", "svm.bundle", "--data", "data", "--out", "small.bundle"),
            *("--prune", "0.05,0.1", "--results", "results"),
        ),
        lambda folder: _weights(folder, "small.bundle"),
    ),
    Work(
        "tag to a file",
        ("tag", "acts", "--bundle", "svm.bundle", "--format", "jsonl"),
        lambda folder: (folder / "tags.jsonl").read_bytes(),
        output="tags.jsonl",
    ),
)


def make_ready(folder: Path) -> None:
    """What all commands start from: a corpus, a trained model, acts to tag."""
    make_dataset(folder / "data", train=24, dev=6, test=6)
    (folder / "acts").mkdir()
    for at, line in enumerate((folder / "data" / "test.jsonl").read_text("utf-8").splitlines()):
        (folder / "acts" / f"{at}.json").write_text(line, "utf-8")
    train = ("train", "svm", "--data", "data", "--out", "svm.bundle")
    words = [sys.executable, "-c", PROGRAM, "--quiet", *train]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def look_at(folder: Path) -> None:
    """Read all that lies there, as the commands would; what is half-written raises an error."""
    for manifest in folder.rglob(bundles.MANIFEST):
        bundles.load(manifest.parent)
    for path in run_paths(folder / "results"):
        Run.read(path)
    for path in folder.rglob("checkpoint.safetensors"):
        last_checkpoint(path)
    for path in folder.rglob(before(Path("checkpoint.safetensors")).name):
        last_checkpoint(path.with_name("checkpoint.safetensors"))
    for path in folder.rglob("*.json"):
        json.loads(path.read_bytes())
    for path in folder.rglob("*.toml"):
        tomllib.loads(path.read_text("utf-8"))
    for path in folder.rglob("*.db"):
        with sqlite3.connect(path) as study:
            [(said,)] = study.execute("pragma integrity_check")
        if said != "ok":
            raise ValueError(f"{path}: {said}")
