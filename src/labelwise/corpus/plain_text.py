"""Plain text: an act split "by text", and any other text as one section."""

from __future__ import annotations

from labelwise.corpus.act_lines import Line
from labelwise.corpus.celex import document_id
from labelwise.corpus.covers import celex_at_head, without_cover, without_page_head
from labelwise.corpus.decoding import decode, normalise, on_one_line
from labelwise.corpus.document import Document, Section
from labelwise.corpus.zones import no_act, split_lines
from labelwise.errors import InputError


def split_act(text: str) -> tuple[str, tuple[Section, ...]]:
    """The title and the sections of an act; other text is one ``article`` section.

    >>> title, sections = split_act('''COUNCIL REGULATION (EEC) No 1/73
    ... THE COUNCIL OF THE EUROPEAN COMMUNITIES,
    ... Having regard to the Treaty,
    ... HAS ADOPTED THIS REGULATION:
    ... Article 1
    ... Oranges may be imported.
    ... Done at Brussels, 3 March 1973.''')
    >>> [(section.kind, section.text.split()[0]) for section in sections]
    [('header', 'COUNCIL'), ('recitals', 'Having'), ('article', 'Oranges'), ('attachments', 'Done')]
    """
    return _split(_lines(text))


def parse_text(data: bytes, name: str) -> Document:
    """A plain text file as a document."""
    return document_of(_lines(decode(data, name)), name)


def document_of(lines: list[Line], name: str) -> Document:
    """The lines of a file as a document."""
    title, sections = _split(lines)
    if not sections:
        raise InputError("holds no text", file=name)
    return Document(document_id(name, celex_at_head(lines)), title, sections)


def _lines(text: str) -> list[Line]:
    return [Line(line) for raw in normalise(text).splitlines() if (line := on_one_line(raw))]


def _split(lines: list[Line]) -> tuple[str, tuple[Section, ...]]:
    named, act = without_page_head(lines)
    act = without_cover(act)
    title, sections = split_lines(act) or no_act(act)
    return named or title, sections
