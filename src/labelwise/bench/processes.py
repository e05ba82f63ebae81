"""Ours and the peer's each run in a process of their own, so that memory and caches are apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from labelwise.bench.load import free_port
from labelwise.errors import LabelwiseError


def threads() -> int:
    """The cores that this process may use; every side of a comparison is given as many."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_program(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, timeout: float | None = None
) -> None:
    """Run a program to its end; where it fails, say which and with which last words."""
    done = subprocess.run(
        list(command),
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
        timeout=timeout,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        program = " ".join(Path(word).name for word in command[:3])
        raise LabelwiseError(f"`{program}` ended with code {done.returncode}: {last}")


def run_together(module: str, request: Any, count: int) -> list[Any]:
    """The answers of so many processes that know each other, as `torchrun` would start them."""
    told = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    with ThreadPoolExecutor(count) as pool:
        running = [
            pool.submit(run_module, module, request, {**told, "RANK": str(rank)})
            for rank in range(count)
        ]
        return [one.result() for one in running]


def run_module(module: str, request: Any, env: Mapping[str, str] | None = None) -> Any:
    """Run ``python -m labelwise.bench.MODULE REQUEST.json ANSWER.json`` and give its answer."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "request.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(request))
        command = [sys.executable, "-m", f"labelwise.bench.{module}", str(asked), str(answer)]
        run_program(command, env=env)
        return json.loads(answer.read_text())
