"""Ours and the peer's each run in a process of their own, so that memory and caches are apart;
peers in environments of their own too, so that their pins never meet ours.

A process of ours calls one function of a benchmark: ``python -m labelwise.bench.processes
MODULE:FUNCTION REQUEST.json ANSWER.json``.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from labelwise.bench.load import free_port
from labelwise.errors import LabelwiseError

Function = Callable[[Any], Any]
"""What a process is to do: a function of a module, whose request and answer JSON can hold."""

LIBMULTILABEL = ("torch==2.13.0", "libmultilabel==0.10.0")
"""What LibMultiLabel's linear methods need; its networks need its extra ``[nn]`` beside."""

PROGRAMS = Path(__file__).parent / "peer_programs"
"""Small programs, one a peer and task, which run in the peer's environment and import it alone."""


def threads() -> int:
    """The cores that this process may use; every side of a comparison is given as many."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_program(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> None:
    """Run a program to its end; where it fails, say which and with which last words."""
    done = subprocess.run(
        list(command),
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        program = " ".join(Path(word).name for word in command[:4])
        raise LabelwiseError(f"`{program}` ended with code {done.returncode}: {last}")


def run_together(function: Function, request: Any, count: int) -> list[Any]:
    """The answers of so many processes that know each other, as `torchrun` would start them."""
    told = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    with ThreadPoolExecutor(count) as pool:
        running = [
            pool.submit(run_apart, function, request, {**told, "RANK": str(rank)})
            for rank in range(count)
        ]
        return [one.result() for one in running]


def run_apart(function: Function, request: Any, env: Mapping[str, str] | None = None) -> Any:
    """What the function answers in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "request.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(request))
        run_program(command_of(function, asked, answer), env=env)
        return json.loads(answer.read_text())


def command_of(function: Function, asked: Path, answer: Path) -> list[str]:
    """The command of a process that reads what is asked, calls the function and writes its answer.

    >>> command_of(len, Path("asked.json"), Path("answer.json"))[3:]
    ['builtins:len', 'asked.json', 'answer.json']
    """
    name = f"{function.__module__}:{function.__name__}"
    return [sys.executable, "-m", "labelwise.bench.processes", name, str(asked), str(answer)]


def _answer(name: str, asked: str, answer: str) -> None:
    module, _, function = name.partition(":")
    call = getattr(importlib.import_module(module), function)
    Path(answer).write_text(json.dumps(call(json.loads(Path(asked).read_text()))))


def environment(name: str, packages: Sequence[str], out: Path = Path("benchmarks")) -> str:
    """The Python of an environment that holds the packages; made when it is first needed.

    It stands in ``out/.peers/name`` and is made again when the packages asked for change.
    """
    folder = out / ".peers" / name
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = "\n".join(packages)
    if not stamp.is_file() or stamp.read_text() != wanted:
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        made = subprocess.run([*pip, *packages], check=False, capture_output=True, text=True)
        if made.returncode:
            reason = (made.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise LabelwiseError(
                f"the peer {name} could not be installed from PyPI into {folder} ({reason}): "
                "check the connection, or leave this benchmark out"
            )
        stamp.write_text(wanted)
    return str(python.absolute())


if __name__ == "__main__":
    _answer(*sys.argv[1:])
