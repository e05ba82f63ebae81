"""Who sends slowly, or not at all, keeps nobody else out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import httpx
import pytest
from serving_cases import figure, raw, wait_until
from threads_apart import apart

from labelwise.methods import Method
from labelwise.serving.limits import Limits
from labelwise.serving.models import Servable
from labelwise.serving.problems import ProblemError
from labelwise.serving.traffic import Body, Traffic

pytestmark = pytest.mark.xdist_group("serving")

LIMITS = Limits(max_body=1_000, slow=4)
SLOW = replace(LIMITS, prompt=0.0)
"""The same for a body that is slow from the beginning."""


def receiving(*pieces: bytes, ends: bool) -> Callable[[], Coroutine[Any, Any, Any]]:
    """A client that sends these pieces; without an end it stalls after them."""
    left = list(pieces)

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.Event().wait()
        piece = left.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(left) or not ends}

    return receive


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to this")


def test_requests_without_a_body_take_no_place_among_those_that_are_answered(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve([Servable("model", method=fitted["exact-match"])], limits=Limits(requests=4))
    head = (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1000\r\n\r\n"
    )
    made = [raw(client) for _ in range(20)]
    try:
        for one in made:
            one.sendall(head)
        wait_until(lambda: figure(client, "labelwise_requests_arriving") == 20)
        assert figure(client, "labelwise_requests_under_way") == 1  # this question
        assert client.post("/v1/tag", json={"text": "oranges"}).status_code == 200
    finally:
        for one in made:
            one.close()
    wait_until(lambda: figure(client, "labelwise_requests_arriving") == 0)


def test_stalled_large_bodies_leave_the_memory_of_others_alone() -> None:
    async def told() -> tuple[int, int, bytes | None]:
        traffic = Traffic(LIMITS)
        stalled = [
            asyncio.ensure_future(
                Body(SLOW, traffic, "slow", None).read(receiving(b"x" * 900, ends=False))
            )
            for _ in range(3)
        ]
        await until(lambda: traffic.slow_bodies.held == 2_700)
        large = Body(LIMITS, traffic, "slow", b"1000")  # even from the same client
        found = await large.read(receiving(b"y" * 500, b"z" * 500, ends=True))
        held = traffic.bodies.held
        large.let_go()
        for one in stalled:
            one.cancel()
        await asyncio.wait(stalled)
        return held, traffic.bodies.held, found

    assert apart(asyncio.run, told()) == (1_000, 0, b"y" * 500 + b"z" * 500)


def test_slow_senders_have_so_many_places_and_one_client_not_all_of_them() -> None:
    async def told() -> tuple[list[str], int]:
        traffic = Traffic(LIMITS)
        first = [
            asyncio.ensure_future(Body(SLOW, traffic, "greedy", None).read(receiving(ends=False)))
            for _ in range(6)
        ]
        await until(lambda: sum(one.done() for one in first) == 3)
        refused = [str(one.exception()) for one in first if one.done()]
        other = asyncio.ensure_future(
            Body(SLOW, traffic, "another", None).read(receiving(ends=False))
        )
        await until(lambda: traffic.slow.held == 4)
        for one in [*first, other]:
            one.cancel()
        await asyncio.wait([*first, other])
        assert traffic.arriving == traffic.slow.held == 0
        return refused, len(refused)

    refused, count = apart(asyncio.run, told())
    assert count == 3
    assert all("arrive as slowly as this one" in one for one in refused)


def test_a_slow_body_that_arrives_in_the_end_is_read() -> None:
    async def told() -> tuple[bytes | None, int]:
        traffic = Traffic(LIMITS)
        body = Body(SLOW, traffic, "slow", None)
        found = await body.read(receiving(b"a", b"b", ends=True))
        assert traffic.slow.held == 0
        body.let_go()
        return found, traffic.slow_bodies.held

    assert apart(asyncio.run, told()) == (b"ab", 0)


def test_seats_are_shared_among_clients() -> None:
    traffic = Traffic(replace(LIMITS, requests=8))

    def taken(client: str) -> Any:
        seat = traffic.seat(client, always=False)
        seat.__enter__()
        return seat

    seats = [taken("greedy") for _ in range(6)]
    with pytest.raises(ProblemError, match="too many requests are under way"):
        taken("greedy")
    seats.append(taken("an honest one"))
    with traffic.seat("greedy", always=True):
        assert traffic.under_way == 8
    for one in seats:
        one.__exit__(None, None, None)
    assert traffic.under_way == traffic.seats.held == 0
