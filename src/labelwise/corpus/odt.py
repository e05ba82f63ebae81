"""ODT: the text of the document, without what was deleted; footnotes come after it."""

from __future__ import annotations

from typing import Any

from labelwise.corpus.act_lines import Line, Role
from labelwise.corpus.archives import Archive
from labelwise.corpus.document import Document
from labelwise.corpus.markup import LineBuilder, Where, local_name, walk, without_gaps
from labelwise.corpus.plain_text import document_of
from labelwise.errors import InputError

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_LEFT_OUT = frozenset({"note", "annotation", "tracked-changes", "table-of-content", "forms"})


def parse_odt(data: bytes, name: str) -> Document:
    """An ODT file as a document."""
    archive = Archive(data, name)
    if "META-INF/manifest.xml" in archive and b"encryption-data" in archive.read(
        "META-INF/manifest.xml"
    ):
        raise InputError("is encrypted: save it without a password", file=name)
    body = archive.xml("content.xml").find(f"{_OFFICE}body/{_OFFICE}text")
    if body is None:
        raise InputError("is an office file without text: save it as ODT or text", file=name)
    lines = _lines(body)
    for note in body.iter(f"{_TEXT}note-body"):
        lines += _lines(note, "note")
    return document_of(lines, name)


def _lines(root: Any, role: Role = "") -> list[Line]:
    builder = LineBuilder(without_gaps)
    tables = paragraphs = 0
    cells: list[int] = []  # how many lines there were when each open cell began
    for step, element, text in walk(root, lambda one: local_name(one) in _LEFT_OUT):
        tag = local_name(element)
        where: Where = (role, "", 0, tables > 0)
        change = {"start": 1, "end": -1}.get(step, 0)
        tables += change * (tag == "table")
        paragraphs += change * (tag in {"p", "h"})
        if step == "text":
            if paragraphs:
                builder.add(text, element, where)
        elif step == "start":
            if tag == "table-cell":
                cells.append(builder.begin_cell())
            elif tag == "table-row":
                builder.end_block()
            elif tag in {"p", "h"}:
                builder.begin_block()
            elif tag in {"s", "tab"}:
                builder.add(" ", element, where)
        elif tag == "table-cell":
            builder.end_cell(cells.pop())
        elif tag in {"p", "h", "line-break", "table-row"}:
            builder.end_block()
    builder.flush()
    return builder.lines
