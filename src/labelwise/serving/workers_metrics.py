"""Figures of all workers in one answer, whichever of them is asked.

Each worker writes its own to a file that the others read, every second. Samples carry the number
of their worker; one that was started again counts from zero, as Prometheus expects of a process.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from labelwise.files import write_whole
from labelwise.serving.metrics import Family, Metrics, Sample, written


class WorkerMetrics(Metrics):
    """The figures of one worker, and beside them those of the others."""

    def __init__(self, folder: Path, slot: int) -> None:
        super().__init__()
        self._folder, self._slot = folder, slot

    def families(self) -> list[Family]:
        own = ("worker", str(self._slot))
        return [
            one._replace(samples=[(name, (own, *rest), value) for name, rest, value in one.samples])
            for one in super().families()
        ]

    def publish(self) -> None:
        """Write the figures for the others; a moment later they are old, so that no disk waits."""
        write_whole(self._file(self._slot), json.dumps(self.families()).encode(), kept=False)

    def exposition(self) -> str:
        """The figures of all workers."""
        every = {one.name: one for one in self.families()}
        for file in sorted(self._folder.glob("*.json")):
            if file == self._file(self._slot):
                continue
            with suppress(OSError, ValueError):  # it is gone, or half a file
                for name, _, _, samples in json.loads(file.read_text("utf-8")):
                    every[name].samples.extend(map(_sample, samples))
        return written(every.values())

    def _file(self, slot: int) -> Path:
        return self._folder / f"{slot}.json"


def _sample(read: list[object]) -> Sample:
    name, labels, value = read
    return str(name), tuple((str(a), str(b)) for a, b in labels), float(value)  # type: ignore
