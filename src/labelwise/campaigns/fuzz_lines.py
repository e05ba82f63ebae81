"""Which lines of this package an input reached: one that reaches new ones is worth a change."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = str(Path(__file__).parents[1]) + os.sep


class Lines:
    """The lines that were reached so far. Functions of which none is left are not watched, so that
    watching costs less and less."""

    def __init__(self, seen: Iterable[str]) -> None:
        self.seen = set(seen)
        self._left: dict[CodeType, set[int]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            left = self._left[code] = self._unseen(code)
        return self._reached if left else None

    def _unseen(self, code: CodeType) -> set[int]:
        # A module runs once in a process, so that its own lines tell nothing of an input.
        if code.co_name == "<module>" or code.co_filename == __file__:
            return set()
        if not code.co_filename.startswith(ROOT):
            return set()
        lines = {line for *_, line in code.co_lines() if line and line != code.co_firstlineno}
        return {line for line in lines if _named(code, line) not in self.seen}

    def _reached(self, frame: FrameType, event: str, _: Any) -> Any:
        left = self._left[frame.f_code]
        if event == "line" and frame.f_lineno in left:
            left.remove(frame.f_lineno)
            self.seen.add(_named(frame.f_code, frame.f_lineno))
        return self._reached


def _named(code: CodeType, line: int) -> str:
    return f"{code.co_filename.removeprefix(ROOT)}:{line}"
