"""What can happen to a command at any moment, and what it takes to bring it about.

A full and a read-only disk are a small file system in memory, which takes root; elsewhere a full
disk is a limit on the size of files, and a read-only one is left out. A clock that jumps and a disk
that is slow are told to the processes by a module that Python imports at its start.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from labelwise.campaigns.chaos_process import Copied

SIZE = "192m"
"""Of the file system that a full disk is made of."""

SLOW = """
import os, time
def slowly(call):
    def called(*given, **named):
        time.sleep(0.02)
        try:
            return call(*given, **named)
        finally:
            time.sleep(0.02)
    return called
for name in ("fsync", "replace", "rename", "unlink", "link"):
    setattr(os, name, slowly(getattr(os, name)))
"""
JUMPS = """
import random, time
def jumping(clock, second):
    def told():
        now = clock()
        return now + second * random.Random(now // (second // 4 or 1)).randint(-90_000, 90_000)
    return told
time.time_ns = jumping(time.time_ns, 1_000_000_000)
_seconds = time.time
time.time = lambda: _seconds() + random.Random(_seconds() // 0.25).randint(-90_000, 90_000)
"""


@dataclass(frozen=True)
class Fault:
    """``signals`` are sent at the moment; ``disk`` is what becomes of the disk then; ``module`` is
    what every process of the command imports at its start."""

    name: str
    signals: tuple[signal.Signals, ...] = ()
    disk: str = ""
    module: str = ""
    whole_group: bool = False

    @property
    def kills(self) -> bool:
        return signal.SIGKILL in self.signals


FAULTS = (
    Fault("SIGKILL of the command alone", (signal.SIGKILL,)),
    Fault("SIGSTOP, then SIGKILL of all", (signal.SIGSTOP, signal.SIGKILL), whole_group=True),
    Fault("full disk", disk="full"),
    Fault("read-only disk", disk="read-only"),
    Fault("clock jumps", module=JUMPS),
    Fault("slow disk, SIGKILL of all", (signal.SIGKILL,), module=SLOW, whole_group=True),
)


def can_mount(folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    if _mount(folder, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs"):
        subprocess.run(["umount", str(folder)], check=True)
        return True
    return False


@contextmanager
def disk_for(fault: Fault, folder: Path, mountable: bool) -> Iterator[None]:
    """Within it, the folder lies on a disk that can be spoilt, where the fault wants one."""
    folder.mkdir(parents=True)
    if not (fault.disk and mountable):
        yield
        return
    if not _mount(folder, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs"):
        raise OSError(f"{folder}: no file system could be mounted there")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def strike(fault: Fault, process: Copied, folder: Path, mountable: bool) -> None:
    """Bring the fault about, now."""
    for one in fault.signals:
        with suppress(ProcessLookupError):
            (os.killpg if fault.whole_group else os.kill)(process.pid, one)
        time.sleep(0.1 if one == signal.SIGSTOP else 0)
    if fault.disk == "full" and mountable:
        with suppress(OSError), (folder / "ballast").open("wb") as ballast:
            while True:
                ballast.write(b"\0" * (1 << 20))
                ballast.flush()
    elif fault.disk == "full":
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (2_000, 2_000))
    elif fault.disk == "read-only":
        _mount(folder, "-o", "remount,ro")


def mend(fault: Fault, folder: Path, mountable: bool) -> None:
    """What a person does before calling the command again."""
    if fault.disk == "full":
        (folder / "ballast").unlink(missing_ok=True)
    elif fault.disk == "read-only" and mountable:
        _mount(folder, "-o", "remount,rw")


def _mount(folder: Path, *options: str) -> bool:
    try:
        done = subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0
