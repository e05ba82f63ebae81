"""Who holds how much: nobody takes so much of what there is that others find nothing left."""

from __future__ import annotations

from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address

GENEROSITY = 3
"""A client may hold this many times as much as it leaves free: alone three quarters of all there
is, and where it holds much already, less of what is left than a newcomer."""

asking: ContextVar[str] = ContextVar("asking", default="")
"""The client whose request is being answered."""


def client_of(address: str) -> str:
    """By what a client is known: its address, or in IPv6 the network that one household has.

    >>> client_of("192.0.2.7"), client_of("2001:db8::7:1"), client_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::', '192.0.2.7')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> 64 << 64))


class Pool:
    """So many seats or bytes, and who holds them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.held = 0
        self._of: dict[str, int] = {}

    def take(self, client: str, amount: int = 1) -> bool:
        """Whether the client got them. Who holds nothing gets whatever is free."""
        mine, free = self._of.get(client, 0), self.size - self.held - amount
        if free < 0 or (mine and mine + amount > GENEROSITY * free):
            return False
        self.held += amount
        self._of[client] = mine + amount
        return True

    def give_back(self, client: str, amount: int = 1) -> None:
        self.held -= amount
        self._of[client] -= amount
        if not self._of[client]:
            del self._of[client]
