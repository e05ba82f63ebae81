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
from labelwise.corpus.sources import Item, Origin, decode, lines
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
    for origin, line in lines(stream, name):
        if line.isspace():
            continue
        try:
            fields = decode(line, origin).rstrip("\r\n").split("\t", 2)
            if origin.line == 1 and is_header(fields):
                continue
            yield origin, _document(fields, origin)
        except InputError as error:
            yield origin, error


def _document(fields: list[str], origin: Origin) -> Document:
    from labelwise.corpus.plain_text import split_act

    if len(fields) < 3:
        raise origin.error(
            "missing column: a line is id, labels and text with tabs between, "
            f"this one has {len(fields)} field{'s' if len(fields) > 1 else ''}"
        )
    id, labels, text = fields
    if not id.strip():
        raise origin.error("missing value: the id is empty", "id")
    with patience(len(text), origin):
        title, sections = split_act(text)
    found = (concept_id(label) for label in _SEPARATORS.split(labels) if label)
    return Document(id.strip(), title, sections, tuple(dict.fromkeys(found)))
