"""The vocabulary: which words have a row, in which order, and that it survives a round trip."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.text.tokenized import TokenizedCorpus, tokenize_corpus
from labelwise.text.tokenizer import words
from labelwise.text.vocabulary import PADDING, UNKNOWN, Vocabulary

TEXT = "oranges and lemons and oranges and limes, and zucchini"


def corpus_of(*texts: str) -> TokenizedCorpus:
    return tokenize_corpus([Document(text, "", (Section("article", text),)) for text in texts])


@pytest.fixture
def corpus() -> TokenizedCorpus:
    return corpus_of(TEXT)


def test_rows_begin_with_padding_and_unknown_and_fall_by_count_then_alphabet(
    corpus: TokenizedCorpus,
) -> None:
    vocabulary = Vocabulary.from_corpus(corpus)
    assert vocabulary.words[2:] == ("and", "oranges", ",", "lemons", "limes", "zucchini")
    assert vocabulary.counts == (0, 0, 4, 2, 1, 1, 1, 1)
    assert (PADDING, UNKNOWN) == (0, 1)
    assert len(vocabulary) == 8


def test_rare_words_share_the_row_of_the_unknown_and_are_counted_there(
    corpus: TokenizedCorpus,
) -> None:
    vocabulary = Vocabulary.from_corpus(corpus, min_count=2)
    assert vocabulary.words[2:] == ("and", "oranges")
    assert vocabulary.counts[UNKNOWN] == 4
    assert sum(vocabulary.counts) == len(corpus.tokens)


def test_a_rare_word_with_a_vector_is_kept_but_vectors_add_no_words(
    corpus: TokenizedCorpus,
) -> None:
    vocabulary = Vocabulary.from_corpus(corpus, min_count=2, keep={"limes", "bananas"})
    assert vocabulary.words[2:] == ("and", "oranges", "limes")


def test_max_size_keeps_the_most_frequent(corpus: TokenizedCorpus) -> None:
    vocabulary = Vocabulary.from_corpus(corpus, max_size=3)
    assert vocabulary.words[2:] == ("and", "oranges", ",")
    assert Vocabulary.from_corpus(corpus, max_size=0).words[2:] == ()


def test_extra_words_have_a_row_whatever_their_count(corpus: TokenizedCorpus) -> None:
    descriptors = ["citrus", "oranges", "zucchini"]
    vocabulary = Vocabulary.from_corpus(corpus, min_count=2, max_size=1, extra=descriptors)
    assert vocabulary.words[2:] == ("and", "oranges", "zucchini", "citrus")
    assert vocabulary.counts[2:] == (4, 2, 1, 0)


def test_lookup_gives_rows_and_unknown(corpus: TokenizedCorpus) -> None:
    vocabulary = Vocabulary.from_corpus(corpus, min_count=2)
    rows = vocabulary.lookup(["oranges", "kumquats", "and"])
    assert rows.dtype == np.int32
    assert rows.tolist() == [3, UNKNOWN, 2]
    assert vocabulary.lookup([]).tolist() == []
    assert "oranges" in vocabulary
    assert "kumquats" not in vocabulary
    assert "<unknown>" not in vocabulary


def test_numbers_are_the_rows_of_a_corpus_word_by_word(corpus: TokenizedCorpus) -> None:
    vocabulary = Vocabulary.from_corpus(corpus, min_count=2)
    other = corpus_of("Kumquats, oranges", "and limes")
    numbers = vocabulary.numbers(other)
    assert numbers.dtype == np.int32
    assert numbers.tolist() == vocabulary.lookup(words("Kumquats, oranges and limes")).tolist()
    assert PADDING not in numbers


def test_the_text_cannot_name_the_special_rows() -> None:
    vocabulary = Vocabulary.from_corpus(corpus_of(TEXT))
    assert UNKNOWN in vocabulary.numbers(corpus_of("<padding>"))
    assert PADDING not in vocabulary.numbers(corpus_of("<padding> <unknown>"))


def test_an_empty_corpus_gives_the_special_rows_alone() -> None:
    assert len(Vocabulary.from_corpus(corpus_of())) == 2


@given(st.lists(st.text(max_size=20), max_size=5), st.integers(1, 3))
def test_json_brings_back_an_equal_vocabulary(texts: list[str], min_count: int) -> None:
    vocabulary = Vocabulary.from_corpus(corpus_of(*texts), min_count=min_count)
    again = Vocabulary.from_json(json.loads(json.dumps(vocabulary.to_json())))
    assert again == vocabulary
    assert hash(again) == hash(vocabulary)
    assert again.fingerprint == vocabulary.fingerprint


def test_another_word_or_count_is_another_vocabulary(corpus: TokenizedCorpus) -> None:
    vocabulary = Vocabulary.from_corpus(corpus)
    fewer = Vocabulary.from_corpus(corpus, min_count=2)
    recounted = Vocabulary(vocabulary.words, (0, 7, *vocabulary.counts[2:]))
    assert len({vocabulary.fingerprint, fewer.fingerprint, recounted.fingerprint}) == 3
    assert len({vocabulary, fewer, recounted}) == 3
    assert vocabulary != "oranges"


def test_the_fingerprint_is_the_same_in_every_process(corpus: TokenizedCorpus) -> None:
    assert Vocabulary.from_corpus(corpus).fingerprint == "2c8cab0883c5b348"


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ({"words": ["oranges"], "counts": [1]}, "begins with the rows"),
        ({"words": ["<padding>", "<unknown>", "a"], "counts": [0, 0]}, "3 words and 2 counts"),
        ({"words": ["<padding>", "<unknown>", "a", "a"], "counts": [0, 0, 1, 1]}, "each word once"),
    ],
)
def test_a_wrong_state_is_refused(state: dict[str, Any], problem: str) -> None:
    with pytest.raises(LabelwiseError, match=problem):
        Vocabulary.from_json(state)
