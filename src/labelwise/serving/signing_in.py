"""Who asks: by a token, by a session, by what a trusted proxy says, or whoever owns the machine.

A browser sends cookies by itself, also when a page of another site made it ask; so a write of a
session carries besides what only our own page was told (``X-CSRF-Token``).
"""

from __future__ import annotations

import hmac
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Annotated

from fastapi import Depends, Request

from labelwise.desk.people import People, Person, Role
from labelwise.errors import LabelwiseError
from labelwise.serving.problems import ProblemError
from labelwise.serving.shares import client_of

COOKIE = "labelwise_session"
CSRF = "x-csrf-token"

FAILURES = 10
"""Wrong tokens that a client may send within ``MINUTE`` seconds."""
MINUTE = 60.0
MOST_CLIENTS = 10_000


@dataclass(frozen=True)
class Proxy:
    """A proxy that signs people in and names them in a header."""

    header: str
    networks: tuple[IPv4Network | IPv6Network, ...]

    @classmethod
    def of(cls, header: str, addresses: list[str]) -> Proxy:
        if not addresses:
            raise LabelwiseError(
                "--proxy-user-header needs --trusted-proxy: anybody could write such a header"
            )
        try:
            return cls(header.lower(), tuple(ip_network(one, strict=False) for one in addresses))
        except ValueError as error:
            raise LabelwiseError(f"--trusted-proxy: {error}") from None

    def name(self, request: Request) -> str | None:
        """Whom the proxy names; nobody where another machine asks."""
        given = request.headers.get(self.header)
        if not given or request.client is None:
            return None
        try:
            address = ip_address(request.client.host)
        except ValueError:
            return None
        return given if any(address in one for one in self.networks) else None


class Attempts:
    """Wrong tokens of each client, so that nobody tries many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: dict[str, deque[float]] = {}

    def check(self, client: str) -> None:
        failed = self._failed.get(client)
        while failed and failed[0] < self._clock() - MINUTE:
            failed.popleft()
        if failed is not None and len(failed) >= FAILURES:
            wait = max(1, round(failed[0] + MINUTE - self._clock()))
            raise ProblemError(
                429,
                "too-many",
                f"too many wrong tokens came from there: try again in {wait} s",
                headers={"Retry-After": str(wait)},
            )

    def fail(self, client: str) -> None:
        self._failed.setdefault(client, deque(maxlen=FAILURES)).append(self._clock())
        while len(self._failed) > MOST_CLIENTS:
            del self._failed[next(iter(self._failed))]


@dataclass(frozen=True)
class Asker:
    """A person, and how they are known."""

    person: Person
    csrf: str = ""
    session: str = ""


class Door:
    """Finds out who asks."""

    def __init__(self, people: People, proxy: Proxy | None, owner: str | None) -> None:
        """``owner``: who works here while the store has no people; None: nobody does."""
        self.people, self._proxy = people, proxy
        self._owner = None if owner is None else Person(owner, "admin")
        self._attempts = Attempts()

    def sign_in(self, token: str, request: Request) -> Asker:
        client = client_of(request.client.host if request.client else "")
        self._attempts.check(client)
        person = self.people.with_token(token)
        if person is None:
            self._attempts.fail(client)
            raise ProblemError(
                401, "not-signed-in", "this token is nobody's: ask for a new one", field="token"
            )
        session = self.people.sign_in(person)
        return Asker(person, self.people.written_by(session), session)

    def asker(self, request: Request) -> Asker | None:
        """Who asks; None for somebody who has not signed in."""
        if self._proxy is not None and (name := self._proxy.name(request)) is not None:
            return self._named(name)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and (found := self._by_token(token.strip(), request)):
            return found
        if session := request.cookies.get(COOKIE):
            person = self.people.in_session(session)
            if person is not None:
                return Asker(person, self.people.written_by(session), session)
        if self._owner is not None and not self.people.all():
            return Asker(self._owner)
        return None

    def _by_token(self, token: str, request: Request) -> Asker | None:
        client = client_of(request.client.host if request.client else "")
        self._attempts.check(client)
        person = self.people.with_token(token)
        if person is None and self.people.all():  # without people it is the key of the service
            self._attempts.fail(client)
        return None if person is None else Asker(person)

    def _named(self, name: str) -> Asker:
        person = self.people.named(name)
        if person is None:
            raise ProblemError(
                403,
                "not-allowed",
                "you are signed in, and nobody has put your name on this desk: ask for it",
            )
        return Asker(person, self.people.written_by(f"proxy\n{name}"))


def _asker(request: Request) -> Asker:
    """Who asks, and where a browser writes, that our page made it do so."""
    door: Door = request.app.state.service.desk.door
    found = door.asker(request)
    if found is None:
        raise ProblemError(401, "not-signed-in", "sign in with your token first")
    if found.csrf and request.method not in {"GET", "HEAD"}:
        given = request.headers.get(CSRF, "")
        if not hmac.compare_digest(given.encode(), found.csrf.encode()):
            raise ProblemError(
                403, "foreign-site", "a write of a browser carries X-CSRF-Token: see GET session"
            )
    return found


def _at_least(role: Role) -> Callable[[Asker], Person]:
    def check(asker: Annotated[Asker, Depends(_asker)]) -> Person:
        if not asker.person.may(role):
            raise ProblemError(403, "not-allowed", f"this is for people whose role is {role}")
        return asker.person

    return check


Who = Annotated[Person, Depends(_at_least("indexer"))]
Reviewer = Annotated[Person, Depends(_at_least("reviewer"))]
Admin = Annotated[Person, Depends(_at_least("admin"))]
AnyAsker = Annotated[Asker, Depends(_asker)]
