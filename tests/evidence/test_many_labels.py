"""Ten labels of a long act: what is the same for all of them is done once.

Counted are the functions that are called, Python's own among them: as many on a busy machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any

import numpy as np
import pytest

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import Label
from labelwise.evidence.page import render_page
from labelwise.evidence.predictions import Prediction
from labelwise.methods.base import Evidence, EvidenceKind
from labelwise.methods.spans import Spans
from labelwise.model import Tag, Tagging

KINDS: list[EvidenceKind] = ["contribution", "attention"]
WORDS = 64_000

_number = count()


def calls(work: Callable[[], Any]) -> int:
    """How many functions are called for a piece of work."""
    called = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called


def explained(kind: EvidenceKind, labels: int) -> Tagging:
    """A long act in which each word and, as contributions, each two have a weight for most labels.

    Its first word is in no other, so that it was not looked at before.
    """
    name = f"act{next(_number)}"
    random = np.random.default_rng(0)
    drawn = random.zipf(1.3, WORDS) % 2_000  # few words stand often, and many seldom
    words = [name, *(f"word{n}" for n in drawn[1:].tolist())]
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    starts = np.append(0, ends[:-1] + 1)
    if kind == "contribution":
        drawn = np.append(drawn, (7 * drawn[:-1] + drawn[1:]) % 2_000)
        starts, ends = np.append(starts, starts[:-1]), np.append(ends, ends[1:])
    tags = []
    for n in range(labels):
        weights = random.normal(size=2_000) * (random.random(2_000) < 0.8) / WORDS
        weights = (np.abs(weights) if kind == "attention" else weights)[drawn]
        some = weights.nonzero()[0]
        spans = Spans(starts[some], ends[some], weights[some])
        evidence = Evidence(str(n), kind, spans)
        tags.append(Tag(str(n), "", f"concept {n}", n + 1, 0.5, True, "few", evidence=evidence))
    text = " ".join(words)
    return Tagging(Document(name, "", (Section("article", text),)), tags)


def page_of(found: Tagging) -> str:
    predictions = [Prediction(Label(tag.id, tag.descriptor, 7), tag.score) for tag in found]
    return render_page(found.document, predictions, [tag.evidence for tag in found if tag.evidence])


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_of_an_act_are_looked_at_once_for_all_of_its_labels(kind: EvidenceKind) -> None:
    one, ten = explained(kind, 1), explained(kind, 10)
    of_one = calls(lambda: [tag.words(one.document) for tag in one])
    of_ten = calls(lambda: [tag.words(ten.document) for tag in ten])
    assert of_ten - of_one < 9 * 15_000, "a label has four of twenty phrases to choose, no more"


@pytest.mark.parametrize("kind", KINDS)
def test_json_of_ten_labels_calls_nothing_for_each_of_their_places(kind: EvidenceKind) -> None:
    ten = explained(kind, 10)
    places = sum(len(tag.evidence.spans) for tag in ten if tag.evidence)
    assert calls(ten.to_json) < places / 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_costs_what_is_marked_on_it_and_not_what_has_weight(kind: EvidenceKind) -> None:
    one, ten = explained(kind, 1), explained(kind, 10)
    of_one, of_ten = calls(lambda: page_of(one)), calls(lambda: page_of(ten))
    marks = page_of(ten).count("<mark") - page_of(one).count("<mark")
    assert of_ten - of_one < 100 * marks
