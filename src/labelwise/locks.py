"""Locks between processes, which end with the process that holds them, however it ends.

``flock`` on a lock file. The file is removed when the lock is given back; one that a killed process
left behind is locked by nobody, and the next one takes it. On NFS this works where the server
locks files. Where the system has no such locks (Windows, some network drives) a warning says that
the user has to see to it.
"""

from __future__ import annotations

import errno
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labelwise.errors import LabelwiseError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
PAUSE = 0.05
"""Seconds between attempts to get a lock that another process holds."""


@contextmanager
def locked(file: Path, busy: str, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock of a file. Where another process has it for longer than ``wait`` seconds, an
    error says ``busy``."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _locked_descriptor(file, busy, time.monotonic() + wait)
    try:
        yield
    finally:
        if descriptor is not None:
            file.unlink(missing_ok=True)  # while it is ours: nobody waits for one that is gone
            os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file, if no other process has locked it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    return True


def _locked_descriptor(file: Path, busy: str, until: float) -> int | None:
    if fcntl is None:
        _warn(file)
        return None
    while True:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(file, descriptor):
                return descriptor
        except BlockingIOError:
            if time.monotonic() >= until:
                os.close(descriptor)
                raise LabelwiseError(busy) from None
            time.sleep(PAUSE)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                os.close(descriptor)
                raise
            _warn(file)
            return descriptor
        os.close(descriptor)


def _is_still(file: Path, descriptor: int) -> bool:
    """Whether the locked file is the one under this name: who held it before has removed it."""
    try:
        there = file.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


def _warn(file: Path) -> None:
    warnings.warn(
        f"files cannot be locked here: see to it that no other labelwise writes to {file.parent} "
        "at the same time",
        stacklevel=4,
    )
