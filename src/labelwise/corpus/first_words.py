"""The beginning of a document: so many words, in the zones that they stand in."""

from __future__ import annotations

import re
from dataclasses import replace

from labelwise.corpus.document import Document, Section

_WORD = re.compile(r"\S+")


def word_count(document: Document) -> int:
    """The words of a document, as white space parts them and the paper counts them."""
    return sum(len(section.text.split()) for section in document.sections)


def first_words(document: Document, most: int) -> Document:
    """The document up to its so-manieth word; a section that begins after it is gone.

    >>> act = Document("1", "", (Section("header", "On citrus  fruit"),
    ...                          Section("article", "Sold.")))
    >>> first_words(act, 2).sections
    (Section(kind='header', text='On citrus'),)
    >>> first_words(act, 4) == act
    True
    """
    if sum(len(section.text) + 1 for section in document.sections) <= 2 * most:
        return document  # a word is a character and a blank at least
    kept: list[Section] = []
    for section in document.sections:
        if most <= 0:
            break
        ends = [word.end() for word in _WORD.finditer(section.text)]
        kept.append(
            section if len(ends) <= most else Section(section.kind, section.text[: ends[most - 1]])
        )
        most -= len(ends)
    return replace(document, sections=tuple(kept))
