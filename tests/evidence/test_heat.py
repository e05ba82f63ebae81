"""Heat: overlapping evidence becomes stretches of text, nothing lost and nothing twice."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelwise.corpus.labels import LabelSpace
from labelwise.evidence.heat import (
    LEVELS,
    Phrase,
    heat,
    heat_of,
    level,
    merge,
    phrases,
    phrases_of,
    reasons,
    segments,
)
from labelwise.evidence.predictions import Cut, rank
from labelwise.methods.base import Evidence
from labelwise.methods.spans import Span
from labelwise.text.tokenizer import tokenize

spans = st.lists(
    st.builds(
        lambda start, length, weight: Span(start, start + length, weight),
        st.integers(0, 60),
        st.integers(0, 20),
        st.floats(-1, 1).map(lambda weight: round(weight, 3)),
    ),
    max_size=25,
)


def at(found: Iterable[Span], character: int) -> float:
    return math.fsum(span.weight for span in found if span.start <= character < span.end)


@given(spans)
def test_merged_runs_carry_at_each_character_the_sum_of_the_spans_there(found: list[Span]) -> None:
    runs = merge(found)
    for character in range(85):
        assert at(runs, character) == pytest.approx(at(found, character), abs=1e-9)


@given(spans)
def test_merged_runs_are_to_the_last_bit_what_is_added_up_from_left_to_right(
    found: list[Span],
) -> None:
    found = [span for span in found if span.start < span.end and span.weight]
    runs, total = [], 0.0
    for start, end in pairwise(sorted({edge for one in found for edge in one[:2]})):
        for weight in sorted(one.weight for one in found if one.end == start):
            total -= weight
        if not any(one.start < start < one.end for one in found):
            total = 0.0  # nothing goes on
        for _, weight in sorted(one[1:] for one in found if one.start == start):
            total += weight
        if any(one.start <= start < one.end for one in found):
            runs.append(Span(start, end, total))
    assert merge(found) == runs


@given(spans)
def test_merged_runs_are_in_order_and_never_overlap(found: list[Span]) -> None:
    runs = merge(found)
    assert all(left.end <= right.start for left, right in pairwise(runs))
    assert all(run.start < run.end for run in runs)


@given(st.lists(spans, max_size=4))
def test_segments_give_each_label_the_weight_of_its_own_runs(labels: list[list[Span]]) -> None:
    heats = [heat(found) for found in labels]
    cut = list(segments(heats))
    for number, one in enumerate(heats):
        for character in range(85):
            there = [s for s in cut if s.start <= character < s.end]
            assert len(there) <= 1
            weight = dict(there[0].weights).get(number, 0.0) if there else 0.0
            assert weight == pytest.approx(at(list(one.runs), character))


def test_an_n_gram_and_its_parts_add_up() -> None:
    text = "the citrus fruit market"
    runs = merge([Span(4, 16, 0.5), Span(11, 16, 0.25), Span(11, 23, -0.1)])
    assert [(text[run.start : run.end], round(run.weight, 6)) for run in runs] == [
        ("citrus ", 0.5),
        ("fruit", 0.65),
        (" market", -0.1),
    ]


def test_faint_words_stay_unmarked_and_the_strongest_are_kept_when_there_are_too_many() -> None:
    found = [Span(10 * n, 10 * n + 5, 10.0 + n) for n in range(100)] + [Span(2000, 2003, 0.001)]
    one = heat(found, most=10)
    assert [run.weight for run in one.runs] == [100.0 + n for n in range(10)]
    assert one.left_out == 90  # the faint one was never going to be marked
    assert one.strongest == 109.0


def test_a_label_without_evidence_has_no_heat() -> None:
    assert heat(()).runs == ()
    assert heat((Span(3, 3, 1.0), Span(4, 9, 0.0))).runs == ()


def test_levels_grow_with_the_weight_and_stay_within_their_range() -> None:
    levels = [level(weight / 100, 1.0) for weight in range(1, 101)]
    assert levels == sorted(levels)
    assert (min(levels), max(levels)) == (1, LEVELS)
    assert level(-0.7, 1.0) == level(0.7, 1.0)


def test_a_phrase_is_listed_once_however_it_is_written() -> None:
    text = "Citrus fruit. The citrus\nfruit of Spain."
    found = phrases(text, [Span(0, 12, 0.2), Span(18, 30, 0.3), Span(34, 39, -0.4)])
    assert [(one.text, round(one.weight, 6), one.times) for one in found] == [
        ("Citrus fruit", 0.5, 2),
        ("Spain", -0.4, 1),
    ]


@given(spans, st.booleans())
def test_phrases_are_what_looking_at_each_place_in_turn_gives(
    found: list[Span], by_place: bool
) -> None:
    text = "Wine (WINE) of\nStraße, strasse wine  of wine of Wine; OF the STRASSE"
    known: dict[str, Phrase] = {}
    for start, end, weight in sorted(found, key=lambda one: one[:2]):
        words = " ".join(text[start:end].split())
        if weight and any(map(str.isalnum, words)):
            one = known.get(words.casefold(), Phrase(words, 0.0, 0, 0.0, start))
            known[words.casefold()] = Phrase(
                one.text,
                one.weight + weight,
                one.times + 1,
                max(one.strongest, abs(weight)),
                start if abs(weight) > one.strongest else one.start,
            )
    expected = sorted(
        known.values(),
        key=lambda one: (-(one.strongest if by_place else abs(one.weight)), one.start),
    )
    assert phrases(text, found, top=5, by_place=by_place) == expected[:5]


ACT = "The list of the conservation areas of the region is set out in the Annex to the Decision."


def attention(**weights: float) -> Evidence:
    """Attention to every word of the act: these weights, and an equal rest for the others."""
    tokens = tokenize(ACT)
    rest = (1 - sum(weights.values())) / (len(tokens) - len(weights))
    found = [Span(one.start, one.end, weights.get(one.text, rest)) for one in tokens]
    return Evidence("s0019", "attention", tuple(found))


def test_attention_marks_the_words_that_have_more_than_an_equal_share() -> None:
    evidence = attention(conservation=0.25, areas=0.15, region=0.05)
    assert heat(evidence.spans).runs, "each of the others has 0.04, which is not faint"
    marked = [ACT[run.start : run.end] for run in heat_of(evidence).runs]
    assert marked == ["conservation", "areas"]
    assert heat_of(evidence).strongest == 0.25
    assert len(heat_of(attention()).runs) == len(tokenize(ACT)), "where all are equal, all are"
    one_word = Evidence("s0019", "attention", (Span(0, 3, 1.0),))
    assert len(heat_of(one_word).runs) == 1
    assert heat_of(None).runs == heat_of(Evidence("s0019", "attention", ())).runs == ()


def test_attention_is_listed_by_its_strongest_place_and_not_by_how_often_a_word_stands() -> None:
    evidence = attention(conservation=0.15, areas=0.1)
    assert [one.text for one in phrases(ACT, evidence.spans, top=1)] == ["The"]
    listed = phrases_of(ACT, evidence, top=3)
    assert [one.text for one in listed] == ["conservation", "areas", "The"]
    assert listed[2].times == 5
    again = Evidence("1", "attention", (Span(0, 3, 0.1), Span(12, 15, 0.6), Span(35, 37, 0.3)))
    first = phrases_of(ACT, again)[0]
    assert (first.text, first.start, first.times) == ("The", 12, 2), "it leads to the strongest"


SPACE = LabelSpace.from_counts({"1309": 90, "693": 60, "2635": 7, "5": 0, "161": 0})


def test_the_ranking_breaks_ties_by_label_order_whatever_is_cut() -> None:
    scores = np.array([0.5, 0.5, 0.9, 0.5, 0.5], dtype=np.float32)
    order = ["2635", "1309", "693", "161", "5"]
    for top in range(6):
        assert [one.label.id for one in rank(scores, SPACE, top=top)] == order[:top]


def test_the_threshold_is_passed_only_from_above() -> None:
    scores = np.array([0.5, 0.6, 0.4, 0.5, 0.7], dtype=np.float32)
    found = rank(scores, SPACE, top=5, cut=Cut(threshold=0.5))
    assert [one.label.id for one in found] == ["5", "693"]


def test_only_the_allowed_labels_are_ranked() -> None:
    scores = np.array([0.5, 0.6, 0.4, 0.5, 0.7], dtype=np.float32)
    allowed = np.array([True, False, True, False, False])
    assert [one.label.id for one in rank(scores, SPACE, top=5, allowed=allowed)] == ["1309", "2635"]


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=5, max_size=5), st.integers(1, 5))
def test_the_ranking_is_that_of_a_plain_stable_sort(values: list[float], top: int) -> None:
    scores = np.array(values, dtype=np.float32)
    expected = sorted(range(5), key=lambda column: -scores[column])[:top]
    assert [one.label.id for one in rank(scores, SPACE, top=top)] == [
        SPACE.ids[c] for c in expected
    ]


def test_a_bracket_is_no_word_and_of_words_that_say_the_same_one_is_enough() -> None:
    text = "import (imports of figs) and onions on the import quota, not quotas"
    weights = {
        "import": 0.5, "(": 0.9, "imports of": 0.4, "figs": 0.3, "onions": 0.25, "on": 0.2,
        "quota,": 0.15, "quotas": 0.1, "not": -0.6,
    }  # fmt: skip
    spans = [Span(text.index(one), text.index(one) + len(one), w) for one, w in weights.items()]
    evidence = Evidence("3191", "contribution", tuple(spans))
    assert reasons(text, evidence, top=5) == ["import", "figs", "onions", "on", "quota,"]
    assert reasons(text, evidence, top=2) == ["import", "figs"]
    assert "(" not in [one.text for one in phrases_of(text, evidence, top=12)]
    assert reasons(text, None) == []
