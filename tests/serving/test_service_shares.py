"""Nobody takes so much that others find nothing left."""

from __future__ import annotations

from labelwise.serving.shares import Pool, client_of


def taken(pool: Pool, client: str) -> int:
    """As many places as it gets."""
    count = 0
    while pool.take(client):
        count += 1
    return count


def test_one_client_alone_gets_three_quarters() -> None:
    assert taken(Pool(256), "greedy") == 192


def test_several_who_take_what_they_can_leave_something_for_the_next() -> None:
    pool = Pool(256)
    assert [taken(pool, f"greedy {n}") for n in range(3)] == [192, 48, 12]
    assert pool.take("an honest one")


def test_who_came_first_gets_no_more_once_others_came() -> None:
    pool = Pool(256)
    assert taken(pool, "first") == 192
    assert taken(pool, "second") == 48
    for _ in range(150):
        pool.give_back("first")
    assert taken(pool, "second") + 48 > taken(pool, "first") + 42


def test_what_is_given_back_can_be_taken_again() -> None:
    pool = Pool(10)
    assert taken(pool, "one") == 7
    for _ in range(7):
        pool.give_back("one")
    assert pool.held == 0
    assert taken(pool, "other") == 7


def test_a_pool_of_one_place_serves_one_at_a_time() -> None:
    pool = Pool(1)
    assert pool.take("one")
    assert not pool.take("other")
    pool.give_back("one")
    assert pool.take("other")


def test_no_more_is_held_than_there_is() -> None:
    pool = Pool(100)
    assert not pool.take("one", 101)
    assert pool.take("one", 100)
    assert not pool.take("other")


def test_addresses_of_one_network_of_ipv6_are_one_client() -> None:
    assert client_of("2001:db8:0:1::5") == client_of("2001:db8:0:1:ffff::9")
    assert client_of("2001:db8:0:1::5") != client_of("2001:db8:0:2::5")
    assert client_of("no address") == "no address"
