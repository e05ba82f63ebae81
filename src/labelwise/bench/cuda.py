"""Time and memory of a step on a card, by its own clock and its own books."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from labelwise.bench.results import taking_turns

OUT_OF_MEMORY = "out of memory"

Step = Callable[[], Any]


def seconds(
    step: Step, *, repeats: int, device: str = "cuda", warm_up: int = 2, at_most: float = 2.0
) -> list[float]:
    """Seconds of each repeat, after warm-up; at least three, then no more once ``at_most`` passed.

    On a card each is taken between two CUDA events, so that what the host does meanwhile counts
    only where the card waits for it.
    """
    steps = {"": step}
    return in_turns(steps, repeats=repeats, device=device, warm_up=warm_up, at_most=at_most)[""]


def in_turns(
    steps: Mapping[str, Step],
    *,
    repeats: int,
    device: str = "cuda",
    warm_up: int = 2,
    at_most: float = 2.0,
) -> dict[str, list[float]]:
    """The same of several steps by turns: what else a host does then troubles all alike, which
    decides where a step is so small that the host takes longer than the card."""
    for step in steps.values():
        for _ in range(warm_up):
            step()
    if device == "cpu":
        timed = {name: partial(_host_seconds, step) for name, step in steps.items()}
        return taking_turns(timed, repeats)
    torch.cuda.synchronize()
    started = time.perf_counter()
    events: dict[str, list[tuple[Any, Any]]] = {name: [] for name in steps}
    for at in range(repeats):
        for name, step in steps.items():
            before = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            after = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            before.record()
            step()
            after.record()
            events[name].append((before, after))
            if at >= 2:
                # Let the host not run ahead by more than a turn, so that the limit is a true one.
                events[name][-2][1].synchronize()
        if at >= 2 and time.perf_counter() - started > at_most:
            break
    torch.cuda.synchronize()
    return {
        name: [before.elapsed_time(after) / 1000 for before, after in pairs]
        for name, pairs in events.items()
    }


def _host_seconds(step: Step) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def extra_memory(step: Step, device: str = "cuda") -> int | None:
    """The most that a step holds beyond what is held before it; None where there is no card."""
    if device == "cpu":
        step()
        return None
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def total_memory(step: Step, device: str = "cuda") -> int | None:
    """The most that is held while a step runs, whatever held it before included."""
    extra = extra_memory(step, device)
    return None if extra is None else extra + torch.cuda.memory_allocated()


def free(device: str = "cuda") -> None:
    """Give back what nothing refers to any more, so that the next version starts as this one."""
    if device != "cpu":
        gc.collect()
        torch.cuda.empty_cache()


def product_rate(dtype: torch.dtype, device: str = "cuda", size: int = 8192) -> float:
    """Useful operations a second of a square matrix product of random numbers: the card's limit."""
    source = torch.Generator(device).manual_seed(0)
    a, b = (torch.randn(size, size, generator=source, device=device, dtype=dtype) for _ in range(2))
    found = seconds(lambda: a @ b, repeats=30, device=device, warm_up=5)
    return 2 * size**3 / sorted(found)[len(found) // 2]
