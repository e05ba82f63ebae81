"""Two-tailed approximate randomisation: could the difference of two runs be chance?

If two methods were equally good, swapping their outputs on a document would change nothing but
luck. The test swaps them on a random half of the documents, thousands of times, and counts how
often the difference is at least as large as the one observed. It works for any measure that follows
from sums over documents: means, and micro-F1, whose counts are swapped and summed before F1 is
taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelwise.errors import LabelwiseError
from labelwise.evaluation.counts import Counts, f1

Statistic = Callable[[NDArray[np.float64], int], NDArray[np.float64]]
"""From sums over documents (… × columns) and the number of documents to the measure (…)."""

ROUNDS = 10_000
EXACT = 13
"""Up to so many documents that differ, all 2^n swaps are tried (2^13 = 8,192)."""

BLOCK = 1 << 22
"""Swaps drawn at a time: 32 MB as double-precision numbers."""


@dataclass(frozen=True)
class Significance:
    """The observed difference a - b, and how likely one as large is if a and b are equally good."""

    difference: float
    p_value: float
    exact: bool


def mean(sums: NDArray[np.float64], documents: int) -> NDArray[np.float64]:
    """The statistic of P@K, R@K, RP@K and nDCG@K: one column, the value of the document."""
    return sums[..., 0] / documents


def micro_f1(sums: NDArray[np.float64], documents: int) -> NDArray[np.float64]:
    """The statistic of micro-F1: columns are true positives, false positives, false negatives."""
    return np.nan_to_num(f1(sums[..., 0], sums[..., 1], sums[..., 2]))


def randomisation_test(
    a: ArrayLike,
    b: ArrayLike,
    statistic: Statistic = mean,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Significance:
    """Compare two runs on the same documents, in the same order: one value, or one row, each.

    With few documents all swaps are tried and p is their exact share; else p is
    (count + 1) / (rounds + 1), so that it is never zero.

    >>> randomisation_test([1.0, 1.0, 1.0], [0.0, 0.0, 0.0]).p_value  # 2 of the 8 swaps
    0.25
    """
    first, second = _columns(a), _columns(b)
    if first.shape != second.shape:
        raise LabelwiseError(
            f"the two runs cannot be compared: {first.shape} values against {second.shape}"
        )
    documents = len(first)
    if not documents:
        raise LabelwiseError("the two runs cannot be compared: there are no documents")
    sum_a, sum_b = first.sum(axis=0), second.sum(axis=0)
    change = second - first
    change = change[np.any(change != 0, axis=1)]  # to swap two equal values changes nothing
    differing = len(change)

    def difference(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
        moved = swaps @ change  # rounds × columns: what swapping adds to a and takes from b
        return statistic(sum_a + moved, documents) - statistic(sum_b - moved, documents)

    observed = float(difference(np.zeros((1, differing)))[0])
    least = abs(observed) - 1e-12  # sums in another order differ in their last digits
    if differing <= EXACT:
        every = (np.arange(1 << differing)[:, None] >> np.arange(differing)) & 1
        share = np.mean(np.abs(difference(every.astype(np.float64))) >= least)
        return Significance(observed, float(share), exact=True)
    random = np.random.default_rng(seed)
    count, step = 0, max(1, BLOCK // differing)
    for start in range(0, rounds, step):
        shape = (min(step, rounds - start), -(-differing // 8))
        bits = np.unpackbits(random.integers(0, 256, shape, dtype=np.uint8), axis=1)
        swaps = bits[:, :differing].astype(np.float64)
        count += int(np.sum(np.abs(difference(swaps)) >= least))
    return Significance(observed, (count + 1) / (rounds + 1), exact=False)


def compare_counts(
    a: Counts, b: Counts, group: str, measure: str, *, rounds: int = ROUNDS, seed: int = 0
) -> Significance:
    """Test the difference of a measure between two evaluations of the same documents."""
    if measure.startswith("micro-F1"):
        counts = a.f1_counts(group, measure), b.f1_counts(group, measure)
        return randomisation_test(*counts, micro_f1, rounds=rounds, seed=seed)
    first, second = (counts.per_document(group, measure) for counts in (a, b))
    kept = ~np.isnan(first)  # the documents with gold labels in the group, the same in both
    return randomisation_test(first[kept], second[kept], rounds=rounds, seed=seed)


def _columns(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
