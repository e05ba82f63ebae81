"""What a figure was measured on: the machine (processor, cores, memory and card) and the data."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import threads
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.synthetic import make_dataset


def machine() -> dict[str, Any]:
    """Facts that a reader needs to judge a time; no names of hosts or users."""
    import torch

    facts: dict[str, Any] = {
        "system": platform.system(),
        "processor": _processor(),
        "threads": threads(),
        "memory": memory(),
    }
    if torch.cuda.is_available():
        card = torch.cuda.get_device_properties(0)
        facts["gpu"] = {
            "name": card.name,
            "memory": card.total_memory,
            "multiprocessors": card.multi_processor_count,
            "capability": f"{card.major}.{card.minor}",
            "cuda": torch.version.cuda,
        }
    return facts


def busy_cores(seconds: float = 1.0) -> float | None:
    """How many cores are at work, while this process waits; the load of the last minute, which
    counts what has just ended too, where the system says no more."""
    before = _ticks()
    if before is None:
        return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    time.sleep(seconds)
    after = _ticks() or before
    work, idle = after[0] - before[0], after[1] - before[1]
    return round(work / max(1, work + idle) * (os.cpu_count() or 1), 2)


def _ticks() -> tuple[int, int] | None:
    """How long all cores have worked and idled since the start of the system."""
    try:
        ticks = Path("/proc/stat").read_text("utf-8").splitlines()[0].split()[1:]
    except (OSError, IndexError):
        return None
    user, nice, system, idle, waiting, *others = map(int, ticks[:8])
    return user + nice + system + sum(others), idle + waiting


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory() -> int | None:
    """All the memory of the machine, in bytes; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def data_folder(plan: Plan, work: Path) -> Path:
    """The data set's folder; without one, the synthetic corpus is made in the work folder."""
    if plan.data is not None:
        return plan.data.absolute()
    make_dataset(work / "synthetic", seed=0)
    return work / "synthetic"


def data_facts(data: Dataset) -> Result:
    """What a result says of its data. Ask while they are there: a corpus may be made for a run."""
    return {"name": data.name, "fingerprint": data.fingerprint, "counts": data.counts}
