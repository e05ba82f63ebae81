"""Several processes train one network, as `torchrun` starts them: who is who, what they agree on.

Each has all weights and reads its share of every batch; DistributedDataParallel makes the mean of
their gradients, so that all take the same step. One that is alone needs none of it, nor PyTorch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from labelwise import progress

if TYPE_CHECKING:
    from torch import Tensor, nn

T = TypeVar("T")

PATIENCE = timedelta(days=1)
"""One may wait long for another, as for vectors that are learned first; where one is killed,
`torchrun` ends all of them."""


@dataclass(frozen=True)
class Processes:
    """The place of this process among those that train together."""

    rank: int = 0
    size: int = 1
    device: str = "cpu"
    """Where what they tell each other has to lie."""

    @property
    def is_first(self) -> bool:
        """The one that writes."""
        return self.rank == 0

    def part(self, things: Sequence[T]) -> Sequence[T]:
        """What this one does of some things: every ``size``-th.

        >>> Processes(rank=1, size=2).part("abcde")
        'bd'
        """
        return things[self.rank :: self.size]

    def sharing_gradients(self, network: nn.Module) -> nn.Module:
        """The network, whose gradients are the mean of those of all processes."""
        if self.size == 1:
            return network
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(
            network, broadcast_buffers=False, gradient_as_bucket_view=True
        )

    def summed(self, x: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if self.size > 1:
            from torch import distributed

            distributed.all_reduce(x)
        return x

    def agreed(self, value: float) -> float:
        """What the first one says: clocks differ."""
        if self.size == 1:
            return value
        import torch

        told = torch.tensor([value], dtype=torch.float64, device=self.device)
        torch.distributed.broadcast(told, 0)
        return told.item()

    def wait(self) -> None:
        """Until all are here."""
        if self.size > 1:
            from torch import distributed

            distributed.barrier()

    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """The first does what is in the block, then the others, who find what it has kept."""
        if not self.is_first:
            self.wait()
        yield
        if self.is_first:
            self.wait()


def processes() -> Processes:
    """Those that this process trains with."""
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return Processes()
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    return Processes(distributed.get_rank(), distributed.get_world_size(), device)


def are_several() -> bool:
    """Whether `torchrun` has started this process beside others."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def speaks() -> bool:
    """Whether this process tells what was done: of several the first one does."""
    return not are_several() or os.environ.get("RANK", "0") == "0"


@contextmanager
def together(device: str) -> Iterator[Processes]:
    """Within it the processes that `torchrun` has started know each other, and one of them speaks.
    On CUDA devices each has one of its own."""
    import torch
    from torch import distributed

    on_cuda = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    if on_cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    distributed.init_process_group("nccl" if on_cuda else "gloo", timeout=PATIENCE)
    spoke = progress.quiet, progress.silent
    try:
        found = processes()
        if not found.is_first:
            progress.quiet = progress.silent = True
        yield found
    finally:
        progress.quiet, progress.silent = spoke
        distributed.destroy_process_group()
