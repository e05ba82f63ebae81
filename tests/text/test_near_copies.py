"""Near-copies are found by MinHash and compared exactly."""

from __future__ import annotations

import numpy as np
import pytest

from labelwise.corpus.document import Document, Section
from labelwise.text.near_copies import NearCopy, Shingles, jaccard, near_copies, shingles
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.tokenizer import words

FIXED = (
    "fixing the import duties in the cereals sector applicable from {day} July 2004, having regard "
    "to the Treaty establishing the European Community, whereas the calculation of duties gives "
    "{amount} euro a tonne, has adopted this Regulation, which enters into force on its publication"
)
OTHER = (
    "on the protection of laying hens kept in cages, whereas the scientific committee has found "
    "that the welfare of these animals is poor, and member states shall ensure that nests are "
    "provided in every house where hens are kept for the production of eggs"
)


def of(*texts: str) -> Shingles:
    acts = [Document(str(at), "", (Section("article", text),)) for at, text in enumerate(texts)]
    return shingles(tokenize_corpus(acts, jobs=1))


def plain_similarity(one: str, other: str) -> float:
    first, second = (
        {tuple(found[at : at + 5]) for at in range(len(found) - 4)}
        for found in (words(one), words(other))
    )
    return len(first & second) / len(first | second)


def test_the_act_of_the_week_before_is_found_and_no_other() -> None:
    texts = [
        OTHER,
        FIXED.format(day="1", amount="12.5"),
        FIXED.format(day="8", amount="11.75"),
        "Done at Brussels.",
    ]
    found = of(*texts)
    assert near_copies([found[0], found[1], found[3]], [found[2], found[0]], 0.5) == [
        NearCopy(1, pytest.approx(plain_similarity(texts[1], texts[2]))),
        NearCopy(0, 1.0),
    ]
    assert near_copies([found[0], found[3]], [found[2]], 0.5) == [None]


def test_of_two_that_are_as_near_the_first_is_named() -> None:
    one, other = of(FIXED.format(day="1", amount="12.5"), FIXED.format(day="8", amount="11.75"))
    assert [copy and copy.place for copy in near_copies([one, one], [other], 0.5)] == [0]


def test_a_pair_below_the_threshold_is_no_near_copy() -> None:
    one, other = FIXED.format(day="1", amount="12.5"), FIXED.format(day="8", amount="11.75")
    similarity = plain_similarity(one, other)
    assert 0.5 < similarity < 0.9
    found = of(one, other)
    assert near_copies(found[:1], found[1:], similarity - 0.01) != [None]
    assert near_copies(found[:1], found[1:], similarity + 0.01) == [None]


def test_shingles_do_not_reach_over_the_end_of_a_document() -> None:
    found = of("one two three four five six", "seven eight nine ten", "", "a b c d e")
    assert [len(one) for one in found] == [2, 0, 0, 1]
    assert near_copies(found[:1], found[1:3], 0.3) == [None, None]
    assert near_copies(found[1:], found[:1], 0.3) == [None]


def test_a_word_moves_as_many_shingles_as_in_the_plain_count() -> None:
    texts = [OTHER, OTHER.replace("cages", "barns"), FIXED, f"{OTHER} {FIXED}"]
    found = of(*texts)
    expected = [plain_similarity(texts[0], text) for text in texts[1:]]
    np.testing.assert_allclose(jaccard(found[0], found[1:]), expected)


def test_next_to_no_pair_as_similar_as_the_threshold_is_missed() -> None:
    """Of 300 pairs with a similarity of .5 the bands find 298 or so; 20 missed would be a bug"""
    random = np.random.default_rng(0)
    train, measured = [], []
    for _ in range(300):
        both, mine, yours = np.split(random.integers(0, 1 << 63, 120, dtype=np.uint64), [60, 90])
        train.append(np.sort(np.concatenate([both, mine])))
        measured.append(np.sort(np.concatenate([both, yours])))
    found = near_copies(train, measured, 0.5)
    assert sum(one is not None for one in found) > 280
    assert all(one is None or one.place == at for at, one in enumerate(found))
    assert near_copies(train, measured, 0.5) == found
