"""A job: what a worker is told to do, as a file."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelwise.errors import InputError
from labelwise.files import write_whole


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


def worker_command(file: Path) -> list[str]:
    """What starts a worker, which ends with the process that calls this."""
    return [sys.executable, "-m", "labelwise.experiments.worker", str(file), str(os.getpid())]
