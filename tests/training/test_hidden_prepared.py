"""A prepared corpus hides labels as the data set does that it was made from."""

from __future__ import annotations

import numpy as np
import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.hidden import Hiding, hide
from labelwise.text.tokenized import tokenize_corpus
from labelwise.training.hidden import hide_prepared
from labelwise.training.numbered import Reading
from labelwise.training.prepared import NumberedSplit, Prepared, make_split, prepare


@pytest.fixture(scope="module")
def corpus(synthetic: Dataset) -> tuple[Prepared, NumberedSplit]:
    prepared = prepare(synthetic.train, synthetic.dev, synthetic.label_space, dim=4)
    words = tokenize_corpus(synthetic.test)
    test = make_split(synthetic.test, words, prepared.vocabulary, synthetic.label_space)
    return prepared, test


@pytest.mark.parametrize("hiding", [Hiding(0.25), Hiding(0.25, draw=2), Hiding(5, drop=True)])
def test_labels_gold_and_documents_are_those_of_the_hidden_data_set(
    synthetic: Dataset, corpus: tuple[Prepared, NumberedSplit], hiding: Hiding
) -> None:
    view = hide(synthetic, hiding)
    made, test = hide_prepared(*corpus, hiding)
    assert made.label_space == view.label_space
    assert test is not None
    for split, documents in ((made.train, view.train), (made.dev, view.dev), (test, view.test)):
        assert list(split.ids) == [one.id for one in documents]
        gold = view.label_space.gold(documents)
        assert (split.gold != gold).nnz == 0
        assert split.gold.has_sorted_indices
        # The words are those of the documents, in the rows of the one vocabulary.
        expected = make_split(
            documents, tokenize_corpus(documents), made.vocabulary, view.label_space
        )
        np.testing.assert_array_equal(split.tokens, expected.tokens)
        rows, same = split.rows(Reading(50)), expected.rows(Reading(50))
        np.testing.assert_array_equal(rows.starts, same.starts)
        np.testing.assert_array_equal(rows.lengths, same.lengths)


def test_the_whole_corpus_is_left_as_it_was(corpus: tuple[Prepared, NumberedSplit]) -> None:
    prepared, test = corpus
    before = prepared.train.digest, prepared.train.gold.nnz, test.gold.nnz
    hide_prepared(prepared, test, Hiding(0.5))
    assert (prepared.train.digest, prepared.train.gold.nnz, test.gold.nnz) == before


def test_a_corpus_without_test_documents_can_hide_labels_too(
    corpus: tuple[Prepared, NumberedSplit],
) -> None:
    assert hide_prepared(corpus[0], None, Hiding(3))[1] is None
