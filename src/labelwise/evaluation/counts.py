"""What an evaluation keeps of each document: small counts that every measure follows from.

Of a ranking only the places of the gold labels among the first ten matter, so ten bits hold it.
With the number of gold labels they give P@K, R@K, RP@K and nDCG@K; with the number of labels above
a threshold, and how many of those are gold, they give micro-F1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import GROUPS
from labelwise.errors import LabelwiseError

VIEWS: tuple[str, ...] = ("all", *GROUPS, "zero-among-all")
"""The groups that are reported. A group ranks its own labels among themselves; ``zero-among-all``
looks for the zero-shot labels among all labels, which is harder."""

SEEN = "seen-among-all"
"""The other side of ``zero-among-all``: labels with training documents, looked for among all. It
follows from the views that are kept."""

DEPTH = 10
"""The deepest K."""

RANKED = ("P", "R", "RP", "nDCG")
"""The measures that take a K and are averaged over documents."""

MICRO_F1 = ("micro-F1", "micro-F1 tuned")
"""At the plain threshold, and at the one tuned on dev."""

_BITS = (np.arange(1 << DEPTH)[:, None] >> np.arange(DEPTH)) & 1  # bit pattern × place
_DISCOUNT = 1 / np.log2(np.arange(DEPTH) + 2)  # 1 / log2(1 + k) for k = 1..10
_HITS = np.cumsum(_BITS, axis=1)  # bit pattern × K
_DCG = np.cumsum(_BITS * _DISCOUNT, axis=1)  # bit pattern × K
IDEAL_DCG = np.cumsum(_DISCOUNT)
"""DCG of 1..10 gold labels ranked first."""

_PLACES = (1 << np.arange(DEPTH)).astype(np.uint16)


def parse_measure(measure: str) -> tuple[str, int]:
    """The name and the K of a measure such as ``RP@5``."""
    name, _, k = measure.partition("@")
    if name not in RANKED or not k.isdecimal() or not 1 <= int(k) <= DEPTH:
        raise LabelwiseError(
            f"there is no measure '{measure}' with a value a document; there are "
            f"{', '.join(RANKED)} at 1 to {DEPTH}, for example RP@5"
        )
    return name, int(k)


def bitmask(hits: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """Documents × at most 10 places, true where the label there is gold, as one number each."""
    mask: NDArray[np.uint16] = (hits * _PLACES[: hits.shape[1]]).sum(axis=1, dtype=np.uint16)
    return mask


def at_k(measure: str, hits: NDArray[Any], gold: NDArray[Any]) -> NDArray[np.float64]:
    """P@K, R@K, RP@K or nDCG@K of documents with so many gold labels, one at least.

    >>> at_k("RP@5", bitmask(np.array([[True, False, True]])), np.array([4])).tolist()
    [0.5]
    """
    name, k = parse_measure(measure)
    best = np.minimum(gold, k)
    values: NDArray[np.float64]
    if name == "nDCG":
        values = _DCG[hits, k - 1] / IDEAL_DCG[best - 1]
    else:  # gathered from the tables by bit pattern
        values = _HITS[hits, k - 1] / {"P": k, "R": gold, "RP": best}[name]
    return values


@dataclass(frozen=True)
class Counts:
    """The counts of each document, in document order.

    >>> counts = Counts(hits=np.array([[0b101]] * 5), gold=np.array([[3], [0], [0]]),
    ...                 predicted=np.zeros((1, 3, 1), int),
    ...                 true_positives=np.zeros((1, 3, 1), int))
    >>> counts.value("all", "P@2"), counts.value("all", "RP@5")
    (0.5, 0.6666666666666666)
    """

    hits: NDArray[Any]  # views × documents: bit k - 1 is set where the k-th ranked label is gold
    gold: NDArray[Any]  # groups × documents: gold labels
    predicted: NDArray[Any]  # thresholds × groups × documents: labels above the threshold
    true_positives: NDArray[Any]  # thresholds × groups × documents: gold labels among those

    @property
    def documents(self) -> int:
        return int(self.hits.shape[1])

    def gold_labels(self, view: str) -> NDArray[np.int64]:
        """Gold labels of each document in the view."""
        labels: NDArray[np.int64] = self.gold[_group_rows(view)].sum(axis=0, dtype=np.int64)
        return labels

    def per_document(self, view: str, measure: str) -> NDArray[np.float64]:
        """P@K, R@K, RP@K or nDCG@K of each document; NaN where it has no gold label in the view."""
        values = np.full(self.documents, np.nan)
        values[self.gold_labels(view) > 0] = self._of_kept(view, measure)
        return values

    def _of_kept(self, view: str, measure: str) -> NDArray[np.float64]:
        """The measure of the documents that have a gold label in the view."""
        return at_k(measure, *self._kept(view))

    def _kept(self, view: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Hits and gold labels of the documents that have one in the view: found once, since a
        run is some 200 measures of each."""
        if view not in self._kept_by_view:
            gold = self.gold_labels(view)
            self._kept_by_view[view] = self._hits(view)[gold > 0], gold[gold > 0]
        return self._kept_by_view[view]

    @cached_property
    def _kept_by_view(self) -> dict[str, tuple[NDArray[Any], NDArray[np.int64]]]:
        return {}

    def _hits(self, view: str) -> NDArray[Any]:
        """The bits of each document. Both views among all labels are parts of the one list."""
        if view == SEEN:
            found: NDArray[Any] = self._hits("all") & ~self._hits("zero-among-all")
            return found
        return np.asarray(self.hits[VIEWS.index(view)])

    def f1_counts(self, view: str, measure: str = "micro-F1") -> NDArray[np.int64]:
        """Documents × (true positives, false positives, false negatives) at the threshold."""
        if measure not in MICRO_F1:
            raise LabelwiseError(f"there is no F1 called '{measure}': {' or '.join(MICRO_F1)}")
        threshold = MICRO_F1.index(measure)
        if threshold >= len(self.predicted):
            raise LabelwiseError("no tuned threshold was given when these scores were evaluated")
        rows = _group_rows(view)
        hits = self.true_positives[threshold, rows].sum(axis=0, dtype=np.int64)
        predicted = self.predicted[threshold, rows].sum(axis=0, dtype=np.int64)
        return np.stack([hits, predicted - hits, self.gold_labels(view) - hits], axis=1)

    def value(self, view: str, measure: str) -> float:
        """A measure over all documents; NaN where no document, or no label, takes part."""
        if measure.startswith("micro-F1"):
            return float(f1(*self.f1_counts(view, measure).sum(axis=0)))
        values = self._of_kept(view, measure)
        return float(values.mean()) if len(values) else float("nan")


def f1(
    true_positives: NDArray[Any], false_positives: NDArray[Any], false_negatives: NDArray[Any]
) -> NDArray[np.float64]:
    """F1 of counts; NaN where nothing is gold and nothing is predicted."""
    total = 2.0 * true_positives + false_positives + false_negatives
    return np.where(total > 0, 2.0 * true_positives / np.where(total > 0, total, 1), np.nan)


def _group_rows(view: str) -> slice:
    """The rows of ``gold`` and of the F1 counts that a view adds up."""
    if view == SEEN:
        return slice(0, GROUPS.index("zero"))
    if view not in VIEWS:
        raise LabelwiseError(f"there is no group '{view}'; there are: {', '.join(VIEWS)}")
    if view == "all":
        return slice(0, len(GROUPS))
    row = GROUPS.index("zero") if view == "zero-among-all" else VIEWS.index(view) - 1
    return slice(row, row + 1)
