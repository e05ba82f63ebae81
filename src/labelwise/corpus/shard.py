"""A shard: one of several equal parts of a work, each of which any machine can do alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from labelwise.errors import LabelwiseError

T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """The ``number``-th of ``of`` shards, counted from one."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """A shard as it is written on the command line.

        >>> Shard.parse("3/8")
        Shard(number=3, of=8)
        """
        found = re.fullmatch(r"\s*([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise LabelwiseError(
                f"'{text}' is not a shard: write 3/8 for the third of eight, from 1/8 to 8/8"
            )
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, things: Sequence[T]) -> Sequence[T]:
        """Every ``of``-th thing: where they are sorted by size, all shards have as much to do.

        >>> Shard(2, 3).part([0, 1, 2, 3, 4])
        [1, 4]
        """
        return things[self.number - 1 :: self.of]
