"""Plain text: an act split "by text", and any other text as one section."""

from __future__ import annotations

from itertools import chain

from labelwise.corpus.act_lines import Line
from labelwise.corpus.celex import document_id, with_sector
from labelwise.corpus.covers import (
    celex_at_head,
    heads_apart,
    without_amendment_marks,
    without_cover,
    without_page_head,
    without_site,
)
from labelwise.corpus.decoding import decode, normalise, on_one_line
from labelwise.corpus.document import Document, Section
from labelwise.corpus.page_marks import celex_in_marks, pages_between, without_page_marks
from labelwise.corpus.printed_pages import blocks_of
from labelwise.corpus.zones import no_act, split_lines
from labelwise.errors import InputError

_WIDTH = 200  # characters: no printed line is longer
_FEW = 0.1  # of the text: rows of tables


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
    return _split(_lines(_pages(text)))


def parse_text(data: bytes, name: str) -> Document:
    """A plain text file as a document."""
    pages = _pages(decode(data, name))
    return document_of(_lines(pages), name, celex_in_marks(chain.from_iterable(pages)))


def document_of(lines: list[Line], name: str, celex: str | None = None) -> Document:
    """The lines of a file as a document, whose number may be known from elsewhere."""
    title, sections = _split(lines)
    if not sections:
        raise InputError("holds no text", file=name)
    return Document(
        document_id(name, celex_at_head(lines), with_sector(celex, title)), title, sections
    )


def _pages(text: str) -> list[list[str]]:
    """The lines of each page; text that was never printed is one page."""
    pages = [
        [line for raw in normalise(page).splitlines() if (line := _tidy(raw))]
        for page in text.split("\f")
    ]
    pages[0][:1] = [head for line in pages[0][:1] for head in heads_apart(line)]
    return pages


def _tidy(line: str) -> str:
    return on_one_line(without_amendment_marks(line))


def _lines(pages: list[list[str]]) -> list[Line]:
    """The lines of the text; those of printed pages are put together to paragraphs."""
    if len(pages) == 1:
        between = pages_between(pages[0])
        lengths = [len(line) for line in pages[0]]
        long = sum(length for length in lengths if length > _WIDTH)
        if len(between) < 2 or long > _FEW * sum(lengths):
            return [Line(line) for line in pages[0]]
        pages = between
    return blocks_of(pages)


def _split(lines: list[Line]) -> tuple[str, tuple[Section, ...]]:
    named, act = without_page_head(without_site(lines))
    act = without_page_marks(without_cover(act))  # the cover is known by the head of its page
    title, sections = split_lines(act) or no_act(act)
    return named or title, sections
