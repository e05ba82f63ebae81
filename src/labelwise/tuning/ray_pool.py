"""Trainings side by side on the nodes of a Ray cluster, each a process of its own there.

Ray finds a node that has room for what a training needs, and starts it again elsewhere where a node
is lost. All nodes see the folders of this one: a training that is started again goes on from its
checkpoint.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.tuning.processes import GRACE, POLL, Pool

RETRIES = 10
"""How often a training is started again whose node, not whose program, came to an end."""


class RayPool(Pool):
    """At most ``jobs`` trainings at a time on the cluster; leaving the block ends them."""

    def __init__(self, jobs: int, on: str, resources: Mapping[str, float]) -> None:
        super().__init__(jobs)
        self._address = None if on == "ray" else on
        self._needs = dict(resources)

    def __enter__(self) -> Self:
        self._ray = _ray()
        try:
            # Without an address: that of RAY_ADDRESS, the cluster that runs here, or a new one.
            self._ray.init(self._address, logging_level="ERROR", log_to_driver=False)
        except Exception as error:
            reason = str(error).strip().split("\n")[0]
            raise LabelwiseError(
                f"there is no Ray cluster at {self._address or 'this machine'}: {reason}"
            ) from error
        own = {"num_cpus": self._needs.pop("cpus", 1), "num_gpus": self._needs.pop("gpus", 0)}
        self._remote = self._ray.remote(max_retries=RETRIES, resources=self._needs or None, **own)(
            _run
        )
        self._threads = max(1, int(own["num_cpus"]))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        self._ray.shutdown()

    def start(self, name: str, command: Sequence[str], log: Path) -> None:
        """Hand a process to the cluster; what it says goes to the log."""
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        words = list(command)
        self._running[name] = self._remote.remote(
            words, str(log.absolute()), str(Path.cwd()), self._threads
        )

    def ended(self) -> list[tuple[str, int]]:
        names = {task: name for name, task in self._running.items()}
        if not names:
            return []
        done, _ = self._ray.wait(list(names), num_returns=len(names), timeout=POLL)
        found = [(names[task], self._code(task)) for task in done]
        for name, _ in found:
            del self._running[name]
        return found

    def stop(self, name: str) -> None:
        task = self._running.pop(name)
        self._ray.cancel(task)
        ended, _ = self._ray.wait([task], timeout=GRACE)
        if not ended:
            self._ray.cancel(task, force=True)

    def _code(self, task: Any) -> int:
        try:
            return int(self._ray.get(task))
        except self._ray.exceptions.RayError:
            return 1


def _run(command: list[str], log: str, folder: str, threads: int) -> int:
    """On a node: run the command there; its exit code. The first word of a worker's command is its
    Python and the last the process that it ends with, which are those of the node."""
    words = [sys.executable, *command[1:-1], str(os.getpid())]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    with Path(log).open("ab") as file:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
        )
        try:
            return process.wait()
        finally:
            process.terminate()


def parse_resources(given: str) -> dict[str, float]:
    """What a training needs of a node.

    >>> parse_resources("cpus=4,gpus=0.5")
    {'cpus': 4.0, 'gpus': 0.5}
    """
    found = {}
    for one in given.split(","):
        name, equals, amount = one.partition("=")
        try:
            found[name.strip()] = float(amount)
        except ValueError:
            equals = ""
        if not equals or not name.strip() or found[name.strip()] < 0:
            raise LabelwiseError(
                f"'{one}' is no resource of a node: write cpus=4,gpus=0.5, or what else the "
                "cluster calls its own"
            )
    return found


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("a Ray cluster", "ray") from error
    return ray
