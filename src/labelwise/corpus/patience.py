"""An end to reading: a document that takes too long for its size is given up, and it says so.

The readers take about a second a megabyte. What takes thirty times as long was made to do so, or
met a fault of ours: that document alone is lost, as a bad one is, and the next is read.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labelwise.corpus.sources import Origin

LEAST = 5.0
"""Seconds of the processor that any document may take."""
A_MEGABYTE = 30.0
"""And how many more for each megabyte of it."""


def seconds_for(size: int) -> float:
    """Seconds of the processor for a document of so many bytes.

    >>> seconds_for(0), seconds_for(2_000_000)
    (5.0, 65.0)
    """
    return LEAST + A_MEGABYTE * size / 1e6


class _UpError(BaseException):
    """The time is up. No handler of other errors may swallow it."""


def _raise(*_: Any) -> None:
    raise _UpError


@contextmanager
def patience(size: int, origin: Origin) -> Iterator[None]:
    """Give up what is read in this block after a time that its size allows.

    The time is the process's own, so that a busy machine loses no document. Only the main thread
    can be interrupted, and only where the system has such a timer: elsewhere there is no end.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "ITIMER_VIRTUAL"):
        yield
        return
    seconds = seconds_for(size)
    before = signal.signal(signal.SIGVTALRM, _raise)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    except _UpError:
        raise origin.error(
            f"takes too long to read: given up after {seconds:.0f} s, which is far more than "
            f"{size:,} bytes need; give its text alone, or in parts"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
