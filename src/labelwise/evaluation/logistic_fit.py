"""Logistic regression on a histogram: few numbers, millions of labels, milliseconds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelwise.evaluation.odds import sigmoid

Floats = NDArray[np.float64]


def logistic_fit(
    design: Floats, every: Floats, gold: Floats, start: Floats, *, hold: float = 0.0
) -> Floats:
    """The weights of the features with the highest likelihood, by Newton's method.

    ``design`` is features × bins; ``every`` counts what falls into each bin, ``gold`` what of it is
    gold. ``hold`` keeps the weights near ``start``, as if a normal distribution of the variance
    ``1 / hold`` around it were believed beforehand: few labels then move them little.

    >>> x = np.array([[-1.0, 1.0], [1.0, 1.0]])
    >>> weights = logistic_fit(x, np.full(2, 3.0), np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    >>> sigmoid(weights @ x).round(3).tolist()  # one and two of three are gold
    [0.333, 0.667]
    """

    def likelihood(weights: Floats) -> float:
        """Its logarithm, with what is believed beforehand."""
        z = weights @ design
        held = hold * float(((weights - start) ** 2).sum()) / 2
        return float(gold @ z - every @ np.logaddexp(0, z)) - held

    weights, eye = start.astype(np.float64), np.eye(len(start))
    for _ in range(100):
        p = sigmoid(np.clip(weights @ design, -500, 500))
        gradient = design @ (every * p - gold) + hold * (weights - start)
        hessian = (design * (every * p * (1 - p))) @ design.T + (hold + 1e-9) * eye
        step = np.linalg.solve(hessian, gradient)
        # Half steps while the likelihood would fall: far from the optimum Newton overshoots.
        before = likelihood(weights)
        while likelihood(weights - step) < before - 1e-9:
            step /= 2
            if np.abs(step).max() < 1e-12:
                break
        weights = weights - step
        if np.abs(step).max() < 1e-8:
            break
    return weights
