"""A batch a core: how a CPU scores many batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def on_cores(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The result for each item, in order; as many at a time as PyTorch may use threads.

    A step of a recurrence is too short to be shared among cores: they would wait for each other
    thousands of times a batch. Threads suffice: PyTorch lets go of Python's lock while it works.
    """
    threads = torch.get_num_threads()
    with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        try:
            yield from pool.map(work, items)
        finally:
            torch.set_num_threads(threads)  # for threads to come; this one's were never changed
