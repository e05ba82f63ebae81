"""A document: an act with its sections and, where they are known, its gold labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args
from uuid import NAMESPACE_URL, uuid5

SectionKind = Literal["header", "recitals", "article", "attachments"]
"""The four zones: title and enacting body, legal background, one article, annexes."""

SECTION_KINDS: tuple[SectionKind, ...] = get_args(SectionKind)


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text in one zone. The main body has one section an article."""

    kind: SectionKind
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """An act. Text without zones is one section of kind ``article``.

    >>> act = Document("32001R0001", "A title", (Section("header", "A title"),
    ...                                          Section("article", "Oranges.")), ("693",))
    >>> act.text
    'A title\\nOranges.'
    """

    id: str
    title: str
    sections: tuple[Section, ...]
    labels: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """The sections, one after another. Evidence offsets count characters of this string."""
        return "\n".join(section.text for section in self.sections)

    @property
    def has_words(self) -> bool:
        """Whether a letter or a digit stands anywhere; without one there is nothing to judge by.

        >>> [Document("", "", (Section("article", text),)).has_words for text in ("Figs.", "...")]
        [True, False]
        """
        return any(any(map(str.isalnum, section.text)) for section in self.sections)

    @property
    def uuid(self) -> str:
        """A name for the text (a UUID of version 5), whatever its file is called."""
        written = "\n".join(f"{one.kind}\n{one.text}" for one in self.sections)
        return str(uuid5(NAMESPACE_URL, f"labelwise document\n{written}"))

    def section_starts(self) -> list[int]:
        """Where each section begins in ``text``."""
        starts, at = [], 0
        for section in self.sections:
            starts.append(at)
            at += len(section.text) + 1
        return starts
