"""A command in a process of its own that has already imported what commands import.

Most of a short command is its imports, in which nothing is written. A copy of a process that has
them begins with the work itself, so that faults fall into it, and a round takes seconds less.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

IMPORTED = (
    *("labelwise.cli.app", "labelwise.training.loop", "labelwise.methods.cnn_lwan"),
    *("labelwise.methods.svm", "labelwise.methods.exact_match", "labelwise.experiments"),
    *("labelwise.serving", "optuna", "fastapi", "uvicorn", "lxml.etree", "scipy.sparse"),
)


def import_all() -> None:
    """What the commands would import; what is not installed they do without."""
    import torch

    torch.set_num_threads(1)  # threads do not outlive a copy, and who waits for them waits for ever
    for name in IMPORTED:
        with suppress(ImportError):
            import_module(name)


class Copied:
    """A copy of this process, at work; what it says goes to files."""

    def __init__(self, work: Callable[[], None], printed: Path, said: Path) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._code: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            _run(work, printed, said)

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("labelwise", timeout or 0.0)
            time.sleep(0.005)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _run(work: Callable[[], None], printed: Path, said: Path) -> NoReturn:
    """Run to its end, with a session of its own, as a program that was just called."""
    code = 1
    try:
        os.setsid()
        atexit._clear()  # what the first process does at its end, such as removing its folder
        for number, path, flags in (
            (0, os.devnull, os.O_RDONLY),
            (1, printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            (2, said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ):
            opened = os.open(path, flags)
            os.dup2(opened, number)
            os.close(opened)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        work()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
