"""Figures for Prometheus, in its text format. A handful of counters needs no library."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
DOCUMENTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels, float]
Samples = Iterator[Sample]


class Family(NamedTuple):
    """A figure with all its samples."""

    name: str
    kind: str
    help: str
    samples: list[Sample]


class Counter:
    """A figure that only grows, one for each set of labels."""

    kind = "counter"

    def __init__(self, name: str, help: str) -> None:
        self.name, self.help = name, help
        self._values: defaultdict[Labels, float] = defaultdict(float)
        self._lock = threading.Lock()

    def add(self, amount: float = 1, **labels: str) -> None:
        with self._lock:
            self._values[tuple(labels.items())] += amount

    def samples(self) -> Samples:
        with self._lock:
            values = sorted(self._values.items())
        for labels, value in values:
            yield self.name, labels, value


class Histogram:
    """How often a figure was at most this large."""

    kind = "histogram"

    def __init__(self, name: str, help: str, bounds: tuple[float, ...]) -> None:
        self.name, self.help, self._bounds = name, help, bounds
        self._counts: defaultdict[Labels, list[int]] = defaultdict(lambda: [0] * (len(bounds) + 1))
        self._sums: defaultdict[Labels, float] = defaultdict(float)
        self._lock = threading.Lock()

    def observe(self, value: float, **labels: str) -> None:
        key = tuple(labels.items())
        with self._lock:
            self._counts[key][bisect_left(self._bounds, value)] += 1
            self._sums[key] += value

    def samples(self) -> Samples:
        with self._lock:
            rows = [(key, list(counts), self._sums[key]) for key, counts in self._counts.items()]
        for labels, counts, total in sorted(rows):
            below = 0
            for bound, count in zip(map(repr, self._bounds), counts, strict=False):
                below += count
                yield f"{self.name}_bucket", (*labels, ("le", bound)), below
            yield f"{self.name}_bucket", (*labels, ("le", "+Inf")), sum(counts)
            yield f"{self.name}_sum", labels, total
            yield f"{self.name}_count", labels, sum(counts)


class Gauge:
    """A figure read when it is asked for."""

    kind = "gauge"

    def __init__(self, name: str, help: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        self.name, self.help, self._read = name, help, read

    def samples(self) -> Samples:
        for labels, value in sorted(self._read().items()):
            yield self.name, labels, value


class Metrics:
    """All figures of a service."""

    def __init__(self) -> None:
        self.requests = Counter(
            "labelwise_requests_total", "Requests answered, by route, method and status."
        )
        self.seconds = Histogram(
            "labelwise_request_seconds", "Seconds from a request's head to its answer.", SECONDS
        )
        self.refused = Counter(
            "labelwise_refused_total", "Requests refused because of a limit, by reason."
        )
        self.cut = Counter(
            "labelwise_cut_total", "Requests whose client went away before the answer."
        )
        self.documents = Counter("labelwise_documents_total", "Documents scored, by model.")
        self.batches = Histogram(
            "labelwise_batch_documents", "Documents that a model scored at a time.", DOCUMENTS
        )
        self.scoring = Counter(
            "labelwise_scoring_seconds_total", "Seconds that models spent scoring."
        )
        self._all: list[Counter | Histogram | Gauge] = [
            self.requests,
            self.seconds,
            self.refused,
            self.cut,
            self.documents,
            self.batches,
            self.scoring,
            Gauge("process_resident_memory_bytes", "Memory of the process.", _memory),
            Gauge("process_open_fds", "Open files and connections of the process.", _files),
            Gauge("process_start_time_seconds", "When the process began.", _started),
        ]

    def watch(self, name: str, help: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Add a figure that is read when it is asked for."""
        self._all.append(Gauge(name, help, read))

    def families(self) -> list[Family]:
        """All figures as they are now."""
        return [Family(one.name, one.kind, one.help, [*one.samples()]) for one in self._all]

    def exposition(self) -> str:
        """All figures in Prometheus' text format."""
        return written(self.families())


def written(families: Iterable[Family]) -> str:
    """Figures in Prometheus' text format."""
    lines = []
    for one in families:
        lines += [f"# HELP {one.name} {one.help}", f"# TYPE {one.name} {one.kind}"]
        lines += [
            f"{name}{_written(labels)} {_number(value)}" for name, labels, value in one.samples
        ]
    return "\n".join(lines) + "\n"


def _written(labels: Labels) -> str:
    """The labels in braces, with quotes, backslashes and line breaks escaped.

    >>> _written((("model", 'a "b"'),))
    '{model="a \\\\"b\\\\""}'
    """
    if not labels:
        return ""
    pairs = (
        (name, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
        for name, value in labels
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in pairs) + "}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


_BEGAN = time.time()


def _started() -> dict[Labels, float]:
    return {(): _BEGAN}


def _memory() -> dict[Labels, float]:
    """Resident memory where the system tells it (Linux); no figure elsewhere."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return {}
    return {(): pages * os.sysconf("SC_PAGE_SIZE")}


def _files() -> dict[Labels, float]:
    try:
        return {(): len(os.listdir("/proc/self/fd"))}  # noqa: PTH208 (a Path for each is slow)
    except OSError:
        return {}
