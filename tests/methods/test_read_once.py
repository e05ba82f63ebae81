"""A document is cut into tokens once, and explained for many labels at hardly more than for one."""

from __future__ import annotations

import gc
import re
import time
from collections import Counter
from typing import Any

import pytest
import torch
from network_cases import TOPICS, acts, fitted, label_space

from labelwise.corpus.document import Document, Section
from labelwise.methods import Method
from labelwise.methods.blend import Blend
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.lexical import Lexical
from labelwise.methods.svm import SVM, SVMSettings
from labelwise.text import tokenizer

LABELS = [id for id in TOPICS if id != "5255"]  # which no training act carries


@pytest.fixture(scope="module")
def methods() -> dict[str, Method]:
    torch.set_num_threads(1)
    train, dev = acts(60), acts(12, seed=1)
    found: list[Method] = [SVM(SVMSettings(passes=4, min_count=1)), Lexical(), ExactMatch()]
    for method in found:
        method.fit(train, dev, label_space(train))
    svm, _, exact = found
    named = {method.name: method for method in (*found, fitted("bigru-lwan"))}
    return named | {"blend": Blend.from_methods([svm, exact], dev)}


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


@pytest.mark.parametrize("name", ["svm", "bigru-lwan", "blend"])
def test_evidence_for_many_labels_costs_at_most_half_as_much_again_as_for_one(
    name: str, methods: dict[str, Method]
) -> None:
    words = " ".join(act.text for act in acts(400, seed=3)).split()
    words = (words * (1 + 64_000 // len(words)))[:64_000]
    texts = [" ".join(words[at : at + 8_000]) for at in range(0, len(words), 8_000)]
    act = Document("long", "", tuple(Section("article", text) for text in texts))
    many = LABELS * 3  # ten and more

    def seconds(labels: list[str]) -> float:
        started = time.process_time()
        assert all(one.spans for one in methods[name].evidence(act, labels))
        return time.process_time() - started

    gc.disable()  # which would count what other tests have left
    try:
        each = [(seconds(many[:1]), seconds(many)) for _ in range(4)]
    finally:
        gc.enable()
    assert min(of_many for _, of_many in each) <= 1.5 * min(of_one for of_one, _ in each)
