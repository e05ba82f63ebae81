"""The beginning of an act: so many words, each in the zone it stood in."""

from __future__ import annotations

from labelwise.corpus.document import Document, Section
from labelwise.corpus.first_words import first_words, word_count

ACT = Document(
    "32016R0679",
    "On the protection of data",
    (
        Section("header", "On the protection\nof data"),
        Section("recitals", "Whereas data flow freely,"),
        Section("article", "Data are protected."),
        Section("attachments", "ANNEX"),
    ),
    ("4650",),
)


def test_zones_stay_zones_and_the_last_is_cut_within() -> None:
    cut = first_words(ACT, 7)
    assert cut.sections == (ACT.sections[0], Section("recitals", "Whereas data"))
    assert (cut.id, cut.title, cut.labels) == (ACT.id, ACT.title, ACT.labels)
    assert word_count(cut) == 7


def test_no_section_is_left_empty_where_the_words_end_with_one() -> None:
    assert first_words(ACT, 5).sections == ACT.sections[:1]


def test_what_is_short_enough_is_whole() -> None:
    assert word_count(ACT) == 13
    assert first_words(ACT, 13) == first_words(ACT, 1000) == ACT
