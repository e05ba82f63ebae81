"""How trainings are run side by side: how many, and on which machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from labelwise.errors import LabelwiseError
from labelwise.tuning.processes import Pool, shared_gpu
from labelwise.tuning.ray_pool import RayPool, parse_resources


@dataclass(frozen=True)
class Jobs:
    """So many at a time, on this machine or on a Ray cluster (``ray``, ``ray://host:port``)."""

    count: int = 1
    on: str | None = None
    resources: str = "cpus=1"
    """What each needs of a node."""

    def __post_init__(self) -> None:
        if self.on is not None and self.on != "ray" and not self.on.startswith("ray://"):
            raise LabelwiseError(
                f"trainings cannot run on '{self.on}': write ray, or ray://HOST:PORT"
            )
        parse_resources(self.resources)

    @contextmanager
    def pool(self) -> Iterator[Pool]:
        """What runs them; leaving the block ends those that still run."""
        if self.on is not None:
            with RayPool(self.count, self.on, parse_resources(self.resources)) as cluster:
                yield cluster
            return
        with shared_gpu(self.count), Pool(self.count) as here:
            yield here
