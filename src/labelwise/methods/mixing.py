"""How several methods are mixed: weights that change smoothly with how often a label was seen.

With z_m the log-odds that member m gives a label, and n the label's training documents,

    log-odds of the blend = offset(n) + Σ_m weight_m(n) z_m

Weights and offset are piecewise linear in log n, with unseen labels apart: a member may be ahead
where a label is frequent and another where it is rare. They are those of the highest likelihood of
the dev documents' labels (logistic regression, weights not below zero), held back from changing
much between neighbours. So the result is a probability, and one scale serves all labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.odds import sigmoid
from labelwise.evaluation.ranking import top_k
from labelwise.schema import FLOATS, array

KNOTS = 8
"""Places between which weights are drawn in straight lines."""

CANDIDATES = 40
"""Best labels of each member that are learned from: what all members rank lower is no question."""

SMOOTH = 1.0
"""What a difference between the weights of two neighbours costs, squared, in units of likelihood of
a label: it decides where there is little to learn from, and hardly where there is much."""


@dataclass(frozen=True, eq=False)
class Mixing:
    """The first row is that of unseen labels, the others those of the knots."""

    knots: NDArray[np.float64]  # (K,) logarithms of numbers of training documents, rising
    weights: NDArray[np.float64]  # (1 + K, members)
    offsets: NDArray[np.float64]  # (1 + K,)

    @classmethod
    def even(cls, asked: NDArray[np.bool_]) -> Self:
        """All members that are asked count the same: (2, members), of unseen and of seen labels."""
        weights = asked / np.maximum(asked.sum(axis=1, keepdims=True), 1)
        return cls(np.zeros(1), weights, np.zeros(2))

    @classmethod
    def fitted(
        cls,
        logits: Sequence[NDArray[np.float32]],
        gold: NDArray[np.bool_],
        counts: NDArray[np.int64],
        asked: NDArray[np.bool_],
    ) -> Self:
        """From what the members say of documents whose gold labels are known.

        ``logits`` documents × labels of each member, ``counts`` the training documents of each
        label, ``asked`` (2, members) which members can say anything of unseen and of seen labels.
        """
        if not gold.any():
            return cls.even(asked)
        highest = np.log(max(2, counts.max()))
        knots = np.linspace(0, highest, KNOTS)
        documents, columns = _candidates(logits, gold, counts > 0, asked)
        basis = _basis(counts, knots)  # (labels, 1 + K)
        z = np.stack([one[documents, columns] for one in logits], 1).astype(np.float64)
        weights, offsets = _most_likely(z, gold[documents, columns], basis[columns], asked)
        return cls(knots, weights, offsets)

    def for_labels(self, counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The weights (labels, members) and offsets (labels,) of labels seen so often."""
        basis = _basis(counts, self.knots)
        return basis @ self.weights, basis @ self.offsets

    def to_json(self) -> dict[str, Any]:
        return {name: value.tolist() for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, state: Mapping[str, Any], members: int) -> Self:
        arrays = {
            name: np.array(state[name], dtype=float) for name in ("knots", "weights", "offsets")
        }
        knots = array(arrays, "knots", (None,), FLOATS)
        rows = 1 + len(knots)
        return cls(
            knots,
            array(arrays, "weights", (rows, members), FLOATS),
            array(arrays, "offsets", (rows,), FLOATS),
        )


def _basis(counts: NDArray[np.int64], knots: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much each row counts for a label: (labels, 1 + K), rows of unseen labels first.

    >>> _basis(np.array([0, 1, 2, 8]), np.log([1.0, 4.0])).round(2).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]
    """
    found = np.zeros((len(counts), 1 + len(knots)))
    found[counts == 0, 0] = 1
    at = np.log(np.maximum(counts, 1))
    for row, value in enumerate(np.eye(len(knots))):
        found[counts > 0, 1 + row] = np.interp(at[counts > 0], knots, value)
    return found


def _candidates(
    logits: Sequence[NDArray[np.float32]],
    gold: NDArray[np.bool_],
    seen: NDArray[np.bool_],
    asked: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of document and label that are learned from: the best of each member, of seen and
    of unseen labels, and the gold ones."""
    chosen = gold.copy()
    for group, of_group in enumerate((~seen, seen)):
        columns = np.flatnonzero(of_group)
        for member, one in enumerate(logits):
            if asked[group, member] and len(columns):
                best = columns[top_k(one[:, columns], min(CANDIDATES, len(columns)))]
                chosen[np.arange(len(gold))[:, None], best] = True
    documents, labels = np.nonzero(chosen)
    return documents, labels


def _most_likely(
    z: NDArray[np.float64],
    gold: NDArray[np.bool_],
    basis: NDArray[np.float64],
    asked: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.optimize import minimize

    rows, members = basis.shape[1], z.shape[1]
    allowed = np.vstack([asked[:1], np.repeat(asked[1:], rows - 1, axis=0)])  # (rows, members)
    size = np.abs(z).mean(axis=0) + 1e-9  # so that a step is as large for all members
    features = np.concatenate(
        [z / size * basis[:, [row]] for row in range(rows)] + [basis], axis=1
    ).astype(np.float32)  # (pairs, rows · members + rows)
    # Neighbours, and the unseen labels beside the rarest.
    between = np.diff(np.eye(rows), axis=0)  # (rows - 1, rows)

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logit = (features @ theta.astype(np.float32)).astype(np.float64)
        value = float(np.logaddexp(0, logit).sum() - logit[gold].sum())
        p = sigmoid(logit)
        gradient = (features.T @ (p - gold).astype(np.float32)).astype(np.float64)
        table = np.concatenate(
            [theta[: rows * members].reshape(rows, members), theta[rows * members :, None]], axis=1
        )
        steps = between @ table
        pull = 2 * SMOOTH * between.T @ steps  # (rows, members + 1)
        value += SMOOTH * float((steps**2).sum()) + 1e-3 * float((table**2).sum())
        pull += 2e-3 * table
        gradient[: rows * members] += pull[:, :members].ravel()
        gradient[rows * members :] += pull[:, members]
        return value, gradient

    start = np.concatenate(
        [(allowed / np.maximum(allowed.sum(1, keepdims=True), 1) * size).ravel()]
    )
    bounds = [(0, None) if one else (0, 0) for one in allowed.ravel()] + [(None, None)] * rows
    found = minimize(
        loss,
        np.concatenate([start, np.zeros(rows)]),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 400},
    ).x
    weights = found[: rows * members].reshape(rows, members) / size
    return weights, found[rows * members :]
