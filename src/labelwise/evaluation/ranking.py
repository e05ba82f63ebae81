"""Ranking with ties broken by label order, always: the top of a list, exactly.

A partial sort does not say which of several equal scores it keeps, so scores are first turned into
keys that are never equal: the score in the upper half of a 64-bit number, the column counted
backwards in the lower half. The largest keys are the highest scores, and among equal scores the
first labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
"""One number a label: a larger one is ranked higher, no two of a document are equal."""

NO_LABEL = np.uint64(0)
"""The key of an empty place: below the key of every label, even one scored minus infinity."""

_LOWER = np.uint64(0xFFFFFFFF)


def ranking_keys(scores: NDArray[np.float32], labels: NDArray[Any]) -> Keys:
    """Keys of documents × places, given the score and the column of the label at each place."""
    bits = (scores + np.float32(0)).view(np.uint32)  # adding zero makes -0.0 equal to 0.0
    # Positive floats sort as their bits do; of negative ones all bits are turned over.
    negative = (bits.view(np.int32) >> 31).view(np.uint32)
    keys = (bits ^ (negative | np.uint32(0x80000000))).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= _LOWER - labels.astype(np.uint64)
    return keys


def key_labels(keys: Keys) -> NDArray[np.int64]:
    """The column that a key stands for; of an empty place, -1."""
    return np.where(keys == NO_LABEL, -1, (_LOWER - (keys & _LOWER)).astype(np.int64))


def highest(keys: Keys, k: int) -> Keys:
    """The ``k`` highest keys of each document, highest first; missing places are empty."""
    width = keys.shape[1]
    if width > k:
        keys = np.partition(keys, width - k, axis=1)[:, width - k :]
    ranked = np.sort(keys, axis=1)[:, ::-1]
    return np.pad(ranked, ((0, 0), (0, k - ranked.shape[1])), constant_values=NO_LABEL)


def ranked(values: NDArray[Any]) -> NDArray[np.intp]:
    """The places of values, the highest first and of equal ones the first, row by row.

    >>> ranked(np.array([0.5, 0.9, 0.5])).tolist()
    [1, 0, 2]
    """
    return np.argsort(-values, kind="stable", axis=-1)


def top_k(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The columns of the ``k`` highest scores of each document, best first; -1 where none is left.

    >>> top_k(np.array([[0.5, 0.9, 0.5, 0.5]], dtype=np.float32), 3)
    array([[1, 0, 2]])
    """
    scores = np.asarray(scores, dtype=np.float32)
    return key_labels(highest(ranking_keys(scores, np.arange(scores.shape[1])), k))
