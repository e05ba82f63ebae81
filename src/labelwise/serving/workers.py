"""Several processes that serve one address, with models that are loaded once.

The *keeper* holds the address. It starts a *generation*: a process that loads the models and then
forks the *workers*. They share its memory for as long as nobody writes to it, and nobody writes to
the arrays of a model. A worker is the service as one process is it, with queues, readers and limits
of its own; the system hands each connection to one of them.

A worker that ends unasked is forked again from its generation, without loading anything. SIGHUP has
the keeper start another generation, from the bundles as they are now; when all its workers are
ready, the old ones answer what they have accepted, and go. Where it cannot be loaded, they stay.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Never

from labelwise import bundle as bundles
from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.progress import note
from labelwise.serving.models import Servable
from labelwise.serving.server import Server, address_of, set_threads
from labelwise.serving.workers_metrics import WorkerMetrics
from labelwise.text import language

PAUSE = 0.1
"""Seconds between two looks at the processes."""

AGAIN = 1.0
"""Seconds that a worker has lived at least when it is forked again: one that fails at once must
not keep the machine busy."""

READY = b"ready"

Say = Callable[[bytes], object]
"""By what a process says that it is ready."""


@dataclass
class Child:
    """A process that was forked, and the pipe by which it says that it is ready, or why not."""

    pid: int
    pipe: int
    begun: float
    said: bytes = b""

    @classmethod
    def forked(cls, run: Callable[[Say], None]) -> Child:
        """Fork a process for ``run``, which is given what it says something by."""
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            _end_by(lambda: run(lambda said: os.write(writing, said)), writing)
        os.close(writing)
        os.set_blocking(reading, False)
        return cls(pid, reading, time.monotonic())

    def ended(self) -> bool:
        """Whether it is gone; what it said last is heard first."""
        gone = os.waitpid(self.pid, os.WNOHANG)[0] == self.pid
        with suppress(BlockingIOError):
            self.said += os.read(self.pipe, 65_536)
        if gone:
            os.close(self.pipe)
        return gone

    @property
    def ready(self) -> bool:
        return self.said == READY

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)


def _end_by(run: Callable[[], None], writing: int) -> Never:
    """Run in a forked process and end it, without what the parent would do at its own end."""
    code = 1
    try:
        run()
        code = 0
    except LabelwiseError as error:
        os.write(writing, str(error).encode())
    except BaseException as error:
        os.write(writing, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(code)


class Asked:
    """What signals have asked for since."""

    def __init__(self) -> None:
        self.end = self.again = False
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, self._end)
        signal.signal(signal.SIGHUP, self._again)

    def _end(self, *_: Any) -> None:
        self.end = True

    def _again(self, *_: Any) -> None:
        self.again = True


class Keeper:
    """Holds the address, and sees to it that a generation of workers serves it."""

    def __init__(
        self,
        workers: int,
        wanted: Sequence[Servable],
        make: Callable[..., Server],
        listening: socket.socket,
    ) -> None:
        """``make``: a server for the models, the socket and the metrics that it is given."""
        if not hasattr(os, "fork"):
            raise LabelwiseError("this system cannot share models between processes: take 1 worker")
        self._workers, self._wanted, self._make = workers, wanted, make
        self._listening = listening
        listening.listen()  # who asks while models are loaded waits, and is not refused

    @property
    def address(self) -> str:
        return address_of(self._listening)

    def run(self) -> None:
        """Serve until told to stop; what was accepted is answered."""
        asked = Asked()
        with tempfile.TemporaryDirectory(prefix="labelwise-workers-") as folder:
            start = partial(Child.forked, partial(self._generation, Path(folder)))
            serving: Child | None = None
            coming: Child | None = start()
            leaving: list[Child] = []
            while not asked.end:
                if coming is None and (asked.again or serving is None):
                    asked.again, coming = False, start()
                if serving is not None and serving.ended():
                    note("the workers are gone unasked: they are started again")
                    serving = None
                if coming is not None and coming.ended():
                    _not_come(coming, serving)
                    coming = None
                if coming is not None and coming.ready:
                    if serving is not None:
                        serving.end()
                        leaving.append(serving)
                    serving, coming = coming, None
                leaving = [one for one in leaving if not one.ended()]
                time.sleep(PAUSE)
            _end_all([one for one in (serving, coming, *leaving) if one is not None])

    def _generation(self, folder: Path, say: Say) -> None:
        """Load the models, and keep as many workers as are wanted until told to stop."""
        os.setsid()  # Ctrl-C is for the keeper alone
        parent, asked = os.getppid(), Asked()
        set_threads(1)  # others than its own are lost in the fork, and a worker would wait for them
        loaded = [
            one if one.folder is None else replace(one, method=bundles.load(one.folder))
            for one in self._wanted
        ]
        language.prepared()
        for one in loaded:  # what a method makes when it is first asked is made once, and shared
            assert one.method is not None
            one.method.scores([Document("", "", (Section("article", "Imports of fruit"),))])
        gc.collect()
        gc.freeze()  # so that no collection writes to the memory that is shared

        def start(slot: int) -> Child:
            return Child.forked(partial(self._worker, slot, loaded, folder))

        workers = {slot: start(slot) for slot in range(1, self._workers + 1)}
        told = False
        while not asked.end and os.getppid() == parent:
            for slot, worker in workers.items():
                if worker.ended():
                    if not told and worker.said not in {b"", READY}:  # so would the others
                        _end_all([one for one in workers.values() if one is not worker])
                        raise LabelwiseError(worker.said.decode())
                    time.sleep(max(0.0, AGAIN - (time.monotonic() - worker.begun)))
                    workers[slot] = start(slot)
            if not told and all(one.ready for one in workers.values()):
                told = True
                say(READY)
            time.sleep(PAUSE)
        _end_all(workers.values())

    def _worker(self, slot: int, loaded: Sequence[Servable], folder: Path, say: Say) -> None:
        parent = os.getppid()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, signal.SIG_DFL)
        metrics = WorkerMetrics(folder, slot)
        server = self._make(loaded, listening=self._listening, metrics=metrics)

        def watch() -> None:
            while not (server.started and server.app.state.models.ready):
                time.sleep(PAUSE / 10)
            say(READY)
            while os.getppid() == parent and not server.stopping:
                metrics.publish()
                time.sleep(1)
            server.stop()

        threading.Thread(target=watch, name="watches", daemon=True).start()
        server.run()


def _not_come(coming: Child, serving: Child | None) -> None:
    """What became of a generation that ended before it was ready."""
    reason = coming.said.decode(errors="replace") or "its process was killed"
    if serving is None:
        raise LabelwiseError(reason)
    note(f"the models could not be loaded again, and the workers stay as they are: {reason}")


def _end_all(children: Iterable[Child]) -> None:
    left = [*children]
    while left := [one for one in left if not one.ended()]:
        for one in left:
            one.end()  # again: one that has just begun may not have heard it
        time.sleep(PAUSE)
