"""The tokenizer: what a token is, and that its offsets point at it."""

from __future__ import annotations

import sys
import unicodedata
from unicodedata import category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelwise.text.tokenizer import Token, tokenize, words

any_text = st.text() | st.text(
    alphabet=st.sampled_from(
        "aBİǅΣςß1٣²½.,-'/_ \t\n\u0301\u0327\u20e3\xad\u200b\ufeff№€😀ᾳ\x00\x85"
    )
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Commission Regulation (EC) No 1308/2013",
            ["commission", "regulation", "(", "ec", ")", "no", "1308", "/", "2013"],
        ),
        ("Directive 2001/95/EC", ["directive", "2001", "/", "95", "/", "ec"]),
        ("EUR 1,500.25 a tonne", ["eur", "1,500.25", "a", "tonne"]),
        ("from 01.01.1999.", ["from", "01.01.1999", "."]),
        ("0,5 % of E330, B12 or H2O", ["0,5", "%", "of", "e330", ",", "b12", "or", "h2o"]),
        ("Article 5a", ["article", "5a"]),
        ("non-food products", ["non", "-", "food", "products"]),
        ("the Member State's duty", ["the", "member", "state", "'", "s", "duty"]),
        ("Annex_II", ["annex", "_", "ii"]),
        ("100 m² at 20°C", ["100", "m²", "at", "20", "°", "c"]),
        ("Ο κανονισμός, ΤΗΣ ΕΠΙΤΡΟΠΗΣ", ["ο", "κανονισμός", ",", "της", "επιτροπης"]),
        ("...", [".", ".", "."]),
        ("1, 2 and 3.", ["1", ",", "2", "and", "3", "."]),
        ("", []),
        (" \n\t\xa0\u2003", []),
        ("\x00\x96\x1f", []),
    ],
)
def test_words_numbers_codes_and_marks_are_cut_as_documented(
    text: str, expected: list[str]
) -> None:
    assert words(text) == expected


def test_combining_marks_stay_with_their_letter() -> None:
    decomposed = unicodedata.normalize("NFD", "Société européenne, ἄρθρο")
    assert words(decomposed) == [
        unicodedata.normalize("NFD", word) for word in ("société", "européenne", ",", "ἄρθρο")
    ]


def test_marks_of_other_scripts_stay_in_the_word_too() -> None:
    assert words("नियम संख्या") == ["नियम", "संख्या"]


def test_no_combining_mark_of_unicode_splits_a_word() -> None:
    marks = [chr(at) for at in range(sys.maxunicode + 1) if category(chr(at)).startswith("M")]
    assert len(marks) > 2000
    assert [mark for mark in marks if len(words(f"a{mark}b")) != 1] == []


def test_invisible_format_characters_separate_and_are_no_tokens() -> None:
    assert words("\ufeffregu\xadlation\u200bno") == ["regu", "lation", "no"]


def test_lower_casing_that_changes_the_length_leaves_later_offsets_right() -> None:
    text = "İSTANBUL Protocol"
    assert len(text.lower()) > len(text)
    assert tokenize(text)[1] == Token("protocol", 9, 17)


def test_a_token_unpacks_as_text_start_end() -> None:
    (text, start, end), *_ = tokenize("  Citrus fruit")
    assert (text, start, end) == ("citrus", 2, 8)


@given(any_text)
@example("ΟΔΟΣ ΟΔΟΣ.")
@example("1.2.3,4.x")
@example("\u0301a\u0301\u0301b")
@example("1\u0301.2")
def test_words_are_exactly_the_tokens(text: str) -> None:
    assert words(text) == [token.text for token in tokenize(text)]


@given(any_text)
def test_offsets_point_at_the_token_in_the_original_text(text: str) -> None:
    for token in tokenize(text):
        assert token.start < token.end
        assert text[token.start : token.end].lower() == token.text


@given(any_text)
def test_tokens_are_in_order_and_leave_out_nothing_visible(text: str) -> None:
    at = 0
    for token in [*tokenize(text), Token("", len(text), len(text))]:
        assert at <= token.start
        between = text[at : token.start]
        assert all(gap.isspace() or category(gap) in ("Cc", "Cf") for gap in between)
        at = token.end


@given(any_text)
def test_no_token_holds_white_space(text: str) -> None:
    assert not any(letter.isspace() for word in words(text) for letter in word)


@given(any_text, any_text)
def test_a_line_break_always_separates(left: str, right: str) -> None:
    assert words(f"{left}\n{right}") == words(left) + words(right)


@given(any_text)
def test_cutting_the_tokens_again_changes_nothing_for_plain_words(text: str) -> None:
    plain = [word for word in words(text) if word.isascii()]
    assert words(" ".join(plain)) == plain


def test_a_long_document_takes_no_time_to_speak_of() -> None:
    """Of one letter, of digits, of marks, of numbers: the regex does not blow up."""
    for text in (
        "a" * 300_000,
        "1" * 300_000,
        "\u0301" * 300_000,
        "1." * 150_000,
        "a\u0301" * 150_000,
    ):
        assert "".join(words(text)) == text
