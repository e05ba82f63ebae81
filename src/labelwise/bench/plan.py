"""What a benchmark is asked for: where to write, which data, how often, how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Result = dict[str, Any]
"""What a benchmark found; :mod:`labelwise.bench.results` says what is in it."""


@dataclass(frozen=True)
class Plan:
    """What every benchmark is given; each takes from it what it needs.

    ``out`` is the folder with ``results/``, the page, and the peers' environments (``.peers``);
    ``data`` the data set, the synthetic corpus where it is None; ``repeats`` how often each thing
    is measured, the benchmark's own choice where it is None. After ``max_seconds`` a GPU benchmark
    starts nothing new. ``libmultilabel_source`` is a folder that holds the package's source, for a
    machine where it cannot be installed. ``acts`` is how many the benchmark of bulk tagging makes.
    ``keep`` writes what is measured so far, so that a run
    that is cut off leaves something behind.
    """

    out: Path = Path("benchmarks")
    data: Path | None = None
    repeats: int | None = None
    max_seconds: float = 100.0
    libmultilabel_source: Path | None = None
    acts: int = 1_000_000
    keep: Callable[[Result], object] = lambda result: None
