"""Spans as three arrays: the same to whoever looks at them."""

from __future__ import annotations

from labelwise.methods.spans import Span, Spans


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
