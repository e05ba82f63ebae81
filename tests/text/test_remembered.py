"""Texts that were cut a moment ago are not cut again, and stay as they were."""

from __future__ import annotations

import pickle
from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from labelwise.corpus.document import Document, Section
from labelwise.text import tokenizer
from labelwise.text.remembered import Remembered
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.tokenizer import Written, tokenize


@given(st.lists(st.text(alphabet="aB3 .,\u0301\xad\u200bİ-", max_size=30), max_size=6))
def test_tokens_that_are_remembered_stand_where_they_are_found(texts: list[str]) -> None:
    expected = [
        [(one.group().lower(), one.start(), one.end()) for one in tokenizer.PATTERN.finditer(text)]
        for text in texts
    ]
    tokenize_corpus([Document("1", "", tuple(Section("article", text) for text in texts))])
    assert all(tokenizer.remembered.get(text) is not None for text in texts)
    assert [[tuple(token) for token in tokenize(text)] for text in texts] == expected


def test_the_texts_that_were_not_asked_for_the_longest_are_forgotten_first() -> None:
    kept: Remembered[int] = Remembered(most=6)
    for number, text in enumerate(["aa", "bb", "cc"]):
        kept.keep(text, number)
    assert kept.get("aa") == 0
    kept.keep("dd", 3)
    assert [kept.get(text) for text in ("aa", "bb", "cc", "dd")] == [0, None, 2, 3]
    kept.keep("longer than all", 4)
    assert kept.get("longer than all") is None
    assert kept.get("aa") == 0


def test_a_text_that_is_read_again_gives_the_same_corpus() -> None:
    act = Document("1", "", (Section("header", "Citrus fruit"), Section("article", "Fruit, FRESH")))
    first, again = tokenize_corpus([act]), tokenize_corpus([act])
    assert isinstance(tokenizer.remembered.get("Citrus fruit"), Written)
    assert again.words == first.words
    assert again.tokens.tolist() == first.tokens.tolist()


def test_a_copy_begins_with_nothing() -> None:
    kept: Remembered[int] = Remembered(most=6)
    kept.keep("aa", 1)
    for copy in (deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert copy.get("aa") is None
        copy.keep("longer", 2)
        assert copy.get("longer") == 2
    assert kept.get("aa") == 1
