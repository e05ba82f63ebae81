"""Records of a file that are read when they are asked for: to pass over one costs next to nothing.

What is tagged in many shards is gone through by each of them, and read by one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

from labelwise.corpus.document import Document
from labelwise.corpus.json_records import LINE_FORMATS, line_document
from labelwise.corpus.readers import fault_of, is_whole, items, json_document
from labelwise.corpus.sources import Origin, extension, lines
from labelwise.errors import InputError
from labelwise.files import HALF

Record = Callable[[], Document]
"""Gives the document, or raises an InputError that says why there is none."""

Opened = Callable[[], AbstractContextManager[io.BufferedReader]]
"""Opens a file, with its compression undone."""

ONE_DOCUMENT = (".html", ".htm", ".xhtml", ".xml", ".pdf", ".docx", ".odt", ".epub")
"""Endings of files that are one document, which are not opened before it is asked for."""


def records(name: str, opened: Opened) -> Iterator[Record]:
    """The records of a file in their order. Where the file itself is at fault, the last one says
    so."""
    if extension(name) in ONE_DOCUMENT:
        yield partial(_only, name, opened)
        return
    try:
        with opened() as stream:
            if extension(name) in LINE_FORMATS:
                for origin, line in lines(stream, name):
                    if not line.isspace():
                        yield partial(line_document, line, origin, json_document)
            else:
                for origin, item in items(stream, name):
                    yield partial(_given, origin, item)
    except (InputError, OSError) as error:
        yield partial(_failing, name, error)


def _only(name: str, opened: Opened) -> Document:
    try:
        with opened() as stream:
            found = list(items(stream, name))
    except OSError as error:
        return _failing(name, error)
    if len(found) != 1:
        raise InputError(
            f"holds {len(found):,} documents, and its name says that it is one: rename it",
            file=name,
        )
    return _given(*found[0])


def _given(origin: Origin, item: Document | InputError) -> Document:
    if isinstance(item, InputError):
        raise item
    if not is_whole(item):
        raise origin.error(HALF)
    return item


def _failing(name: str, error: Exception) -> Document:
    raise error if isinstance(error, InputError) else fault_of(error, name)
