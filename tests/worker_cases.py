"""Workers without their processes, for tests of what is trained and not of how it is run.

A worker of its own imports PyTorch, which takes longer than all that a small training does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Self

from labelwise.errors import LabelwiseError
from labelwise.experiments.jobs import Job
from labelwise.experiments.worker import do


class PoolHere:
    """A pool that works in this process: what a worker is told, one after another."""

    def __init__(self, jobs: int) -> None:
        self._codes: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing runs any more."""

    @property
    def has_room(self) -> bool:
        return not self._codes

    @property
    def running(self) -> list[str]:
        return list(self._codes)

    def start(self, name: str, command: Sequence[str], log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as file, redirect_stdout(file):
            try:
                do(Job.read(Path(command[3])))
                self._codes[name] = 0
            except LabelwiseError as error:
                print(f"labelwise: {error}")
                self._codes[name] = 1

    def ended(self) -> list[tuple[str, int]]:
        done, self._codes = list(self._codes.items()), {}
        return done
