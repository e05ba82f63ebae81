"""Texts that were cut into tokens a moment ago: what was scored is explained next, and is not cut
again for it."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Generic, TypeVar

Cut = TypeVar("Cut")

MOST = 4_000_000
"""Characters of the texts that are remembered, the last ones: more than the longest act has."""


class Remembered(Generic[Cut]):
    """How texts were cut; those that were not asked for the longest are forgotten first."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._size = most, 0
        self._cuts: OrderedDict[str, Cut] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, here or in another process, begins with nothing."""
        return Remembered, (self._most,)

    def get(self, text: str) -> Cut | None:
        with self._lock:
            if text in self._cuts:
                self._cuts.move_to_end(text)
            return self._cuts.get(text)

    def keep(self, text: str, cut: Cut) -> None:
        if len(text) > self._most:
            return
        with self._lock:
            if text not in self._cuts:
                self._size += len(text)
            self._cuts[text] = cut
            while self._size > self._most:
                oldest, _ = self._cuts.popitem(last=False)
                self._size -= len(oldest)
