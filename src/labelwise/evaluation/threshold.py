"""The threshold that makes micro-F1 highest, found exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import block_slices, checked_block, gold_matrix


def tune_threshold(scores: NDArray[np.float32], gold: Any) -> float:
    """The threshold with the highest micro-F1; of several as good, the highest one.

    Between two neighbouring scores of gold labels a lower threshold only adds wrong predictions, so
    the best one lies just below the score of a gold label: those scores are the only candidates.
    What is given back lies half-way to the next lower score.

    >>> tune_threshold(np.array([[0.9, 0.4, 0.2]]), np.array([[1, 1, 0]]))
    0.30000001192092896
    """
    scores = np.asarray(scores)
    matrix = gold_matrix(gold)
    if matrix.shape != scores.shape:
        raise LabelwiseError(
            f"the gold labels have the shape {matrix.shape}, but the scores {scores.shape}: both "
            "are documents × labels"
        )
    rows, columns = matrix.nonzero()
    of_gold = np.sort(scores[rows, columns].astype(np.float32))
    candidates = np.unique(of_gold[of_gold > -np.inf])
    if not len(candidates):
        raise LabelwiseError("there is no gold label with a score to tune a threshold on")

    predicted = np.zeros(len(candidates), dtype=np.int64)  # labels scored at least the candidate
    for documents in block_slices(*scores.shape):
        block = checked_block(scores, documents)
        in_order = np.sort(block[block >= candidates[0]])
        predicted += len(in_order) - np.searchsorted(in_order, candidates)
    hits = len(of_gold) - np.searchsorted(of_gold, candidates)
    f1 = 2.0 * hits / (predicted + len(of_gold))
    best = candidates[len(f1) - 1 - int(np.argmax(f1[::-1]))]

    below = -np.inf
    for documents in block_slices(*scores.shape):
        block = checked_block(scores, documents)
        below = max(below, float(np.max(block, where=block < best, initial=-np.inf)))
    middle = np.float32((below + float(best)) / 2)
    # The middle may be infinite, or round up to the score itself.
    return float(middle if -np.inf < middle < best else np.nextafter(best, np.float32(-np.inf)))
