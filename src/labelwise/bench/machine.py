"""Which machine a figure was measured on: its processor, cores, memory and card."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from labelwise.bench.processes import threads


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
