"""Heads and feet of printed pages that stand between the lines of an act.

The Official Journal has "L 119/2 EN Official Journal of the European Union 4.5.2016" above a page.
Since October 2023 each act comes by itself: its first page begins with "Official Journal / of the
European Union / EN / L series / 2024/9689 / 12.7.2024", the others with "OJ L, 12.7.2024", and all
end with "ELI: http://data.europa.eu/eli/reg/2024/9689/oj 2/14". A consolidated text has "02024R9689
— EN — 01.02.2025 — 001.001 — 2".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from labelwise.corpus.act_lines import Line
from labelwise.corpus.celex import celex_from_eli, celex_in

LANGUAGE = r"(?:BG|CS|DA|DE|EL|EN|ES|ET|FI|FR|GA|HR|HU|IT|LT|LV|MT|NL|PL|PT|RO|SK|SL|SV)"
_ELI = r"ELI\s?:\s?https?://[\w./:()-]*\w"
_ITEM = (
    r"(?:\d{1,2}[./]\s?\d{1,2}[./]\s?\d{2,4}|Official Journal"
    r"(?:\s+of\s+the\s+European\s+(?:Union|Communities))?|(?:No\s+)?[LC]I?\s\d{1,4}/\d{1,4}"
    rf"|{LANGUAGE}|[LC] series|OJ [LC]|(?:C/)?20\d\d/\d{{1,5}}|\d{{1,4}}/\d{{1,4}}|{_ELI})"
    r"(?:[\s|,]+|$)"
)
RUNNING_HEAD = rf"(?:{_ITEM})++"
"""Date, language, journal, number and page, in any order, on one line or on several."""

_CONSOLIDATED = (
    r"0(?:19|20)\d\d[A-Z]{1,2}\d{4}\S{0,5} [—–-] [A-Z]{2} [—–-] \d\d\.\d\d\.\d{4} [—–-]"
    r" \d{3}\.\d{3}(?: [—–-] \d{1,4})?"
)
_ISSN = r"ISSN\s+\d{4}-\d{3}[\dX].{0,40}"
_MARK = re.compile(rf"^(?:{RUNNING_HEAD}|{_CONSOLIDATED}|{_ISSN})$")
_JOURNAL = re.compile(r"Official Journal[\s|,]*(?:" + LANGUAGE + r"[\s|,]*)?$")
_GOES_ON = re.compile(rf"^of\s+the\s+European\s+(?:Union|Communities)(?:[\s|,]+(?:{_ITEM})*+)?$")
_NAMED = re.compile(r"Official Journal|OJ [LC]\b")
_PAGE = re.compile(r"(?<![\w/.])(?!20\d\d/)\d{1,4}/\d{1,4}(?![\w/])|\d{3}\.\d{3} [—–-] \d+$")
_ENOUGH = re.compile(r"ISSN|ELI\s?:|\b0(?:19|20)\d\d[A-Z]")
_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(rf"^(?:(?:\d+/\d+\s+)?{_ELI}(?:\s+\d+/\d+)?|{_CONSOLIDATED})$")


def page_marks(texts: Sequence[str]) -> list[bool]:
    """Which lines are heads or feet of pages.

    >>> page_marks(["Official Journal", "of the European Union", "EN", "2024/9689", "On figs"])
    [True, True, True, True, False]
    >>> page_marks(["Languages of the lists:", "EN", "FR"])
    [False, False, False]
    """
    seems: list[bool] = []
    for text, before in zip(texts, ["", *texts], strict=False):
        goes_on = _GOES_ON.match(text) and seems and seems[-1] and _JOURNAL.search(before)
        seems.append(bool(goes_on or _MARK.match(text)))
    found: list[bool] = []
    for seem, group in groupby(zip(seems, texts, strict=True), key=lambda pair: pair[0]):
        block = [text for _, text in group]
        found += [seem and _is_sure(" ".join(block))] * len(block)
    return found


def _is_sure(text: str) -> bool:
    """A date or "EN" alone may be a cell of a table; the name of the journal alone, a line of a
    sentence."""
    return bool((_NAMED.search(text) and _DIGIT.search(text)) or _ENOUGH.search(text))


def without_page_marks(lines: Sequence[Line]) -> list[Line]:
    """The lines without heads and feet of pages."""
    marks = page_marks([line.text for line in lines])
    return [line for line, mark in zip(lines, marks, strict=True) if not mark]


def pages_between(texts: Sequence[str]) -> list[list[str]]:
    """The lines of each page, where heads or feet with the number of the page stand between.

    >>> pages_between(["Figs.", "ELI: http://data.europa.eu/eli/reg/2024/9689/oj 1/2", "Dates."])
    [['Figs.'], ['Dates.']]
    """
    pages: list[list[str]] = [[]]
    for text, mark in zip(texts, page_marks(texts), strict=True):
        if not mark:
            pages[-1].append(text)
        elif pages[-1] and _PAGE.search(text):
            pages.append([])
    return [page for page in pages if page]


def celex_in_marks(texts: Iterable[str]) -> str | None:
    """The CELEX number of the act whose identifier or number stands on its pages.

    >>> celex_in_marks(["Figs.", "2/14 ELI: http://data.europa.eu/eli/reg/2024/9689/oj"])
    '32024R9689'
    >>> celex_in_marks(["02024R9689 — EN — 01.02.2025 — 001.001 — 2", "Figs."])
    '02024R9689-20250201'
    """
    marks = (text for text in texts if _NUMBERED.match(text))
    return next(filter(None, (celex_in(mark) or celex_from_eli(mark) for mark in marks)), None)
