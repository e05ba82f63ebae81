"""Tab-separated documents: id, labels, text, one document a line.

Labels are separated by spaces, commas or semicolons. A first row ``id  labels  text`` is
passed over. The text is the rest of the line, tabs included; there is no quoting.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from labelwise.corpus.concept_ids import concept_id
from labelwise.corpus.document import Document
from labelwise.corpus.patience import patience
from labelwise.corpus.sources import Item, Place, decode, lines
from labelwise.errors import InputError

_SEPARATORS = re.compile(r"[\s,;]+")


def is_header(fields: list[str]) -> bool:
    """Whether a row names the columns.

    >>> is_header(["id", "labels", "text"])
    True
    """
    names = [field.strip().lower() for field in fields]
    return len(names) == 3 and names[0].endswith("id") and names[2] == "text"


def read_tsv(stream: io.BufferedReader, name: str | Path) -> Iterator[Item]:
    """The documents of a tab-separated stream."""
    for place, line in lines(stream, name):
        if line.isspace():
            continue
        try:
            fields = decode(line, place).rstrip("\r\n").split("\t", 2)
            if place.line == 1 and is_header(fields):
                continue
            yield place, _document(fields, place)
        except InputError as error:
            yield place, error


def _document(fields: list[str], place: Place) -> Document:
    from labelwise.corpus.plain_text import split_act

    if len(fields) < 3:
        raise place.error(
            "missing column: a line is id, labels and text with tabs between, "
            f"this one has {len(fields)} field{'s' if len(fields) > 1 else ''}"
        )
    id, labels, text = fields
    if not id.strip():
        raise place.error("missing value: the id is empty", "id")
    with patience(len(text), place):
        title, sections = split_act(text)
    found = (concept_id(label) for label in _SEPARATORS.split(labels) if label)
    return Document(id.strip(), title, sections, tuple(dict.fromkeys(found)))
