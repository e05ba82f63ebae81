"""How far people agree, with each other and with the model."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from desk_cases import change, store_with

from labelwise.desk.agreement import agreement, cohens_kappa, krippendorffs_alpha
from labelwise.desk.figures import figures
from labelwise.desk.store import Store


def test_kappa_is_one_for_the_same_nought_for_chance_and_below_for_the_contrary() -> None:
    assert cohens_kappa(30, 0, 0, 70) == 1
    assert cohens_kappa(25, 25, 25, 25) == 0
    assert cohens_kappa(0, 50, 50, 0) == -1
    assert cohens_kappa(10, 0, 0, 0) is None
    assert cohens_kappa(0, 0, 0, 0) is None


def test_kappa_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn (extra sklearn)")
    dice = random.Random(1)
    units = [(dice.random() < 0.4, dice.random() < 0.6) for _ in range(200)]
    cells = [sum(one == cell for one in units) for cell in [(1, 1), (1, 0), (0, 1), (0, 0)]]
    theirs = metrics.cohen_kappa_score(*zip(*units, strict=True))
    assert cohens_kappa(*cells) == pytest.approx(theirs)


def test_alpha_is_that_of_krippendorffs_own_examples() -> None:
    """The binary one of two observers, and the nominal one of four with values missing."""
    first, second = "0100000000", "1110011000"
    units = list(zip(first, second, strict=True))
    assert krippendorffs_alpha(units) == pytest.approx(0.095, abs=5e-4)
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    four = [[one for one in column if one is not None] for column in zip(*rows, strict=True)]
    assert krippendorffs_alpha(four) == pytest.approx(0.743, abs=5e-4)


def test_readers_are_held_against_each_other_over_what_either_thought_of(tmp_path: Path) -> None:
    store = store_with(tmp_path / "desk.sqlite", ["a", "b"])
    _suggested(store, "a", "693", "20")
    first = [change("accept", "693", 1), change("reject", "20", 2), change("add", "161")]
    store.decide("a", [*first, change("done")], version=0, who="ana")
    store.decide("b", [change("done")], version=0, who="ana")
    store.decide("a", [change("accept", "693", 1), change("done")], version=0, who="ben", reading=2)
    found = agreement(store)
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.acts) == ("ana", "ben", 1)
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (1, 1, 0, 1)
    assert pair.kappa == pytest.approx(0.4)
    assert pair.overlap == pytest.approx(2 / 3)
    assert found.acts == 1


def test_what_people_make_of_the_suggestions_is_counted_once_an_act(tmp_path: Path) -> None:
    store = store_with(tmp_path / "desk.sqlite", ["a", "b", "c"])
    for act in "abc":
        _suggested(store, act, "693", "20")
    for act in "ab":
        decided = [change("accept", "693", 1), change("remove", "693"), change("accept", "693", 1)]
        store.decide(act, [change("open"), *decided], version=0, who="ana")
        rest = [change("add", "161"), change("done")]
        store.decide(act, rest, version=1, who="ana")
    store.decide("c", [change("reject", "693", 1)], version=0, who="ana")
    found = figures(store)
    assert vars(found.decided) == {"accepted": 2, "rejected": 1, "added": 2}
    assert vars(found.by_rank[1]) == {"accepted": 2, "rejected": 1, "added": 0}
    assert found.missed == [("161", 2)]
    assert [(one.concept, one.suggested, one.refused) for one in found.over] == [("20", 2, 2)]
    assert (found.acts, len(found.seconds)) == (2, 3)
    (month,) = found.by_month
    assert len(month) == len("2026-11")
    assert found.names["20"] == "customs duties"
    store.decide("b", [change("withdraw")], version=2, who="chloé")
    assert vars(figures(store).decided) == {"accepted": 1, "rejected": 1, "added": 1}
    store.decide("b", [change("reopen")], version=3, who="chloé")
    assert vars(figures(store).decided) == {"accepted": 2, "rejected": 1, "added": 2}


def _suggested(store: Store, act: str, *concepts: str) -> None:
    names = {"693": "citrus fruit", "20": "customs duties"}
    predictions = [{"id": id, "descriptor": names[id], "assigned": True} for id in concepts]
    store.suggest(act, predictions, model="svm", fingerprint="f1", suggested=len(concepts))
