"""Attention as evidence: a weight a word read, at its place in the original text."""

from __future__ import annotations

import numpy as np
import pytest
from network_cases import BY_SECTION, LABEL_WISE, NAMES, act, fitted, small

from labelwise.corpus.document import Document, Section
from labelwise.text.tokenizer import tokenize


@pytest.mark.parametrize("name", NAMES)
def test_every_word_read_has_a_weight_at_its_place(name: str) -> None:
    document = act(8, ("693", "2437"), sections=4)
    evidence = fitted(name).evidence(document, ["2437", "693"])
    assert [one.label for one in evidence] == ["2437", "693"]
    for one in evidence:
        assert one.kind == "attention"
        assert sum(span.weight for span in one.spans) == pytest.approx(1)
        assert min(span.weight for span in one.spans) >= 0
        words = [document.text[span.start : span.end].lower() for span in one.spans]
        expected = [token.text for s in document.sections for token in tokenize(s.text)]
        assert words == expected


@pytest.mark.parametrize("name", NAMES)
def test_labels_attend_apart_only_where_the_method_is_label_wise(name: str) -> None:
    document = act(9, ("693", "3173"))
    one, other = fitted(name).evidence(document, ["693", "3173"])
    weights = [np.array([span.weight for span in e.spans]) for e in (one, other)]
    if name in LABEL_WISE:
        assert not np.allclose(*weights, rtol=1e-4)
    elif name != "max-hss":  # there the best section may differ from label to label
        np.testing.assert_allclose(*weights)


@pytest.mark.parametrize("name", ["lw-han", "max-hss"])
def test_the_section_with_the_highest_score_has_all_the_attention(name: str) -> None:
    method = fitted(name)
    document = act(10, ("693", "2437"), sections=4)
    sections = [section for section in document.sections if section.text]
    alone = method.scores([Document(str(at), "", (s,)) for at, s in enumerate(sections)])
    for label in ("693", "5255"):
        (one,) = method.evidence(document, [label])
        best = sections[int(alone[:, method.label_space.index[label]].argmax())]
        start = document.text.index(best.text)
        inside = [s.weight for s in one.spans if start <= s.start < start + len(best.text)]
        assert sum(inside) == pytest.approx(1)


def test_han_weighs_a_word_by_its_section_too() -> None:
    method = fitted("han")
    document = act(11, ("693", "2437"), sections=3)
    (whole,) = method.evidence(document, ["693"])
    first = document.sections[0]
    (apart,) = method.evidence(Document("1", "", (first,)), ["693"])
    inside = np.array([s.weight for s in whole.spans[: len(apart.spans)]])
    assert 0 < inside.sum() < 1
    expected = [s.weight for s in apart.spans]  # a lone section has all the section's weight
    np.testing.assert_allclose(inside / inside.sum(), expected, rtol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_only_the_words_that_are_read_have_a_weight(name: str) -> None:
    limits = {"max_sections": 2, "section_tokens": 4} if name in BY_SECTION else {}
    trained = fitted(name)
    settings = {**vars(trained.settings), "max_tokens": 7, **limits}
    short = small(name, **settings)
    short = type(short).restore(short.settings, trained.label_space, trained.state())
    text = "Oranges, lemons and grapefruit shall be subject to a quota."
    document = Document("1", "", tuple(Section("article", text) for _ in range(3)))
    (one,) = short.evidence(document, ["693"])
    assert sum(span.weight for span in one.spans) == pytest.approx(1)
    words = [document.text[span.start : span.end] for span in one.spans]
    if name in BY_SECTION:
        assert words == ["Oranges", ",", "lemons", "and", "Oranges", ",", "lemons"]
        assert one.spans[4].start == len(text) + 1
    else:
        assert words == ["Oranges", ",", "lemons", "and", "grapefruit", "shall", "be"]
