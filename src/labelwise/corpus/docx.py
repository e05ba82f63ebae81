"""DOCX: the text that a reader of the document sees, with insertions and without deletions.

Headers, footers, comments and the table of contents are none of the text; footnotes come after it.
"""

from __future__ import annotations

from typing import Any

from labelwise.corpus.act_lines import Line, Role
from labelwise.corpus.archives import Archive
from labelwise.corpus.document import Document
from labelwise.corpus.markup import LineBuilder, Where, local_name, walk, without_gaps
from labelwise.corpus.plain_text import document_of
from labelwise.errors import InputError

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Deleted text, codes of fields, and the second copy of a text box that old programs read.
_LEFT_OUT = frozenset({"del", "moveFrom", "instrText", "delText", "Fallback", "pPr", "rPr"})
_CHARACTERS = {"tab": " ", "noBreakHyphen": "-"}


def parse_docx(data: bytes, name: str) -> Document:
    """A DOCX file as a document."""
    archive = Archive(data, name)
    if "word/document.xml" not in archive:
        raise InputError(
            "is a zip archive other than DOCX, ODT and EPUB: unpack it, or save it as one of them",
            file=name,
        )
    lines = _lines(archive.xml("word/document.xml"))
    if "word/footnotes.xml" in archive:
        lines += _lines(archive.xml("word/footnotes.xml"), "note")
    return document_of(lines, name)


def _lines(root: Any, role: Role = "") -> list[Line]:
    builder = LineBuilder(without_gaps)
    tables = 0
    cells: list[int] = []  # how many lines there were when each open cell began
    for step, element, text in walk(root, _is_left_out):
        tag = local_name(element)
        where: Where = (role, "", 0, tables > 0)
        if step == "text":
            if tag == "t":
                builder.add(text, element, where)
        elif step == "start":
            tables += tag == "tbl"
            if tag == "tc":
                cells.append(builder.begin_cell())
            elif tag == "tr":
                builder.end_block()
            elif tag == "p":
                builder.begin_block()
            elif tag in _CHARACTERS:
                builder.add(_CHARACTERS[tag], element, where)
        else:
            tables -= tag == "tbl"
            if tag == "tc":
                builder.end_cell(cells.pop())
            elif tag in {"p", "br", "cr", "tr"}:
                builder.end_block()
    builder.flush()
    return builder.lines


def _is_left_out(element: Any) -> bool:
    tag = local_name(element)
    if tag == "p":
        style = element.find(f"{_WORD}pPr/{_WORD}pStyle")
        return style is not None and style.get(f"{_WORD}val", "").upper().startswith("TOC")
    # The lines that separate footnotes from the text are footnotes of these types.
    return tag in _LEFT_OUT or (tag == "footnote" and element.get(f"{_WORD}type") is not None)
