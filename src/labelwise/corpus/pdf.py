"""PDF: the text of its pages, without what printing added to it.

PDFium takes the text out; it runs no scripts and opens no other files. A scan without a text layer
holds no text, and says so.
"""

from __future__ import annotations

import re
import time
from itertools import chain
from typing import Any

from labelwise.corpus.decoding import normalise, on_one_line
from labelwise.corpus.document import Document
from labelwise.corpus.page_marks import celex_in_marks
from labelwise.corpus.plain_text import document_of
from labelwise.corpus.printed_pages import blocks_of
from labelwise.errors import InputError, MissingExtraError

PAGES = 5_000
"""The longest acts have somewhat more than a thousand."""
CHARACTERS = 20_000_000
SECONDS = 120.0
"""After which the next page is not begun."""

_MARK = re.compile("[\x02\xad\ufffe](?:\r?\n)?")
_FEW = 20  # letters a page: what a scanner stamps on a picture
_PASSWORD = 4  # PDFium's number of the error


def parse_pdf(data: bytes, name: str) -> Document:
    """A PDF as a document."""
    try:
        import pypdfium2
    except ImportError as error:
        raise MissingExtraError("reading PDF", "files") from error

    try:
        file = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD:
            problem = "is encrypted: save it without a password"
        else:
            problem = "is a damaged PDF: copy or download it again"
        raise InputError(problem, file=name) from error
    try:
        pages = _pages(file, name)
        letters = sum(character.isalpha() for page in pages for line in page for character in line)
        if letters < _FEW * len(pages) and _has_pictures(file):
            raise InputError(
                "holds no text, only pictures of pages: let a program recognise the text in it "
                "(OCR), or give the HTML of EUR-Lex",
                file=name,
            )
    except pypdfium2.PdfiumError as error:
        raise InputError(f"is a damaged PDF ({error})", file=name) from error
    finally:
        file.close()
    return document_of(blocks_of(pages), name, celex_in_marks(chain.from_iterable(pages)))


def _pages(file: Any, name: str) -> list[list[str]]:
    """The lines of each page."""
    if len(file) > PAGES:
        raise InputError(
            f"holds {len(file):,} pages, and {PAGES:,} are read at most: split it", file=name
        )
    pages: list[list[str]] = []
    left, until = CHARACTERS, time.monotonic() + SECONDS
    for number in range(len(file)):
        if time.monotonic() > until:
            raise InputError(
                f"is a PDF of which {SECONDS:g} s are not enough to read more than page {number}: "
                "give its text, or split it",
                file=name,
            )
        page = file[number]
        text_page = page.get_textpage()
        left -= text_page.count_chars()
        if left < 0:
            raise InputError(f"holds more than {CHARACTERS:,} characters: split it", file=name)
        pages.append(_lines(text_page.get_text_range()))
        text_page.close()
        page.close()
    return pages


def _lines(text: str) -> list[str]:
    """PDFium joins lines where the first ends with a hyphen, with a mark that depends on its
    version; what follows may be a page number or a footnote."""
    marked = _MARK.sub("-\n", text)
    found = (on_one_line(line) for line in normalise(marked).splitlines())
    return [line for line in found if line]


def _has_pictures(file: Any) -> bool:
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

    return any(
        next(file[number].get_objects(filter=[FPDF_PAGEOBJ_IMAGE]), None) is not None
        for number in range(len(file))
    )
