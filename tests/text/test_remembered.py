"""A document is cut into tokens once on its way through scores and evidence."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import conformance
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.text import tokenizer
from labelwise.text.remembered import Remembered
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.tokenizer import Written, tokenize


class Counting:
    """The pattern of the tokenizer, and how often it has gone over each text."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern, self.texts = pattern, Counter[str]()

    def findall(self, text: str) -> list[str]:
        self.texts[text] += 1
        return self.pattern.findall(text)

    def finditer(self, text: str) -> Any:
        self.texts[text] += 1
        return self.pattern.finditer(text)


def never_read(document: Document, word: str) -> Document:
    """A document with this word in all sections, so that no test has read any of them."""
    sections = [Section(one.kind, f"{one.text} {word}") for one in document.sections]
    return Document("new", "", tuple(sections))


@pytest.mark.parametrize("name", ["svm", "lexical", "cnn-lwan", "blend"])
def test_a_document_is_tokenised_once_for_its_scores_and_its_evidence(
    name: str, synthetic: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = conformance.fitted(name, synthetic)
    act = never_read(synthetic.test[0], name)
    pattern = Counting(tokenizer.PATTERN)
    monkeypatch.setattr(tokenizer, "PATTERN", pattern)
    best = method.scores([act])[0].argsort()[-3:]
    found = method.evidence(act, [method.label_space.ids[at] for at in best])
    assert any(one.spans for one in found)
    read = {section.text for section in act.sections}
    assert {text: pattern.texts[text] for text in read} == dict.fromkeys(read, 1)


def test_an_encoder_cuts_a_document_into_pieces_once(
    synthetic: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = conformance.fitted("minilm-lwan", synthetic)
    act = never_read(synthetic.test[0], "pieces")
    cut: list[str] = []
    plain = method.vocabulary._tokenizer

    class Tokenizer:
        def encode_batch(self, texts: list[str], **options: Any) -> Any:
            cut.extend(texts)
            return plain.encode_batch(texts, **options)

    monkeypatch.setitem(vars(method.vocabulary), "_tokenizer", Tokenizer())
    method.scores([act])
    method.evidence(act, list(method.label_space.ids[:3]))
    assert sorted(cut) == sorted({section.text for section in act.sections})


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
