"""Near-copies: which training document says nearly the same in nearly the same words.

A document is the set of its shingles, runs of five words; two are as similar as the share of their
shingles that both have (Jaccard). MinHash (Broder 1997) finds the pairs worth comparing: the
smallest value of a random function over a set is the same for two sets as often as they are
similar. Documents that agree in all values of one of many bands are compared exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelwise.progress import track
from labelwise.text.tokenized import TokenizedCorpus

SHINGLE = 5
"""Words, numbers or marks in a run."""
BANDS, ROWS = 40, 3
"""Of two documents with a Jaccard similarity of .5 the bands miss 1 - .5³ to the 40th power, one
pair in two hundred; of .6, one in twenty thousand."""

Shingles = list[NDArray[np.uint64]]
"""The distinct shingles of each document as numbers, in rising order."""


@dataclass(frozen=True)
class NearCopy:
    """The training document most like another, and how much."""

    place: int
    similarity: float


def shingles(corpus: TokenizedCorpus) -> Shingles:
    """The shingles of each document; one with fewer than five words has none."""
    random = np.random.default_rng(0)
    of_word = random.integers(0, 1 << 64, len(corpus.words), dtype=np.uint64)
    factor = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit is lost; numbers wrap at 2⁶⁴
    at = of_word[corpus.tokens]
    runs = np.zeros(max(len(at) - SHINGLE + 1, 0), dtype=np.uint64)  # one from each token on
    for place in range(SHINGLE):
        runs = runs * factor + at[place : place + len(runs)]
    starts = corpus.token_starts
    return [
        np.unique(runs[start : max(start, end - SHINGLE + 1)])
        for start, end in itertools.pairwise(starts)
    ]


def signatures(documents: Shingles) -> NDArray[np.uint64]:
    """Documents × bands: the smallest values of the functions of a band, as one number."""
    random = np.random.default_rng(1)
    factors, shifts = random.integers(0, 1 << 64, (2, BANDS * ROWS), dtype=np.uint64)
    factors |= np.uint64(1)
    least = np.empty((len(documents), BANDS * ROWS), dtype=np.uint64)
    for row, found in enumerate(track(documents, "MinHash of the documents")):
        # shingles × functions; the upper bits of a product are the ones that are mixed
        values = (found[:, None] * factors + shifts) >> np.uint64(32)
        least[row] = values.min(axis=0, initial=np.uint64(1 << 32))
    in_bands = least.reshape(len(documents), BANDS, ROWS)
    mixed = random.integers(0, 1 << 64, ROWS, dtype=np.uint64) | np.uint64(1)
    return np.asarray((in_bands * mixed).sum(axis=2, dtype=np.uint64))


def near_copies(train: Shingles, measured: Shingles, threshold: float) -> list[NearCopy | None]:
    """For each document the most similar training document; None where none is as similar."""
    bands = []
    for band in signatures(train).T:
        order = np.argsort(band, kind="stable")
        bands.append((band[order], order))
    found = []
    for own, keys in zip(
        track(measured, "looking for near-copies"), signatures(measured), strict=True
    ):
        in_a_band = [
            order[np.searchsorted(band, key) : np.searchsorted(band, key, side="right")]
            for (band, order), key in zip(bands, keys, strict=True)
        ]
        found.append(_nearest(own, train, np.unique(np.concatenate(in_a_band)), threshold))
    return found


def _nearest(
    own: NDArray[np.uint64], train: Shingles, places: NDArray[np.int64], threshold: float
) -> NearCopy | None:
    """The most similar of some training documents, the first one where several are."""
    if not len(own) or not len(places):
        return None
    similar = jaccard(own, [train[place] for place in places])
    best = int(similar.argmax())
    if similar[best] < threshold:
        return None
    return NearCopy(int(places[best]), float(similar[best]))


def jaccard(own: NDArray[np.uint64], others: Sequence[NDArray[np.uint64]]) -> NDArray[np.float64]:
    """How similar a set of shingles is to each of the others, none of which is empty.

    >>> jaccard(np.array([1, 2, 3], np.uint64), [np.array([2, 3, 4, 5], np.uint64)])
    array([0.4])
    """
    sizes = np.array([len(other) for other in others])
    together = np.concatenate(others)
    at = np.searchsorted(own, together).clip(max=len(own) - 1)
    shared = np.add.reduceat(own[at] == together, np.cumsum(sizes) - sizes, dtype=np.int64)
    return np.asarray(shared / (len(own) + sizes - shared))
