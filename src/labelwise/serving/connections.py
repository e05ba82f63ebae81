"""Connections that do not hang: a bounded number, and an end to silence on either side."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from labelwise.serving.limits import Limits
from labelwise.serving.problems import MEDIA_TYPE, ProblemError


def guarded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """uvicorn's HTTP/1.1 with these limits."""

    class Limited(GuardedProtocol):
        limits_of_service = limits

    return Limited


class GuardedProtocol(H11Protocol):
    """Closes a connection whose request head does not arrive, whose client does not take the
    answer, or that goes on sending a body after it was answered."""

    limits_of_service: ClassVar[Limits] = Limits()
    _waiting: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _refused = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.limits_of_service.connections:
            self._refused = True
            transport.abort()
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        self._expect_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._cancel_waiting()
        self._cancel_stuck()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._cancel_stuck()
        self._watch(self.transport.get_write_buffer_size())

    def _watch(self, left: int) -> None:
        """Look again after a while: a client that took some of the answer has more time."""
        silence = self.limits_of_service.silence
        self._stuck = self.loop.call_later(silence, self._look_again, left)

    def _look_again(self, before: int) -> None:
        if (left := self.transport.get_write_buffer_size()) < before:
            self._watch(left)
        else:
            self.transport.abort()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_stuck()

    def _expect_head(self) -> None:
        """Between requests, a new head or the rest of an old body has so many seconds to come."""
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy or self.transport.is_closing():
            self._cancel_waiting()
        elif self._waiting is None:
            silence = self.limits_of_service.silence
            self._waiting = self.loop.call_later(silence, self.transport.close)

    def _cancel_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _cancel_stuck(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP at all is answered in the same shape as every other problem."""
        problem = ProblemError(400, "bad-request", "this is not HTTP/1.1 as it should be written")
        body = problem.problem.model_dump_json(exclude_none=True).encode()
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
