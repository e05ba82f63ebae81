"""Weights of features that put gold labels above the others of their document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.odds import sigmoid

Floats = NDArray[np.float64]


def learned_weights(
    x: NDArray[np.float32],  # pairs of document and label × features
    document: NDArray[np.int64],  # (pairs,)
    gold: NDArray[np.bool_],  # (pairs,)
    weight: Floats,  # (pairs,) of a gold pair its importance, of another how many it was drawn for
    decay: float,
) -> Floats:
    """The weights w that make the mean of log p over the gold pairs highest, less their size:

        p = exp(w·x) / (exp(w·x) + sum of exp(w·x') over the document's labels x' that are not gold)

    The size is decay / 2 times the sum of squares, of weights for features of one spread, lest the
    unit of a feature matter.

    >>> x = np.array([[1, 0], [0, 1], [0, 0]], dtype=np.float32)
    >>> gold = np.array([True, False, False])
    >>> w = learned_weights(x, np.zeros(3, int), gold, np.ones(3), 0.1)
    >>> bool(w[0] > 0 > w[1])
    True
    """
    from scipy.optimize import minimize  # tagging learns nothing, and need not wait for it

    spread = x.std(axis=0).astype(np.float64)
    spread[spread < 1e-6] = np.inf  # a feature that is always the same says nothing
    z = x.astype(np.float64) / spread
    documents = int(document.max(initial=-1)) + 1
    positive = np.flatnonzero(gold)
    its_document = document[positive]
    importance = weight[positive] / max(weight[positive].sum(), 1e-12)
    rivals = np.where(gold, 0.0, weight)

    def loss(w: Floats) -> tuple[float, Floats]:
        s = z @ w
        highest = np.full(documents, -np.inf)
        np.maximum.at(highest, document, s)
        of_rival = rivals * np.exp(s - highest[document])
        of_rivals = np.maximum(np.bincount(document, of_rival, documents), 1e-300)
        behind = np.log(of_rivals[its_document]) + highest[its_document] - s[positive]
        missing = importance * sigmoid(behind)  # (positive,) times 1 - p
        slope = np.bincount(its_document, missing, documents)[document]
        slope = slope * of_rival / of_rivals[document]
        slope[positive] -= missing
        value = importance @ np.logaddexp(0, behind) + decay / 2 * (w @ w)
        return float(value), z.T @ slope + decay * w

    start = np.zeros(x.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return np.asarray(found.x / spread, dtype=np.float64)
