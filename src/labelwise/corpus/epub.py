"""EPUB: the pages of a book in the order of its spine, each read as an HTML page."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from labelwise.corpus.act_lines import Line
from labelwise.corpus.archives import Archive
from labelwise.corpus.document import Document
from labelwise.corpus.eurlex_html import lines_of_page
from labelwise.corpus.markup import local_name
from labelwise.corpus.plain_text import document_of
from labelwise.errors import InputError

_PAGES = frozenset({"application/xhtml+xml", "text/html"})


def parse_epub(data: bytes, name: str) -> Document:
    """A book as one document."""
    archive = Archive(data, name)
    lines: list[Line] = []
    for page in _pages(archive):
        lines += lines_of_page(archive.read(page), name)
    return document_of(lines, name)


def _pages(archive: Archive) -> Iterator[str]:
    """The parts that hold the text; a book whose pages are encrypted is refused."""
    package = _package(archive)
    book = archive.xml(package)
    items = {one.get("id"): one for one in _named(book, "item")}
    locked = _encrypted(archive)
    for reference in _named(book, "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES:
            continue
        if reference.get("linear") == "no" or "nav" in (item.get("properties") or "").split():
            continue
        page = _part(item.get("href") or "", posixpath.dirname(package))
        if page in locked:
            raise InputError("is encrypted: only its shop's program can read it", file=archive.name)
        yield page


def _package(archive: Archive) -> str:
    """Where the list of the book's parts is."""
    for one in _named(archive.xml("META-INF/container.xml"), "rootfile"):
        if path := one.get("full-path"):
            return str(path)
    raise InputError("is a damaged book: it does not say where its pages are", file=archive.name)


def _encrypted(archive: Archive) -> set[str]:
    """Parts that cannot be read; fonts are often among them, and no harm is done."""
    if "META-INF/encryption.xml" not in archive:
        return set()
    found = _named(archive.xml("META-INF/encryption.xml"), "CipherReference")
    return {_part(one.get("URI") or "", "") for one in found}


def _part(reference: str, folder: str) -> str:
    """The name in the archive of what a reference means.

    >>> _part("../text/chapter%201.xhtml#start", "OEBPS/lists")
    'OEBPS/text/chapter 1.xhtml'
    """
    return posixpath.normpath(posixpath.join(folder, unquote(reference.partition("#")[0])))


def _named(root: Any, name: str) -> Iterator[Any]:
    return (one for one in root.iter() if local_name(one) == name)
