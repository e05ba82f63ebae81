"""Runs the service: one process, one event loop, two threads a model."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from labelwise import progress
from labelwise.errors import LabelwiseError
from labelwise.serving.app import create_app
from labelwise.serving.connections import guarded_protocol
from labelwise.serving.limits import Limits
from labelwise.serving.metrics import Metrics
from labelwise.serving.models import Servable
from labelwise.serving.signing_in import Proxy
from labelwise.serving.sites import is_loopback
from labelwise.serving.worklist import Worklist

GRACE = 5.0
"""Seconds beyond the time-out that a shutdown waits for answers under way."""


class Server:
    """A service bound to an address. ``run`` serves until a signal, and finishes its answers."""

    def __init__(
        self,
        wanted: Sequence[Servable],
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        limits: Limits | None = None,
        api_key: str | None = None,
        thesaurus: Path | None = None,
        fetch_from: frozenset[str] = frozenset(),
        threads: int | None = None,
        sites: Sequence[str] = (),
        listening: socket.socket | None = None,
        metrics: Metrics | None = None,
        store: str | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        """``listening``: a socket bound to the address already; ``metrics``: where it counts."""
        limits = limits or Limits()
        progress.quiet = True  # models work on several threads, and bars would fight for the line
        if threads is not None:
            set_threads(threads)
        self.socket = listening or bound(host, port)
        loopback = is_loopback(self.socket.getsockname()[0])
        self.app = create_app(
            wanted,
            limits=limits,
            api_key=api_key,
            thesaurus=thesaurus,
            fetch_from=fetch_from,
            loopback=loopback,
            sites=sites,
            metrics=metrics,
            worklist=Worklist(store, loopback=loopback, proxy=proxy) if store else None,
            failed=self.stop,
        )
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                self.app,
                http=guarded_protocol(limits),
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # who asks is who connects: a header can be written by anybody
                backlog=limits.connections,
                timeout_keep_alive=15,
                timeout_graceful_shutdown=int(limits.timeout + GRACE),
                h11_max_incomplete_event_size=65_536,
            )
        )

    @property
    def address(self) -> str:
        return address_of(self.socket)

    @property
    def started(self) -> bool:
        return self._uvicorn.started

    def run(self) -> None:
        """Serve until told to stop; an error of loading a model is raised at the end."""
        with _ended_by_signals():
            self._uvicorn.run(sockets=[self.socket])
        if self.app.state.models.error is not None:
            raise self.app.state.models.error

    @property
    def stopping(self) -> bool:
        return self._uvicorn.should_exit

    def stop(self) -> None:
        """End as after a signal: no new connections, answers under way are finished."""
        self._uvicorn.should_exit = True


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """uvicorn ends at SIGINT and SIGTERM and then raises them again, which would end the process
    before it has cleaned up. Within this block that second time does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def address_of(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def bound(host: str, port: int) -> socket.socket:
    """A socket bound to the address."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With the protocol named, asyncio sends small answers at once (TCP_NODELAY); 40 ms sooner.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise LabelwiseError(
            f"cannot listen on {host} port {port}: {reason}; choose another --host or --port"
        ) from error
    return made


def set_threads(threads: int) -> None:
    """How many cores the arithmetic of a batch takes.

    Where no model is a network, PyTorch is never imported, and the service is there seconds sooner;
    where one is, PyTorch asks the environment as it is imported.
    """
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)
    os.environ["MKL_DYNAMIC"] = "FALSE"  # as many as asked, whatever it counts as cores
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
