"""What decided acts add to the log-odds of labels, beside what the model says itself.

With z_l the log-odds that the model gives label l, and s_i how similar the document is to decided
act i (the cosine of their features),

    log-odds = z_l + Σ_i a_il (calibration + memory · s_i³ + unit · s_i)

The first part is the same for all documents: the calibration of a label, suggested too often or too
seldom. The second is the memory: what was decided of acts that are much alike; the cube leaves
others out. The third is a unit, a linear model of the words of decided acts; a label has one where
no training document carried it and enough decided acts do; for all labels they lost in a replay.

The a_il are those of the highest likelihood of the decisions, given z, where each part is believed
beforehand to have the variance that ``Belief`` says (logistic regression with three kernels). Where
the model is right there is little to learn, and a label without decisions stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.evaluation.odds import sigmoid
from labelwise.methods.base import Scores
from labelwise.methods.blend import member_odds
from labelwise.methods.taught import FLOOR, Taught

Floats = NDArray[np.float32]

NOTICED = FLOOR + 4.0
"""Log-odds above which a label that nobody chose is learned from: of 5 in 100, it was suggested."""

STEPS = 100
"""Of Nesterov's accelerated descent: more change no figure."""

SMALLEST = 1e-3
"""What is kept of an act for a label at least; most is less."""


@dataclass(frozen=True)
class Belief:
    """How far each part may be expected to move log-odds, as a variance. The best of 66 settings on
    the first half of a replay of the linear model; docs/learn.md says what that is worth."""

    calibration: float = 1 / 30
    memory: float = 10 / 3
    """Of the same act again."""
    unit: float = 1.0
    examples: int = 5
    """Decided acts that a label without training documents has a unit from."""


@dataclass(frozen=True, eq=False)
class Lessons:
    """One column a label that something was learned of."""

    belief: Belief
    columns: NDArray[np.intp]  # (learned,) in label order
    offsets: Floats  # (learned,) what the calibration adds
    weights: sp.csr_matrix  # acts × learned: a
    has_unit: NDArray[np.bool_]  # (learned,)

    def __call__(self, scores: Scores, similar: Floats) -> Scores:
        """Scores with what was learned, of documents × labels, by how similar the documents are to
        the decided acts (documents × acts)."""
        given = np.maximum(member_odds(scores[:, self.columns]), np.float32(FLOOR))
        z = given + self.offsets + (self.belief.memory * similar**3) @ self.weights
        z[:, self.has_unit] += (self.belief.unit * similar) @ self.weights[:, self.has_unit]
        made = scores.copy()
        made[:, self.columns] = sigmoid(z)
        return made

    def words(self, taught: Taught, similar: Floats, column: int) -> NDArray[np.float64]:
        """What each n-gram weighs, in a document that is so similar to the decided acts (acts,),
        for the label in a column of its own."""
        a = self.weights[:, [column]].toarray().ravel()
        each = self.belief.memory * similar**2 + self.belief.unit * self.has_unit[column]
        return np.asarray(taught.features.T @ (a * each), dtype=np.float64)

    @classmethod
    def learned(cls, taught: Taught, space: LabelSpace, belief: Belief) -> Lessons:
        examples = np.asarray((taught.verdicts > 0).sum(axis=0)).ravel()  # (labels,)
        noticed = np.zeros(len(examples), dtype=bool)
        noticed[taught.before.indices[taught.before.data > NOTICED - FLOOR]] = True
        noticed[taught.verdicts.indices] = True
        columns = np.flatnonzero(noticed)
        has_unit = (examples[columns] >= belief.examples) & (space.counts[columns] == 0)
        given = taught.before[:, columns].toarray() + np.float32(FLOOR)
        verdicts = taught.verdicts[:, columns].toarray()
        known = (verdicts != 0) | taught.done[:, None]
        similar = taught.similar(taught.features)
        a = np.zeros_like(given)
        for wanted, unit in ((~has_unit, 0.0), (has_unit, belief.unit)):
            kernel = belief.calibration + belief.memory * similar**3 + unit * similar
            chosen = verdicts[:, wanted] > 0
            a[:, wanted] = _most_likely(kernel, given[:, wanted], chosen, known[:, wanted])
        offsets = (belief.calibration * a.sum(axis=0)).astype(np.float32)
        a[np.abs(a) < SMALLEST] = 0
        return cls(belief, columns, offsets, sp.csr_matrix(a), has_unit)


def _most_likely(
    kernel: Floats, given: Floats, chosen: NDArray[np.bool_], known: NDArray[np.bool_]
) -> Floats:
    """a, acts × labels, of the lowest Σ known · log loss(given + kernel a) + a·kernel a / 2."""
    a: Floats = np.zeros_like(given)
    ahead, pace = a, 1.0
    # The largest row sum bounds the largest eigenvalue, for no entry is negative.
    steepest = float(kernel.sum(axis=1).max()) / 4 + 1
    for _ in range(STEPS if a.size else 0):
        with np.errstate(over="ignore"):
            chance = sigmoid(given + kernel @ ahead)
        slope = (chance - chosen) * known + ahead
        step = np.asarray(ahead - slope / steepest, dtype=np.float32)
        following = (1 + float(np.sqrt(1 + 4 * pace**2))) / 2
        ahead = np.asarray(step + (pace - 1) / following * (step - a), dtype=np.float32)
        a, pace = step, following
    return a
