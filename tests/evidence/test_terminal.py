"""Evidence in the terminal: readable in colour and without, and harmless whatever the text."""

from __future__ import annotations

import io

from rich.console import Console

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import Label
from labelwise.evidence.predictions import Prediction
from labelwise.evidence.terminal import render_terminal
from labelwise.methods.base import Evidence
from labelwise.methods.spans import Span

BODY = "The refunds on the export of citrus fruit shall be as set out in the Annex."
ACT = Document(
    "32003R1412", "On citrus", (Section("header", "On citrus"), Section("article", BODY))
)
CITRUS = Prediction(Label("693", "citrus fruit", 120), 0.943)


def shown(document: Document, evidence: list[Evidence], *, colour: bool) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        width=80,
        highlight=False,
        markup=False,
    )
    for line in render_terminal(document, [CITRUS], evidence, colour=colour):
        console.print(line)
    return out.getvalue()


def spans(document: Document, **weights: float) -> Evidence:
    found = []
    for words, weight in weights.items():
        start = document.text.index(words.replace("_", " "))
        found.append(Span(start, start + len(words), weight))
    return Evidence("693", "contribution", tuple(found))


def test_without_colour_words_for_and_against_are_bracketed() -> None:
    text = shown(ACT, [spans(ACT, citrus_fruit=0.5, fruit=0.2, refunds=-0.3)], colour=False)
    assert "«citrus fruit»" in text
    assert "‹refunds›" in text
    assert "Article 1:" in text
    assert "citrus fruit +50%, refunds -30%, fruit +20%" in text
    assert "\x1b" not in text


def test_the_zones_that_counted_are_told() -> None:
    both = Evidence("693", "contribution", (Span(3, 9, 0.3), Span(40, 46, 0.1), Span(14, 21, -0.6)))
    assert "found in the header 75%, the articles 25%" in shown(ACT, [both], colour=False)
    plain = Document("1", "", (Section("article", BODY),))
    assert "found in" not in shown(plain, [spans(plain, citrus_fruit=0.5)], colour=False)


def test_in_colour_marked_words_are_underlined_as_well() -> None:
    text = shown(ACT, [spans(ACT, citrus_fruit=0.5)], colour=True)
    assert "\x1b[1;4;38;2;230;159;0mcitrus fruit" in text


def test_lines_fit_the_terminal() -> None:
    text = shown(ACT, [spans(ACT, citrus_fruit=0.5)], colour=False)
    assert max(map(len, text.splitlines())) <= 80


def test_a_label_without_evidence_says_so() -> None:
    assert "no word of this document speaks for this label" in shown(ACT, [], colour=False)


def test_codes_in_the_text_do_not_reach_the_terminal() -> None:
    act = Document(
        "x", "x", (Section("article", "oranges \x1b[2J\x07 [red]citrus[/red] \u202e fruit"),)
    )
    text = shown(act, [spans(act, citrus=0.5)], colour=False)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[red]«citrus»[/red]" in text


def test_only_passages_with_weight_are_shown_of_a_long_act() -> None:
    filler = "This Regulation shall be binding in its entirety. " * 200
    act = Document("x", "x", (Section("article", filler + "Lemons and oranges. " + filler),))
    text = shown(act, [spans(act, Lemons=0.5)], colour=False)
    assert "… " in text
    assert "«Lemons» and oranges." in " ".join(text.split())
    assert len(text) < 600
