"""Trials: settings that are tried, what dev says of them by epoch, and when to give one up."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from labelwise.errors import InputError

WARMUP = 3
"""Epochs that every trial is given: before that the learning rate still decides."""

COMPANY = 4
"""Other trials that must have come as far before one is given up."""

State = Literal["planned", "complete", "pruned", "failed"]


@dataclass(frozen=True)
class Trial:
    """Settings that are tried, and how it went."""

    trial: int
    method: str
    settings: dict[str, Any]
    state: State = "planned"
    value: float | None = None  # dev RP@5, the best of its epochs
    curve: list[float] = field(default_factory=list)  # dev RP@5 by epoch
    figures: dict[str, float] = field(default_factory=dict)  # on dev, few- and zero-shot too
    made: dict[str, Any] = field(default_factory=dict)  # seed, data, versions, device, seconds

    def line(self) -> str:
        """The trial as a line of JSON."""
        return json.dumps(asdict(self))


def read_trials(path: Path) -> list[Trial]:
    """The trials of a file, one a line; the last line of a trial counts."""
    found: dict[int, Trial] = {}
    for number, text in enumerate(_lines(path), start=1):
        if not text.strip():
            continue
        try:
            trial = Trial(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise InputError(
                "this is not a trial: `labelwise tune --plan` and `--run` write them",
                file=path,
                line=number,
            ) from error
        found[trial.trial] = trial
    return list(found.values())


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from file
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the trials cannot be read ({error})", file=path) from error


def read_curve(log: Path) -> list[float]:
    """Dev RP@5 by epoch, as far as the log of a training has come."""
    if not log.is_file():
        return []
    curve = []
    for line in log.read_text("utf-8").splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # the last line may still be being written
            break
        if event.get("event") == "epoch" and "dev_rp5" in event:
            curve.append(float(event["dev_rp5"]))
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
