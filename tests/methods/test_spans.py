"""Evidence of long acts: as many spans as words, for many labels at hardly more than for one."""

from __future__ import annotations

import gc
import time

import conformance
import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.methods.spans import Span, Spans

WORDS, SECTIONS = 64_000, 8


@pytest.mark.parametrize("name", ["svm", "cnn-lwan", "blend"])
def test_evidence_for_ten_labels_costs_at_most_half_as_much_again_as_for_one(
    name: str, synthetic: Dataset
) -> None:
    method = conformance.fitted(name, synthetic)
    words = " ".join(act.text for act in synthetic.train).split()
    words = (words * (1 + WORDS // len(words)))[:WORDS]
    size = WORDS // SECTIONS
    texts = [" ".join(words[at : at + size]) for at in range(0, WORDS, size)]
    act = Document("long", "", tuple(Section("article", text) for text in texts))
    seen = method.label_space.groups["zero"].start
    best = method.scores([act])[0][:seen].argsort()[::-1][:10]
    labels = [method.label_space.ids[at] for at in best]

    def seconds(of: list[str]) -> float:
        started = time.process_time()
        assert all(one.spans for one in method.evidence(act, of))
        return time.process_time() - started

    gc.disable()  # which would count what other tests have left
    try:
        each = [(seconds(labels[:1]), seconds(labels)) for _ in range(4)]
    finally:
        gc.enable()
    assert min(ten for _, ten in each) <= 1.5 * min(one for one, _ in each)


def test_spans_in_arrays_are_the_spans_themselves() -> None:
    spans = [Span(0, 6, 0.5), Span(7, 12, -0.25), Span(7, 12, 0.125)]
    kept = Spans.of(spans)
    assert Spans.of(kept) is kept
    assert kept == spans
    assert kept == tuple(spans)
    assert kept != spans[:2]
    assert (len(kept), kept[1], kept[-1], list(kept[:2])) == (3, spans[1], spans[2], spans[:2])
    assert Spans.of([]) == ()
    assert not Spans.of([])


def test_weights_of_one_place_are_added_up_and_places_are_in_order() -> None:
    first, second = Spans.of([Span(9, 12, 1.0)]), Spans.of([Span(0, 6, 0.5), Span(9, 12, 2.0)])
    assert Spans.added([first, second.times(2)]) == [Span(0, 6, 1.0), Span(9, 12, 5.0)]
