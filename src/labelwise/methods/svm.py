"""SVM: a linear support vector machine a label (squared hinge) on tf-idf of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.evaluation.logistic_fit import logistic_fit
from labelwise.evaluation.odds import sigmoid
from labelwise.methods.base import State
from labelwise.methods.linear import LinearMethod, LinearSettings
from labelwise.schema import number


@dataclass(frozen=True)
class SVMSettings(LinearSettings):
    """Settings of the SVM; the defaults were chosen on the dev split of EURLEX57K."""

    longest_ngram: int = 2
    min_run_count: int = 20
    run_weight: float = 0.5
    passes: int = 8


class SVM(LinearMethod):
    """A margin says how sure the machine is, not how likely the label: Platt's sigmoid, fitted on
    dev over all labels at once, turns it into a probability. It leaves the ranking as it is."""

    name = "svm"
    Settings = SVMSettings
    settings: SVMSettings
    loss = "squared-hinge"
    _slope, _offset = 4.0, 0.0

    def _calibrate(self, dev: Sequence[Document]) -> None:
        gold = self.label_space.gold(dev)[:, self._columns]
        if gold.nnz:
            self._slope, self._offset = platt(self._margins(dev), gold.toarray() > 0)

    def _probabilities(self, margins: NDArray[np.float32]) -> NDArray[np.float32]:
        return sigmoid(np.float32(self._slope) * margins + np.float32(self._offset))

    def state(self) -> State:
        state = super().state()
        platt_values = {"slope": self._slope, "offset": self._offset}
        return replace(state, values={**state.values, **platt_values})

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._slope, self._offset = (number(state.values, one) for one in ("slope", "offset"))


def platt(margins: NDArray[np.float32], gold: NDArray[np.bool_]) -> tuple[float, float]:
    """The slope and offset of the sigmoid with the highest likelihood, fitted to a histogram.

    >>> slope, offset = platt(np.array([-1.0, 1.0, -1.0, 1.0, 1.0, -1.0]),
    ...                       np.array([False, True, False, True, False, True]))
    >>> round(float(sigmoid(np.float32(slope + offset))), 3)  # two of three at margin 1 are gold
    0.667
    """
    low, high = float(margins.min()), float(margins.max())
    if low == high:
        return 1.0, 0.0
    every, edges = np.histogram(margins, bins=4096, range=(low, high))
    positive, _ = np.histogram(margins[gold], bins=4096, range=(low, high))
    x = (edges[:-1] + edges[1:]) / 2
    # A gold label more and one less at the ends, so that perfect separation stays finite.
    every, positive = every.astype(float), positive.astype(float)
    every[[0, -1]] += 1
    positive[0] += 1
    design = np.stack([x, np.ones_like(x)])
    slope, offset = logistic_fit(design, every, positive, np.array([1.0, 0.0]))
    return float(slope), float(offset)
