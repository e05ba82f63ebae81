"""Options that may be repeated: lists in Python, where one alone is as good as a list of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def one_or_more(given: Any) -> list[Any]:
    """What was given, as a list. A text is one, and no list of its characters.

    >>> one_or_more("test"), one_or_more(("dev", "test")), one_or_more(None)
    (['test'], ['dev', 'test'], [])
    """
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    return list(given)
