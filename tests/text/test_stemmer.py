"""The stemmer: one stem for the forms of a word, and other words left apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelwise.text.stemmer import stem


@pytest.mark.parametrize(
    "forms",
    [
        ("quota", "quotas"),
        ("fishery", "fisheries"),
        ("licence", "licences", "licenced", "licencing"),
        ("ban", "bans", "banned", "banning"),
        ("process", "processed", "processing"),
        ("company", "companies"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("import", "importance"),
        ("gas", "gaseous"),
        ("bed", "bee"),
        ("ring", "rest"),
        ("agriculture", "agricultural"),
        ("e330", "e331"),
    ],
)
def test_other_words_keep_apart(words: tuple[str, str]) -> None:
    assert stem(words[0]) != stem(words[1])


@given(st.text(min_size=1))
def test_any_text_has_a_stem_that_is_not_longer(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word)
