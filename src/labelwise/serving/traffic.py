"""What is going on at the moment: requests that arrive, prompt ones and slow ones, and those that
are being answered.

A body that has not arrived after a moment is that of a slow sender. Slow senders have seats and
memory of their own, so that a hundred of them, or a few with large bodies, keep nobody else out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Receive

from labelwise.serving.limits import Limits
from labelwise.serving.problems import ProblemError
from labelwise.serving.shares import Pool


class Traffic:
    """Seats and bytes of one service, and who has them."""

    def __init__(self, limits: Limits) -> None:
        self.under_way = 0
        """Requests that have arrived and are not answered yet."""
        self.arriving = 0
        """Requests of which some is still to come."""
        self.seats = Pool(limits.requests)
        self.bodies = Pool(limits.held)
        self.slow = Pool(limits.slow)
        self.slow_bodies = Pool(limits.held)

    @contextmanager
    def seat(self, client: str, *, always: bool) -> Iterator[None]:
        """Among the requests that are answered; ``always`` however many there are."""
        if not always and not self.seats.take(client):
            raise _overloaded("too many requests are under way", 1)
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            if not always:
                self.seats.give_back(client)


class Body:
    """The body of one request, within the bounds of size and time."""

    def __init__(
        self, limits: Limits, traffic: Traffic, client: str, announced: bytes | None
    ) -> None:
        self._limits, self._traffic, self._client = limits, traffic, client
        self._announced = announced
        self._pool, self._held, self._slow = traffic.bodies, 0, False
        self._pieces: list[bytes] = []

    async def read(self, receive: Receive) -> bytes | None:
        """All of it; None where the client went away before its end."""
        if self._announced is not None and self._announced.isdigit():
            self._check(int(self._announced))
        timeout = self._limits.timeout
        prompt = min(self._limits.prompt, timeout)
        self._traffic.arriving += 1
        coming = asyncio.ensure_future(self._all(receive))
        try:
            done, _ = await asyncio.wait({coming}, timeout=prompt)
            if not done:
                self._is_slow()
                done, _ = await asyncio.wait({coming}, timeout=timeout - prompt)
            if not done:
                raise ProblemError(
                    408, "slow-request", f"the request did not arrive within {timeout:g} s"
                )
            return await coming
        finally:
            self._traffic.arriving -= 1
            if self._slow:
                self._traffic.slow.give_back(self._client)
            if not coming.done():
                coming.cancel()
                await asyncio.wait({coming})

    def let_go(self) -> None:
        """Give back what it held."""
        if self._held:
            self._pool.give_back(self._client, self._held)
        self._held = 0

    async def _all(self, receive: Receive) -> bytes | None:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            piece: bytes = message.get("body", b"")
            self._check(self._held + len(piece))
            if piece and not self._pool.take(self._client, len(piece)):
                raise _overloaded("too much is being sent at the moment", 2)
            self._held += len(piece)
            self._pieces.append(piece)
            if not message.get("more_body", False):
                return b"".join(self._pieces)

    def _is_slow(self) -> None:
        """Move to the slow senders, where there is room among them."""
        slow, bodies = self._traffic.slow, self._traffic.slow_bodies
        self._slow = slow.take(self._client)
        if not self._slow or (self._held and not bodies.take(self._client, self._held)):
            raise ProblemError(
                408,
                "slow-request",
                "too many requests arrive as slowly as this one: try again, and send it at once",
                headers={"Retry-After": "5"},
            )
        held = self._held
        self.let_go()
        self._pool, self._held = bodies, held

    def _check(self, size: int) -> None:
        most = self._limits.max_body
        if size > most:
            raise ProblemError(
                413, "too-large", f"the request is larger than the {most:,} bytes that are read"
            )


def _overloaded(what: str, seconds: int) -> ProblemError:
    return ProblemError(
        503,
        "overloaded",
        f"{what}: try again in {seconds} s",
        headers={"Retry-After": str(seconds)},
    )
