"""A document is cut into tokens once, and explained for many labels at hardly more than for one."""

from __future__ import annotations

import gc
import re
import time
from collections import Counter
from typing import Any

import pytest
import torch
from network_cases import TOPICS, acts, small, small_encoder

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import LabelSpace
from labelwise.methods import Method
from labelwise.methods.blend import Blend
from labelwise.methods.encoder import EncoderMethod
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.lexical import Lexical
from labelwise.methods.svm import SVM, SVMSettings
from labelwise.text import tokenizer

LABELS = [word for id in ("693", "1309", "2437") for word in TOPICS[id][1].split()]
"""Labels of their own, each named by a word: fourteen of them."""


def by_word(documents: list[Document]) -> list[Document]:
    """The same acts with a label for each such word that stands in them."""
    return [
        Document(one.id, "", one.sections, tuple(w for w in LABELS if w in one.text.lower()))
        for one in documents
    ]


@pytest.fixture(scope="module")
def methods() -> dict[str, Method]:
    torch.set_num_threads(1)
    train, dev = by_word(acts(60)), by_word(acts(12, seed=1))
    space = LabelSpace.from_documents(train, dev, {word: word for word in LABELS})
    network = small("bigru-lwan")
    encoder = small_encoder(pieces=1_200, piece_tokens=60, stride=60)
    svm, exact = SVM(SVMSettings(passes=4, min_count=1)), ExactMatch()
    found: list[Method] = [svm, Lexical(), exact, network, encoder]
    for method in found:
        method.fit(train, dev, space)
    return {method.name: method for method in found} | {
        "blend": Blend.from_methods([svm, exact], dev)
    }


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


@pytest.mark.parametrize("name", ["svm", "lexical", "bigru-lwan", "blend"])
def test_a_document_is_tokenised_once_for_its_scores_and_its_evidence(
    name: str, methods: dict[str, Method], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"Wine and citrus fruit of {name}, part {part}" for part in range(3)]  # never read
    act = Document("new", "", tuple(Section("article", text) for text in texts))
    pattern = Counting(tokenizer.PATTERN)
    monkeypatch.setattr(tokenizer, "PATTERN", pattern)
    methods[name].scores([act])
    assert any(one.spans for one in methods[name].evidence(act, LABELS))
    assert pattern.texts == dict.fromkeys(texts, 1)


@pytest.mark.parametrize("name", ["svm", "bigru-lwan", "minilm-lwan", "blend"])
def test_evidence_for_many_labels_costs_at_most_half_as_much_again_as_for_one(
    name: str, methods: dict[str, Method]
) -> None:
    words = " ".join(act.text for act in acts(400, seed=3)).split()
    words = (words * (1 + 64_000 // len(words)))[:64_000]
    texts = [" ".join(words[at : at + 8_000]) for at in range(0, len(words), 8_000)]
    act = Document("long", "", tuple(Section("article", text) for text in texts))
    many = [label for label in LABELS if label in act.text.lower()]
    assert len(set(many)) >= 10

    def seconds(labels: list[str]) -> float:
        if isinstance(methods[name], EncoderMethod):
            methods[name].network.forget()  # what it read last, which would then cost nothing
        started = time.process_time()
        assert all(one.spans for one in methods[name].evidence(act, labels))
        return time.process_time() - started

    gc.disable()  # which would count what other tests have left
    try:
        each = [(seconds(many[:1]), seconds(many)) for _ in range(4)]
    finally:
        gc.enable()
    assert min(of_many for _, of_many in each) <= 1.5 * min(of_one for of_one, _ in each)
