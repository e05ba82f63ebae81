"""Chance that falls the same way in every process, on every machine, in every version."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """All draws come from ``Random.random``, the one stream that Python promises never to change.

    >>> Dice("a seed").pick(["barley", "maize", "rice"])
    'maize'
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random  # seeded by SHA-512 of the text, not by hash()

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._random() * n)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        at = self._random() * math.fsum(weights)
        for item, weight in zip(items, weights, strict=True):
            at -= weight
            if at < 0:
                return item
        return items[-1]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """Up to n different items, in the order in which they were drawn."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(min(n, len(left)))]

    def bell(self) -> float:
        """Nearly normal, mean 0, variance 1: twelve uniform draws need no libm."""
        return math.fsum(self._random() for _ in range(12)) - 6
