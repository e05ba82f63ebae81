"""A thread for what runs an event loop: a browser's tests may keep one running in this thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def apart(
    call: Callable[Arguments, Answer], *arguments: Arguments.args, **options: Arguments.kwargs
) -> Answer:
    """What the call returns, made in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *arguments, **options).result()
