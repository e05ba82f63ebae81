"""Load that does not wait: so many requests a second, whether or not the last were answered.

Clients that ask again when they are answered slow down with the service, and never overload it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from labelwise.bench.load import Request, percentile

PATIENCE = 30.0
"""Seconds after which a client goes away."""

CLIENTS = 16
"""Addresses that requests come from: a service may share itself among them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a request: its status, 0 where no answer came, and the seconds it took."""

    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Borne:
    """What became of all requests of a load."""

    seconds: float
    asked: list[Asked]

    @property
    def accepted(self) -> list[float]:
        """The seconds of those that were answered well."""
        return [one.seconds for one in self.asked if one.status == 200]

    @property
    def rate(self) -> float:
        """Good answers a second."""
        return len(self.accepted) / self.seconds

    def share(self, *statuses: range) -> float:
        """Of the requests, those whose status lies in one of the ranges."""
        found = sum(any(one.status in each for each in statuses) for one in self.asked)
        return found / len(self.asked)

    def wait(self, share: int) -> float | None:
        """A percentile of the seconds of good answers."""
        return percentile(self.accepted, share) if self.accepted else None


def bear(port: int, requests: Sequence[Request], rate: float, seconds: float) -> Borne:
    """Send requests at this rate for so long, then wait for the last answers."""
    return asyncio.run(_bear(port, [_raw(one) for one in requests], rate, seconds))


async def _bear(port: int, requests: Sequence[bytes], rate: float, seconds: float) -> Borne:
    asked: list[Asked] = []
    running: set[asyncio.Task[None]] = set()

    async def ask(number: int) -> None:
        began = time.perf_counter()
        address = f"127.0.0.{2 + number % CLIENTS}"
        try:
            request = requests[number % len(requests)]
            status = await asyncio.wait_for(_status(port, address, request), PATIENCE)
        except (OSError, ValueError, IndexError, asyncio.IncompleteReadError, TimeoutError):
            status = 0
        asked.append(Asked(status, time.perf_counter() - began))

    began = time.perf_counter()
    for number in count():
        if number / rate > seconds:
            break
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        task = asyncio.create_task(ask(number))
        running.add(task)
        task.add_done_callback(running.discard)
    lasted = time.perf_counter() - began
    await asyncio.gather(*running)
    return Borne(lasted, asked)


async def _status(port: int, address: str, request: bytes) -> int:
    """The status of an answer that came whole."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    try:
        writer.write(request)
        head, length = b"", 0
        while (line := await reader.readline()) not in {b"\r\n", b""}:
            head = head or line
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if length:
            await reader.readexactly(length)
        else:
            await reader.read()
        return int(head.split()[1])
    finally:
        writer.close()


def _raw(request: Request) -> bytes:
    head = (
        f"POST {request.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Content-Type: {request.content_type}\r\nContent-Length: {len(request.body)}\r\n\r\n"
    )
    return head.encode() + request.body
