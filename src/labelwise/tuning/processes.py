"""Several trainings side by side, each a process of its own, sharing one GPU where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

POLL = 0.1
"""Seconds between looks at the processes."""

GRACE = 10.0
"""Seconds that a process has to end after it was asked to."""


class Pool:
    """At most ``jobs`` processes at a time; leaving the block ends those that still run."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._running: dict[str, Any] = {}  # by name: the process, or what stands for it elsewhere
        # A recurrence on a GPU needs one core; on a CPU the trainings share the cores.
        threads = max(1, _cores() // jobs)
        self._environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in list(self._running):
            self.stop(name)

    @property
    def running(self) -> list[str]:
        return list(self._running)

    @property
    def has_room(self) -> bool:
        return len(self._running) < self.jobs

    def start(self, name: str, command: Sequence[str], log: Path) -> None:
        """Start a process; what it says goes to the log."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as file:
            self._running[name] = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )

    def ended(self) -> list[tuple[str, int]]:
        """Wait a moment; the processes that have ended since, with their exit codes."""
        time.sleep(POLL)
        codes = {name: process.poll() for name, process in self._running.items()}
        done = [(name, code) for name, code in codes.items() if code is not None]
        for name, _ in done:
            del self._running[name]
        return done

    def stop(self, name: str) -> None:
        """End a process that still runs."""
        process = self._running.pop(name)
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def shared_gpu(jobs: int) -> Iterator[bool]:
    """While the block runs, let several processes share one GPU instead of taking turns.

    That is the work of NVIDIA's MPS daemon. Where there is no GPU, no such daemon, or one process
    alone, nothing is started; the block is told which.
    """
    control = shutil.which("nvidia-cuda-mps-control")
    if jobs < 2 or control is None or not _has_gpu():
        yield False
        return
    started = subprocess.run([control, "-d"], capture_output=True, check=False).returncode == 0
    try:
        yield True
    finally:
        if started:  # else somebody else's daemon was there already
            subprocess.run([control], input=b"quit\n", capture_output=True, check=False)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
