"""Asks a public server for one small answer after another: not too often, and again if it fails."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from labelwise import __version__
from labelwise.corpus.download import TRY_AGAIN, BrokenOffError, DownloadError, reason_of

T = TypeVar("T")

LONGEST_PAUSE = 300.0
"""Seconds; a server that asks for a longer pause is asked again after this one."""


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    """By their names in lower case."""


@dataclass
class Polite:
    """At most ``rate`` requests a second, one at a time; ``attempts`` failures in a row end it."""

    rate: float
    timeout: float = 90.0
    attempts: int = 5
    pause: float = 2.0
    """Seconds before a second attempt; each further pause is twice as long."""
    hosts: frozenset[str] | None = None
    """Where requests may go, those that an answer leads to as well; None: anywhere."""
    _next: float = 0.0
    """When the next request may be made."""

    def ask(
        self,
        address: str,
        headers: Mapping[str, str],
        read: Callable[[Answer], T],
        *,
        limit: int,
        answers: Collection[int] = (200,),
    ) -> T:
        """What ``read`` makes of the answer; it raises a BrokenOffError for one that is not whole.

        ``answers`` are the statuses that say something; others are errors. ``limit`` is the most
        bytes accepted.
        """
        failures = 0
        while True:
            self._wait()
            try:
                return read(self._request(address, headers, limit, answers))
            except BrokenOffError as error:
                failures += 1
                if failures >= self.attempts:
                    raise DownloadError(f"{_bare(address)}: {error}") from error
                own = self.pause * 2 ** (failures - 1)
                time.sleep(max(own, min(error.pause, LONGEST_PAUSE)))

    def _check(self, address: str) -> None:
        host = urlsplit(address).hostname
        if self.hosts is not None and host not in self.hosts:
            raise DownloadError(f"{_bare(address)}: {host} is not among the hosts that are asked")

    def _wait(self) -> None:
        now = time.monotonic()
        if now < self._next:
            time.sleep(self._next - now)
        self._next = max(now, self._next) + 1 / self.rate

    def _request(
        self, address: str, headers: Mapping[str, str], limit: int, answers: Collection[int]
    ) -> Answer:
        own = {"User-Agent": f"labelwise/{__version__}", "Accept-Encoding": "identity"}
        request = urllib.request.Request(address, headers=own | dict(headers))
        self._check(address)
        opener = urllib.request.build_opener(_Redirections(self._check))
        try:
            try:
                response = opener.open(request, timeout=self.timeout)
            except urllib.error.HTTPError as error:
                response = error  # a status is an answer; whether it is one for us is said below
            with response:
                status = int(response.status)
                said = {name.lower(): value for name, value in response.headers.items()}
                if status not in answers:
                    raise _refusal(address, status, str(response.reason), said)
                body = response.read(limit + 1)
        except urllib.error.URLError as error:
            raise BrokenOffError(reason_of(error.reason)) from error
        except (OSError, http.client.HTTPException) as error:
            raise BrokenOffError(reason_of(error)) from error
        if len(body) > limit:
            raise DownloadError(f"{_bare(address)}: the answer has more than {limit:,} bytes")
        length = said.get("content-length", "")
        if length.isdigit() and len(body) < int(length):
            raise BrokenOffError(
                f"the connection broke off after {len(body):,} of {int(length):,} bytes"
            )
        return Answer(status, body, said)


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follows where an answer leads, after a check."""

    def __init__(self, check: Callable[[str], None]) -> None:
        self._check = check

    def redirect_request(self, *given: Any) -> urllib.request.Request | None:
        self._check(given[-1])
        return super().redirect_request(*given)


def _refusal(address: str, status: int, reason: str, headers: Mapping[str, str]) -> Exception:
    """The error of a status that is no answer, with the pause that the server asks for."""
    sentence = f"the server answered {status} {reason}".rstrip()
    if status not in TRY_AGAIN:
        return DownloadError(f"{_bare(address)}: {sentence}")
    wanted = headers.get("retry-after", "")
    return BrokenOffError(sentence, int(wanted) if wanted.isdigit() else 0)


def _bare(address: str) -> str:
    """The address without its query, which may be a page long."""
    return address.partition("?")[0]
