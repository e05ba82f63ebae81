"""What stands before every route: key, limits, time, headers, and figures about it all.

The body of a request is read here, whole and within bounds, before any route sees it, and only
then the request gets a seat among those that are answered: who sends nothing takes nothing. While
the answer is being made, the guard listens for the client: when it goes away, the work stops.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelwise.serving.limits import Limits
from labelwise.serving.metrics import Metrics
from labelwise.serving.problems import ProblemError, fault
from labelwise.serving.shares import asking, client_of
from labelwise.serving.sites import check_site
from labelwise.serving.traffic import Body, Traffic

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
            "labelwise_requests_arriving",
            "Requests whose body has not arrived yet.",
            lambda: {(): traffic.arriving},
        )
        metrics.watch(
            "labelwise_slow_requests_arriving",
            "Those of them that take longer than most.",
            lambda: {(): traffic.slow.held},
        )
        metrics.watch(
            "labelwise_body_bytes_held",
            "Bytes of request bodies in memory.",
            lambda: {(): traffic.bodies.held + traffic.slow_bodies.held},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A length beside pieces is how one request is hidden in another: nothing may follow it.
        named = {name for name, _ in scope["headers"]}
        answer = _Answer(send, last={b"content-length", b"transfer-encoding"} <= named)
        began = time.perf_counter()
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
            self._record(scope, answer, time.perf_counter() - began)

    async def _guarded(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        path = scope["path"]
        headers: dict[bytes, bytes] = dict(scope["headers"])
        check_site(scope["method"], headers, loopback=self._loopback, names=self._sites)
        self._check_key(path, headers)
        client = client_of((scope.get("client") or ("",))[0])
        asking.set(client)
        body = Body(self._limits, self._traffic, client, headers.get(b"content-length"))
        try:
            data = await body.read(receive)
            if data is None:
                self._metrics.cut.add()
                return
            with self._traffic.seat(client, always=path in ALWAYS):
                await self._answered(scope, receive, answer, data)
        finally:
            body.let_go()

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
        cut = False
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
                    cut = True
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
            if cut:  # counted when its work has left the queue
                self._metrics.cut.add()

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


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
