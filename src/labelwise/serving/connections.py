"""Connections that do not hang: a bounded number, and an end to silence on either side."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from labelwise.serving.limits import Limits
from labelwise.serving.problems import MEDIA_TYPE, ProblemError
from labelwise.serving.shares import Pool, client_of

UNSENT = 0x5411
"""Linux' SIOCOUTQ: bytes that the system has and the other side has not confirmed."""

UNASKED = 2.0
"""Seconds that a client has to ask, when the service ends and it had connected before."""

LOOK = 0.2
"""Seconds after which a client that has sent all it will is looked at again."""


def guarded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """uvicorn's HTTP/1.1 with these limits."""

    class Limited(GuardedProtocol):
        limits_of_service = limits
        seats = Pool(limits.connections)

    return Limited


def unsent(connection: Any) -> int:
    """Bytes of answers that the system keeps for a client; 0 where it does not tell."""
    with suppress(ImportError, OSError, ValueError):
        import fcntl

        found: int
        (found,) = struct.unpack("i", fcntl.ioctl(connection.fileno(), UNSENT, b"\0" * 4))
        return found
    return 0


class GuardedProtocol(H11Protocol):
    """Closes a connection whose request head does not arrive, whose client does not take the
    answer, or that goes on sending a body after it was answered."""

    limits_of_service: ClassVar[Limits] = Limits()
    seats: ClassVar[Pool] = Pool(limits_of_service.connections)
    _waiting: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _look: asyncio.TimerHandle | None = None
    _refused = False
    _ending = False
    _sent_all = False
    """The client has closed its side, and may wait for an answer on the other."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._from = client_of(self.client[0] if self.client else "")
        if not self.seats.take(self._from):
            self._refused = True
            transport.abort()
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        if self._ending and self.cycle is not None:
            self.cycle.keep_alive = False
        self._expect_head()

    def shutdown(self) -> None:
        """The service ends. Who has connected and not asked yet may be about to: nobody else has
        that connection, so that it is answered here or nowhere."""
        if self.cycle is not None or self.transport.is_closing():
            super().shutdown()
            return
        self._ending = True
        self._cancel_waiting()
        self._waiting = self.loop.call_later(UNASKED, self.transport.close)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._sent_all and (not self._busy() or self.cycle.more_body):
            self.transport.close()  # nothing is left to answer, or only what will never be whole
        if self._stuck is None and self.transport.get_write_buffer_size():
            self._watch()  # the rest of an answer is taken, or the connection is not kept
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self._refused:
            self.seats.give_back(self._from)
        self._cancel_waiting()
        self._cancel_stuck()
        if self._look is not None:
            self._look.cancel()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """The client sends no more. Whether it still listens cannot be seen, only tried: one that
        is gone refuses the few bytes that say "go on", which every client passes over."""
        if self._refused or not self._busy() or self.cycle.more_body:
            return None  # nothing to wait for: closed
        if not self._sent_all:
            self._sent_all = True
            if self.scope["http_version"] == "1.1" and self.conn.our_state is h11.SEND_RESPONSE:
                go_on = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
                self.transport.write(self.conn.send(go_on) or b"")
            self._look = self.loop.call_later(LOOK, self._still_there)
        return True

    def _still_there(self) -> None:
        connection = self.transport.get_extra_info("socket")
        if connection.fileno() < 0 or self.transport.is_closing():
            return
        if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.transport.abort()
        else:
            self._look = self.loop.call_later(LOOK, self._still_there)

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def pause_writing(self) -> None:
        super().pause_writing()
        self._cancel_stuck()
        self._watch()

    def _watch(self) -> None:
        """Look again after a while: a client that took some of the answer has more time."""
        silence = self.limits_of_service.silence
        self._stuck = self.loop.call_later(silence, self._look_again, self._left())

    def _left(self) -> int:
        """Bytes that the client has not taken yet, ours and those that the system has: it takes
        megabytes from us at once, and a slow client none of them for a long time."""
        ours: int = self.transport.get_write_buffer_size()
        return ours + unsent(self.transport.get_extra_info("socket"))

    def _look_again(self, before: int) -> None:
        self._stuck = None
        if not self.transport.get_write_buffer_size():
            return
        if self._left() < before:
            self._watch()
        else:
            self.transport.abort()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_stuck()

    def _expect_head(self) -> None:
        """Between requests, a new head or the rest of an old body has so many seconds to come."""
        if self._busy() or self.transport.is_closing():
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
