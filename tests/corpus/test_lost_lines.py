"""Acts whose lines were run together, as in copies of old pages of EUR-Lex."""

from __future__ import annotations

import doctest
import time

from labelwise.corpus import lost_lines
from labelwise.corpus.document import Section
from labelwise.corpus.lost_lines import found_again
from labelwise.corpus.plain_text import split_act

LINES = [
    "Directive 2001/9042/EC of the European Parliament and of the Council",
    "of 27 June 2001",
    "on the assessment of orchards",
    "THE EUROPEAN PARLIAMENT AND THE COUNCIL OF THE EUROPEAN UNION,",
    "Having regard to the Treaty establishing the European Community, and in particular Article 1"
    " thereof,",
    "Having regard to the proposal from the Commission(1),",
    "Whereas:",
    "(1) Article 174 of the Treaty protects orchards.",
    "(2) Orchards should therefore be assessed,",
    "HAVE ADOPTED THIS DIRECTIVE:",
    "Article 1",
    "Objective",
    "The objective of this Directive is the good of orchards.",
    "Article 2",
    "1. Each Member State shall count its trees.",
    "2. Article 3 does not apply to hedges; nor does Article 4(2) and (3).",
    "Article 3",
    "Chestnuts",
    "Article 2(1) applies to chestnuts.",
    "Article 4",
    "This Directive shall enter into force on 1 May 2001.",
    "Done at Luxembourg, 27 June 2001.",
]


def texts(sections: tuple[Section, ...], kind: str) -> list[str]:
    return [section.text for section in sections if section.kind == kind]


def test_an_act_without_line_breaks_is_split_as_with_them() -> None:
    assert split_act("".join(LINES)) == split_act("\n".join(LINES))
    assert len(texts(split_act("".join(LINES))[1], "article")) == 4


def test_an_act_with_blanks_for_line_breaks_is_split_at_its_articles() -> None:
    sections = split_act("  ".join(LINES))[1]
    assert texts(sections, "article")[1].startswith("1. Each Member State shall count its trees.")
    assert texts(sections, "article")[3] == "This Directive shall enter into force on 1 May 2001."


def test_a_number_and_its_paragraph_are_told_apart_by_what_comes_next() -> None:
    many = "".join(
        f"Article {n}1. Trees of row {n} are cut.2. They are sold." for n in range(1, 31)
    )
    sections = split_act("".join(LINES[:10]) + many + LINES[-1])[1]
    assert texts(sections, "article") == [
        f"1. Trees of row {n} are cut.\n2. They are sold." for n in range(1, 31)
    ]


def test_the_recitals_of_an_agreement_are_found_behind_its_parties() -> None:
    sections = split_act(
        "AGREEMENTon trade in chestnutsTHE EUROPEAN COMMUNITY,CONSIDERING the good of orchards,"
        "DESIRING to sell more chestnuts,HAVE AGREED AS FOLLOWS:Article 1ScopeNuts are sold."
        "Article 2DurationFor ever.Done at Luxembourg, 27 June 2001."
        + "For the Contracting Parties "
        * 20
    )[1]
    assert texts(sections, "recitals") == [
        "CONSIDERING the good of orchards,\nDESIRING to sell more chestnuts,"
    ]
    assert texts(sections, "article") == ["Scope\nNuts are sold.", "Duration\nFor ever."]


def test_a_long_paragraph_stays_one_line() -> None:
    paragraph = (
        "The rules of Article 1 of the Treaty, of Article 2 and of Article 3 hold for the eFTI "
        "data, the McIntosh apple and the pH of the soil; see Article 4. "
    )
    assert found_again(paragraph * 10) == [paragraph * 10]


def test_the_search_is_linear_in_the_length_of_the_line() -> None:
    started = time.process_time()
    for text in (
        "HAS ADOPTED THE ",
        "Article 1",
        ".Article 11. THE A",
        "THE A,",
        "a of 1 Jan 1999",
    ):
        found_again(text * 50_000)
    assert time.process_time() - started < 10


def test_the_example_in_the_docstring_holds() -> None:
    assert doctest.testmod(lost_lines).failed == 0
