"""Running heads, broken words, paragraphs over pages, and footnotes at the foot of a page."""

from __future__ import annotations

import doctest
import time

from labelwise.corpus import printed_pages
from labelwise.corpus.act_lines import Line
from labelwise.corpus.printed_pages import blocks_of, without_heads


def test_the_examples_hold() -> None:
    assert doctest.testmod(printed_pages).failed == 0


def bodies(*pages: list[str]) -> list[str]:
    return [line.text for line in blocks_of(pages) if line.role != "note"]


def test_time_grows_with_the_length_of_a_word_and_not_with_its_square() -> None:
    """A PDF of one word of 28,000 letters took 7 seconds."""

    def seconds(letters: int) -> float:
        began = time.process_time()
        blocks_of([["figs" * (letters // 4)]])
        return time.process_time() - began

    small, large = (min(seconds(letters) for _ in range(3)) for letters in (2_000, 20_000))
    assert large < 0.02 + 20 * small


def test_a_word_that_is_broken_twice_is_joined_as_it_was() -> None:
    assert bodies(["fig-", "tree-", "s are tall"]) == ["figtree-s are tall"]


def test_heads_that_change_sides_are_still_heads() -> None:
    pages = [
        ["4.5.2016 EN Digest of figs L 119/1", "Figs are sweet."],
        ["L 119/2 EN Digest of figs 4.5.2016", "Figs are soft."],
        ["4.5.2016 EN Digest of figs L 119/3", "Figs are small."],
    ]
    assert without_heads(pages) == [["Figs are sweet."], ["Figs are soft."], ["Figs are small."]]


def test_the_head_of_the_official_journal_goes_from_a_single_page_too() -> None:
    page = ["L 119/2", "EN", "Official Journal of the European Union", "4.5.2016", "Figs."]
    assert without_heads([page]) == [["Figs."]]


def test_a_title_that_heads_all_pages_is_said_once() -> None:
    first, *others = (["Rules on figs", text] for text in ("Sweet.", "Soft.", "Small ones."))
    assert without_heads([first, *others]) == [first, ["Soft."], ["Small ones."]]


def test_articles_and_annexes_at_the_top_of_pages_are_no_heads() -> None:
    pages = [["Article 1", "Figs."], ["Article 2", "Dates."], ["ANNEX I", "1"], ["ANNEX II", "2"]]
    assert [page[0] for page in without_heads(pages)] == [page[0] for page in pages]


def test_what_stands_on_few_pages_or_inside_a_page_stays() -> None:
    pages = [["Weight of figs", str(at), *["Figs."] * 9, f"Table {at}"] for at in range(2)]
    pages += [
        [f"Dates of the year {'x' * at}", *["Dates."] * 9, "Nuts " * at] for at in range(1, 9)
    ]
    assert without_heads(pages) == pages


def test_lines_become_paragraphs_and_headings_stay_alone() -> None:
    assert bodies(
        [
            "HAS ADOPTED THIS REGULATION:",
            "Article 1",
            "The duty on figs that are imported from third countries shall be fixed by the",
            "Commission every week, and no later than on Fridays, in accordance with",
            "Article 6.",
            "Article 2",
            "Subject matter",
            "1. Figs shall be dried before they are sold to any person who has asked for the",
            "same.",
            "(a) in the sun;",
        ]
    ) == [
        "HAS ADOPTED THIS REGULATION:",
        "Article 1",
        "The duty on figs that are imported from third countries shall be fixed by the "
        "Commission every week, and no later than on Fridays, in accordance with Article 6.",
        "Article 2",
        "Subject matter",
        "1. Figs shall be dried before they are sold to any person who has asked for the same.",
        "(a) in the sun;",
    ]


def test_a_sentence_goes_on_over_the_page() -> None:
    assert bodies(["Figs are sold", "7"], ["in baskets.", "8"]) == ["Figs are sold in baskets."]


def test_broken_words_are_whole_again() -> None:
    assert bodies(
        [
            "The European Union and the regu-",
            "lation of cross-border trade between Euro-",
            "pean states, cross-",
            "border as it is, and EU-",
            "Norway relations.",
        ]
    ) == [
        "The European Union and the regulation of cross-border trade between European states, "
        "cross-border as it is, and EU-Norway relations."
    ]


def test_footnotes_come_after_the_text() -> None:
    blocks = blocks_of(
        [
            ["Figs shall be sold, in accordance with", "(1) OJ L 12, 3.4.1999, p. 1."],
            ["the rules on dates.", "(2) See page 7 of the report."],
        ]
    )
    assert blocks == [
        Line("Figs shall be sold, in accordance with the rules on dates."),
        Line("(1) OJ L 12, 3.4.1999, p. 1.", "note"),
        Line("(2) See page 7 of the report.", "note"),
    ]


def test_an_empty_page_is_no_harm() -> None:
    assert bodies([], ["Figs."], []) == ["Figs."]
    assert blocks_of([]) == []
