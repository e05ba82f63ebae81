"""Who may ask through a browser: the page of this service, and no other site.

A site can make a browser send requests to any address, also to this machine. It cannot hide where
they come from (``Origin``). It can let its own name point to this machine, which makes it the same
site in the browser's eyes; then the name it asked for (``Host``) is not one of this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from labelwise.serving.problems import ProblemError


def is_loopback(host: str) -> bool:
    """Whether a name or an address can be this machine's alone.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def check_site(
    method: str, headers: Mapping[bytes, bytes], *, loopback: bool, names: frozenset[str]
) -> None:
    """Refuse what another site made a browser send. ``names`` are those of this service."""
    host = headers.get(b"host", b"").decode("latin-1")
    known = _name(host) in names
    if loopback and not known and not is_loopback(_name(host)):
        raise ProblemError(
            403,
            "foreign-site",
            "this service listens on this machine alone and answers to localhost: a proxy before "
            "it keeps that name, or names its own with --site",
        )
    origin = headers.get(b"origin")
    if method in {"GET", "HEAD", "OPTIONS"} or origin is None:
        return
    if headers.get(b"sec-fetch-site") == b"same-origin":
        return
    place = origin.decode("latin-1").rpartition("//")[2].lower()
    if place != host.lower() and _name(place) not in names:
        raise ProblemError(403, "foreign-site", "a page of another site may not ask this service")


def _name(authority: str) -> str:
    """The host without its port and brackets."""
    try:
        return urlsplit(f"//{authority}").hostname or ""
    except ValueError:
        return ""
