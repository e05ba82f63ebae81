"""What an assistant is told of a document."""

from __future__ import annotations

import pytest

from labelwise.corpus.document import Document, Section
from labelwise.methods.base import Evidence, Span
from labelwise.model import Tag

assistant = pytest.importorskip("labelwise.serving.assistant", reason="needs the extra mcp")


def test_words_that_speak_against_a_concept_are_no_reason_for_it() -> None:
    document = Document("", "", (Section("article", "Ripe oranges of steel"),))
    spans = (Span(5, 12, 0.6), Span(16, 21, -0.9))
    evidence = Evidence("693", "contribution", spans)
    tag = Tag("693", "", "citrus fruit", 1, 0.9, True, "frequent", evidence=evidence)
    reason = assistant._reason(document, tag)
    assert reason.words == ["oranges"]
