"""What stands before every route: key, limits, time, headers, and figures about it all.

The body of a request is read here, whole and within bounds, before any route sees it. While the
answer is being made, the guard listens for the client: when it goes away, the work stops.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelwise.serving.limits import Limits
from labelwise.serving.metrics import Metrics
from labelwise.serving.problems import ProblemError, fault
from labelwise.serving.sites import check_site

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

OPEN = ("/health", "/ready", "/openapi.json", "/")
"""Addresses that need no key, besides the files of the page: they tell nothing of anybody's text,
and a browser cannot send a key before it has the page that asks for it."""

ALWAYS = ("/health", "/ready", "/metrics")
"""Addresses that are answered however much there is to do."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})


REFUSALS = {408: "slow-request", 413: "too-large", 503: "overloaded", 504: "timeout"}


@dataclass
class Traffic:
    """What is going on at the moment."""

    under_way: int = 0
    """Requests that came and are not answered yet."""
    held: int = 0
    """Bytes of their bodies."""


class Guard:
    """Wraps the application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        metrics: Metrics,
        traffic: Traffic,
        api_key: str | None = None,
        loopback: bool = False,
        sites: frozenset[str] = frozenset(),
    ) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._traffic, self._loopback, self._sites = traffic, loopback, sites
        # Digests have one length, so that the comparison does not tell the length of the key.
        self._key = hashlib.sha256(api_key.encode()).digest() if api_key else None
        metrics.watch(
            "labelwise_requests_under_way",
            "Requests being answered.",
            lambda: {(): traffic.under_way},
        )
        metrics.watch(
            "labelwise_body_bytes_held",
            "Bytes of request bodies in memory.",
            lambda: {(): traffic.held},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A length beside pieces is how one request is hidden in another: nothing may follow it.
        named = {name for name, _ in scope["headers"]}
        answer = _Answer(send, last={b"content-length", b"transfer-encoding"} <= named)
        began = time.perf_counter()
        self._traffic.under_way += 1
        try:
            await self._guarded(scope, receive, answer)
        except ProblemError as error:
            if not answer.begun:
                await error.response()(scope, receive, answer)
        except Exception:
            logging.getLogger("uvicorn.error").exception("a request failed")
            if answer.begun:
                raise  # what was sent is no whole answer: the connection has to be closed
            await fault().response()(scope, receive, answer)
        finally:
            self._traffic.under_way -= 1
            self._record(scope, answer, time.perf_counter() - began)

    async def _guarded(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        path = scope["path"]
        headers: dict[bytes, bytes] = dict(scope["headers"])
        check_site(scope["method"], headers, loopback=self._loopback, names=self._sites)
        self._check_key(path, headers)
        if self._traffic.under_way > self._limits.requests and path not in ALWAYS:
            raise ProblemError(
                503,
                "overloaded",
                "too many requests are under way: try again in 1 s",
                headers={"Retry-After": "1"},
            )
        body = _Body(self, headers.get(b"content-length"))
        try:
            data = await body.read(receive)
            if data is None:
                self._metrics.cut.add()
                return
            await self._answered(scope, receive, answer, data)
        finally:
            self._traffic.held -= body.held

    def _check_key(self, path: str, headers: dict[bytes, bytes]) -> None:
        if self._key is None or path in OPEN or path.startswith("/page/"):
            return
        given = headers.get(b"x-api-key", b"")
        if not given:
            scheme, _, rest = headers.get(b"authorization", b"").partition(b" ")
            given = rest.strip() if scheme.lower() == b"bearer" else b""
        if not hmac.compare_digest(hashlib.sha256(given).digest(), self._key):
            raise ProblemError(
                401,
                "unauthorised",
                "give the key of this service as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def hold(self, more: int) -> None:
        """Take so many bytes of what may be held at a time."""
        if self._traffic.held + more > self._limits.held:
            raise ProblemError(
                503,
                "overloaded",
                "too much is being sent at the moment: try again in 2 s",
                headers={"Retry-After": "2"},
            )
        self._traffic.held += more

    @property
    def limits(self) -> Limits:
        return self._limits

    async def _answered(self, scope: Scope, receive: Receive, answer: _Answer, data: bytes) -> None:
        """Run the application, unless the client goes away or it takes too long to begin."""
        message: Message = {"type": "http.request", "body": data, "more_body": False}
        pending = [message]
        gone = asyncio.Event()

        async def replay() -> Message:
            if pending:
                return pending.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        work = asyncio.ensure_future(self._app(scope, replay, answer))
        watch = asyncio.ensure_future(_disconnected(receive))
        deadline = time.monotonic() + self._limits.timeout
        try:
            while True:
                left = None if answer.begun else max(0.0, deadline - time.monotonic())
                done, _ = await asyncio.wait(
                    {work, watch}, timeout=left, return_when=asyncio.FIRST_COMPLETED
                )
                if work in done:
                    await work  # raises what it raised
                    return
                if watch in done and not answer.complete:
                    self._metrics.cut.add()
                    return
                if watch in done:
                    await work
                    return
                if not answer.begun:
                    raise ProblemError(
                        504,
                        "timeout",
                        f"no answer within {self._limits.timeout:g} s: send less, or try later",
                    )
        finally:
            gone.set()
            for task in (watch, work):
                if not task.done():
                    task.cancel()
                    await asyncio.wait({task})

    def _record(self, scope: Scope, answer: _Answer, seconds: float) -> None:
        if not answer.begun:
            return
        route = getattr(scope.get("route"), "path", None) or "unmatched"
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.requests.add(route=route, method=method, status=str(answer.status))
        self._metrics.seconds.observe(seconds, route=route)
        if answer.status in REFUSALS:
            self._metrics.refused.add(reason=REFUSALS[answer.status])


class _Answer:
    """Passes an answer on with our headers, and remembers how far it went."""

    def __init__(self, send: Send, *, last: bool) -> None:
        self._send, self._last = send, last
        self.begun = self.complete = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
            if self._last:
                headers["Connection"] = "close"
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            self.complete = True
        await self._send(message)


class _Body:
    """The body of one request, within the bounds of size and time."""

    def __init__(self, guard: Guard, announced: bytes | None) -> None:
        self._guard, self._announced = guard, announced
        self.held = 0

    async def read(self, receive: Receive) -> bytes | None:
        """All of it; None where the client went away before its end."""
        limits = self._guard.limits
        if self._announced is not None and self._announced.isdigit():
            self._check(int(self._announced))
        pieces: list[bytes] = []
        try:
            async with asyncio.timeout(limits.timeout):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    piece = message.get("body", b"")
                    self._check(self.held + len(piece))
                    self._guard.hold(len(piece))
                    self.held += len(piece)
                    pieces.append(piece)
                    if not message.get("more_body", False):
                        return b"".join(pieces)
        except TimeoutError as error:
            raise ProblemError(
                408, "slow-request", f"the request did not arrive within {limits.timeout:g} s"
            ) from error

    def _check(self, size: int) -> None:
        most = self._guard.limits.max_body
        if size > most:
            raise ProblemError(
                413, "too-large", f"the request is larger than the {most:,} bytes that are read"
            )


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
