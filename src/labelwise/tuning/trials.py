"""How a trial is going, by what dev says of each epoch, and when to give one up."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path

WARMUP = 3
"""Epochs that every trial is given: before that the learning rate still decides."""

COMPANY = 4
"""Other trials that must have come as far before one is given up."""


def read_curve(log: Path) -> list[float]:
    """Dev RP@5 by epoch, as far as the log of a training has come."""
    if not log.is_file():
        return []
    curve = []
    for line in log.read_text("utf-8", "replace").splitlines():
        try:
            event = json.loads(line)
            if event.get("event") == "epoch" and "dev_rp5" in event:
                curve.append(float(event["dev_rp5"]))
        except (ValueError, AttributeError, TypeError):  # the last may still be being written
            break
    return curve


def falls_behind(curve: Sequence[float], others: Sequence[Sequence[float]]) -> bool:
    """Whether a trial is to be given up: its best epoch is worse than the median of the others'.

    The others count as they stood after as many epochs.

    >>> falls_behind([.5, .6, .61], [[.5, .6, .7], [.5, .6, .7], [.5, .6, .72], [.4, .5, .6]])
    True
    """
    epochs = len(curve)
    if epochs < WARMUP:
        return False
    reached = [max(other[:epochs]) for other in others if len(other) >= epochs]
    return len(reached) >= COMPANY and max(curve) < statistics.median(reached)
