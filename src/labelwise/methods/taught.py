"""What people decided of acts, as it can be learned from, also later and without the texts.

For each act: its features as the linear part of the model has them, what was chosen and refused,
and the log-odds that the model gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.decisions import Decided
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import BundleError
from labelwise.evaluation.ranking import ranked
from labelwise.methods.base import Scores
from labelwise.methods.blend import member_odds
from labelwise.methods.sparse_rows import from_arrays, named, parts_of, to_arrays
from labelwise.schema import WHOLE, array

FLOOR = -7.0
"""The lowest log-odds that are told apart: one in a thousand. A label that the model gives nothing
at all, for no training document carried it, can be learned from here."""

MOST_ACTS = 5000
"""Acts that are remembered, the last ones: learning takes minutes with so many."""

WORDS = 512
"""N-grams of an act that are remembered and compared, those of the highest weights."""


def heaviest(features: sp.csr_matrix) -> sp.csr_matrix:
    """The features of documents with the highest weights of each alone, scaled to length one again.

    Of several that weigh the same the first are taken.
    """
    made = features.tocsr(copy=True)
    for start, end in pairwise(made.indptr.tolist()):
        if end - start > WORDS:
            order = ranked(made.data[start:end])
            made.data[start + order[WORDS:]] = 0
    made.eliminate_zeros()
    lengths = np.sqrt(np.asarray(made.multiply(made).sum(axis=1)).ravel())
    made.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(made.indptr)).astype(np.float32)
    return made


@dataclass(frozen=True, eq=False)
class Taught:
    """Acts in the order in which they were decided."""

    acts: tuple[str, ...]
    features: sp.csr_matrix  # acts × n-grams
    verdicts: sp.csr_matrix  # acts × labels, int8: 1 chosen, -1 refused
    done: NDArray[np.bool_]  # (acts,) whether all that was not chosen is refused
    before: sp.csr_matrix  # acts × labels: log-odds above FLOOR, less FLOOR

    @classmethod
    def of(
        cls,
        decided: Mapping[str, Decided],
        features: sp.csr_matrix,
        scores: Scores,
        space: LabelSpace,
    ) -> Self:
        """From what was decided of acts, and their features and scores in the same order; concepts
        that are no labels are left out."""
        rows, columns, said = [], [], []
        for row, one in enumerate(decided.values()):
            for ids, verdict in ((one.chosen, 1), (one.refused, -1)):
                for id in sorted(ids & space.index.keys()):
                    rows.append(row)
                    columns.append(space.index[id])
                    said.append(verdict)
        shape = (len(decided), len(space))
        verdicts = sp.csr_matrix((np.array(said, dtype=np.int8), (rows, columns)), shape=shape)
        before = sp.csr_matrix(np.maximum(member_odds(scores) - np.float32(FLOOR), 0))
        done = np.array([one.done for one in decided.values()], dtype=bool)
        return cls(tuple(decided), features.tocsr(), verdicts, done, before)

    def __len__(self) -> int:
        return len(self.acts)

    def similar(self, features: sp.csr_matrix) -> NDArray[np.float32]:
        """How similar documents are to each of the acts, from 0 to 1: documents × acts."""
        return np.asarray((features @ self.features.T).toarray(), dtype=np.float32)

    def followed_by(self, other: Self) -> Self:
        """These, then others; an act that was decided again is there once."""
        again = set(other.acts)
        kept = [row for row, act in enumerate(self.acts) if act not in again]
        return type(self)(
            (*(self.acts[row] for row in kept), *other.acts),
            sp.vstack([self.features[kept], other.features], format="csr"),
            sp.vstack([self.verdicts[kept], other.verdicts], format="csr"),
            np.concatenate([self.done[kept], other.done]),
            sp.vstack([self.before[kept], other.before], format="csr"),
        )

    def part(self, rows: slice) -> Self:
        """Some of the acts."""
        return type(self)(
            self.acts[rows],
            self.features[rows],
            self.verdicts[rows],
            self.done[rows],
            self.before[rows],
        )

    def under(self, columns: NDArray[np.intp], labels: int) -> Self:
        """The same where label i has become label ``columns[i]`` of so many."""

        def moved(matrix: sp.csr_matrix) -> sp.csr_matrix:
            parts = (matrix.data, columns[matrix.indices], matrix.indptr)
            return sp.csr_matrix(parts, shape=(matrix.shape[0], labels))

        verdicts, before = moved(self.verdicts), moved(self.before)
        return type(self)(self.acts, self.features, verdicts, self.done, before)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "done": self.done.astype(np.uint8),
            **named("features", to_arrays(self.features)),
            **named("verdicts", to_arrays(self.verdicts)),
            **named("before", to_arrays(self.before)),
        }

    @classmethod
    def restored(
        cls, acts: Sequence[str], arrays: Mapping[str, NDArray[Any]], ngrams: int, labels: int
    ) -> Self:
        done = array(arrays, "done", (len(acts),), WHOLE)
        by_label = (len(acts), labels)
        verdicts = from_arrays(parts_of(arrays, "verdicts"), by_label, WHOLE)
        if not np.isin(verdicts.data, (-1, 1)).all():
            raise BundleError("the array 'verdicts' holds other things than verdicts")
        return cls(
            tuple(acts),
            from_arrays(parts_of(arrays, "features"), (len(acts), ngrams)),
            verdicts,
            done.astype(bool),
            from_arrays(parts_of(arrays, "before"), by_label),
        )
