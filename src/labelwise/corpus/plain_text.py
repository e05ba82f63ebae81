"""Plain text: an act split "by text", and any other text as one section."""

from __future__ import annotations

from labelwise.corpus.act_lines import Line
from labelwise.corpus.celex import document_id
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
    lines = [Line(line) for raw in normalise(text).splitlines() if (line := on_one_line(raw))]
    return split_lines(lines) or no_act(lines)


def parse_text(data: bytes, name: str) -> Document:
    """A plain text file as a document."""
    title, sections = split_act(decode(data, name))
    if not sections:
        raise InputError("holds no text", file=name)
    return Document(document_id(name), title, sections)
