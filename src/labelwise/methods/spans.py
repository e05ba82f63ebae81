"""Spans of a text, kept as three arrays: a long act has as many of them as words, for every label,
and who asks for ten labels seldom looks at all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray


class Span(NamedTuple):
    """Characters ``start:end`` of ``document.text`` and how much they speak for a label."""

    start: int
    end: int
    weight: float


class Spans(Sequence[Span]):
    """Equal to any sequence of the same spans.

    >>> Spans.of([Span(0, 6, 0.5)])[0]
    Span(start=0, end=6, weight=0.5)
    """

    def __init__(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> None:
        self.starts, self.ends, self.weights = starts, ends, weights  # (spans,) each

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Spans:
        """The same spans as arrays; those that are already stay."""
        if isinstance(spans, cls):
            return spans
        starts, ends, weights = zip(*spans, strict=True) if (spans := list(spans)) else ((),) * 3
        return cls(np.array(starts, np.int64), np.array(ends, np.int64), np.array(weights, float))

    @classmethod
    def added(cls, parts: Sequence[Spans]) -> Spans:
        """All spans of several, in order; the weights of those in one place are added up.

        >>> Spans.added([Spans.of([Span(3, 5, 0.5)]), Spans.of([Span(0, 2, 1), Span(3, 5, 1)])])
        Spans([Span(start=0, end=2, weight=1.0), Span(start=3, end=5, weight=1.5)])
        """
        places = np.concatenate([one.starts << 32 | one.ends for one in parts])
        order = np.argsort(places, kind="stable")  # in no time where each part is in order
        places = places[order]
        first = np.flatnonzero(np.diff(places, prepend=-1))  # of each place
        weights = np.concatenate([one.weights for one in parts])[order]
        total = np.add.reduceat(weights, first) if len(first) else weights
        return cls(places[first] >> 32, places[first] & 0xFFFFFFFF, total)

    def times(self, factor: float) -> Spans:
        """The same spans with so many times the weight."""
        return Spans(self.starts, self.ends, self.weights * factor)

    def __len__(self) -> int:
        return len(self.weights)

    @overload
    def __getitem__(self, at: int) -> Span: ...
    @overload
    def __getitem__(self, at: slice) -> Spans: ...
    def __getitem__(self, at: int | slice) -> Span | Spans:
        if isinstance(at, slice):
            return Spans(self.starts[at], self.ends[at], self.weights[at])
        return Span(int(self.starts[at]), int(self.ends[at]), float(self.weights[at]))

    def __iter__(self) -> Iterator[Span]:
        lists = (one.tolist() for one in (self.starts, self.ends, self.weights))
        return map(Span._make, zip(*lists, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return f"Spans({list(self)})"
