"""How far down the ranked labels a document's labels are taken."""

from __future__ import annotations

import numpy as np
import pytest

from labelwise.corpus.labels import LabelSpace
from labelwise.evidence.predictions import Cut, rank

SPACE = LabelSpace.from_counts(dict.fromkeys("abcdef", 60))
ROW = np.array([0.1, 0.95, 0.7, 0.02, 0.6, 0.3], dtype=np.float32)


@pytest.mark.parametrize(
    ("cut", "labels"),
    [
        (Cut(), "becfa"),
        (Cut(threshold=0.5), "bce"),
        (Cut(threshold=0.99), ""),
        (Cut(threshold=0.99, best=2), "bc"),
        (Cut(threshold=0.5, best=2), "bce"),
        (Cut(precision=0.96), ""),
        (Cut(precision=0.95), "b"),
        (Cut(precision=0.75), "bce"),  # .95, .825, .75
        (Cut(precision=0.6), "bcef"),
        (Cut(precision=0.96, best=1), "b"),
        (Cut(threshold=0.65, precision=0.6), "bc"),
    ],
)
def test_labels_are_cut_by_threshold_and_precision_but_never_below_the_best(
    cut: Cut, labels: str
) -> None:
    found = rank(ROW, SPACE, top=5, cut=cut)
    assert sorted(one.label.id for one in found) == sorted(labels)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_top_is_the_most_there_is() -> None:
    assert len(rank(ROW, SPACE, top=2, cut=Cut(precision=0.1, best=2))) == 2


def test_the_best_are_the_best_of_those_allowed() -> None:
    allowed = np.array([True, False, False, True, False, False])
    found = rank(ROW, SPACE, top=5, cut=Cut(threshold=0.5, best=3), allowed=allowed)
    assert [one.label.id for one in found] == ["a", "d"]
