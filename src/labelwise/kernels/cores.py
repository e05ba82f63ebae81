"""Work that is shared among the cores of a CPU in large pieces, each done by one thread.

PyTorch shares every single operation among its threads, which wait for each other at its end. In
scoring there are thousands of short ones, and where another program wants the processor too, each
of them waits for the scheduler. So each core gets a piece of its own: a batch, some labels.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def on_cores(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The result for each item, in order; as many at a time as PyTorch may use threads here.

    Each is worked on in PyTorch's and the caller's present modes. Work that is itself on a core
    shares nothing further. Threads suffice: PyTorch lets go of Python's lock while it works.
    """
    threads = torch.get_num_threads()
    if threads == 1:
        return map(work, items)
    grad, inference, context = (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        copy_context(),
    )

    def inside(item: Item) -> Result:
        with torch.inference_mode(inference), torch.set_grad_enabled(grad):
            return context.copy().run(work, item)

    return _pool(threads).map(inside, items)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads for which PyTorch shares nothing, kept for the next work."""
    pool = ThreadPoolExecutor(threads, "labelwise core")
    all_here = threading.Barrier(threads)

    def begin(_: int) -> None:
        torch.set_num_threads(1)
        torch.get_num_threads()  # only what a thread has looked at once is its own
        all_here.wait()

    for _ in pool.map(begin, range(threads)):
        pass
    torch.set_num_threads(threads)  # for threads to come: it was never changed for this one
    return pool


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
