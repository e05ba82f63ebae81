"""From the lines of printed pages to the blocks of an act.

A page repeats the name of the journal and its own number, breaks sentences into lines and words at
the ends of lines, and puts footnotes where the page ends. Here the running heads go, lines become
paragraphs again, broken words become whole, and footnotes are marked as such.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from labelwise.corpus.act_lines import Line
from labelwise.corpus.article_headings import is_heading
from labelwise.corpus.covers import DISCLAIMER, FURNITURE
from labelwise.corpus.page_marks import page_marks
from labelwise.corpus.zones import ANNEX, FOOTNOTE, FORMULA, RECITAL

BROKEN = "\ufffe"
"""Stands where a line ended within a word; no character of any text."""

_EDGE = 4  # lines at the top and at the bottom of a page that can be its head or foot
_REPEATED = 0.4  # of the pages: heads of left and of right pages may differ
_FULL = 0.75  # of the width: a line this long went on because the page ended, not the paragraph
_ENDS = (".", ";", ":", "!", "?")
_ITEM = re.compile(r"(?:\(?\d{1,3}[.)]|\([a-z]{1,4}\)|[—–•·▪-])\s")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# From where a word begins, or the search would go through a long one from each of its letters.
_HALVES = re.compile(rf"(?:(?<![^\W\d_])|(?={BROKEN}))([^\W\d_]*){BROKEN}([^\W\d_]*)")


def blocks_of(pages: Sequence[Sequence[str]]) -> list[Line]:
    """The paragraphs and headings of all pages, and then the footnotes."""
    bodies: list[str] = []
    notes: list[str] = []
    for page in without_heads(pages):
        body, below = _footnotes_apart(_paragraphs(page))
        if bodies and body and _goes_on(bodies[-1], body[0], width=math.inf):
            bodies[-1] = _joined(bodies[-1], body.pop(0))
        bodies += body
        notes += below
    found = [Line(text) for text in bodies] + [Line(text, "note") for text in notes]
    unbroken = (_HALVES.sub(" ", line.text) for line in found)
    known = Counter(_WORD.findall("\n".join(unbroken).lower()))
    return [Line(_whole_words(line.text, known), line.role) for line in found]


def without_heads(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """The pages without running heads and page numbers; a title that is the running head of the
    pages after it stays where it is first said.

    >>> without_heads([["Rules on figs", "Figs", "1"], ["Rules on figs", "Dates", "2"]])
    [['Rules on figs', 'Figs'], ['Dates']]
    """
    pages = [_unmarked(page) for page in pages]
    shapes = Counter(shape for page in pages for shape in {_shape(one) for one in _edges(page)})
    often = max(2, _REPEATED * len(pages))
    heads = {shape for shape, times in shapes.items() if times >= often}
    seen: set[str] = set()
    kept = []
    for page in pages:
        start, end = 0, len(page)
        while start < min(end, _EDGE) and _is_head(page[start], heads):
            start += 1
        while end > max(start, len(page) - _EDGE) and _is_head(page[end - 1], heads):
            end -= 1
        titles = [one for one in page[:start] if _is_title(one)]
        said = [one for one in titles if (shape := _shape(one)) in heads and shape not in seen]
        seen.update(_shape(one) for one in said)
        kept.append([*said, *page[start:end]])
    return kept


def _unmarked(page: Sequence[str]) -> list[str]:
    return [line for line, mark in zip(page, page_marks(page), strict=True) if not mark]


def _is_title(line: str) -> bool:
    return not (_DIGITS.search(line) or FURNITURE.match(line))


def _edges(page: Sequence[str]) -> Iterable[str]:
    return [*page[:_EDGE], *page[-_EDGE:]]


def _shape(line: str) -> str:
    """The same for "L 119/2 EN 4.5.2016" and "4.5.2016 EN L 119/3"."""
    return " ".join(sorted(_DIGITS.sub("0", line).split()))


def _is_head(line: str, heads: set[str]) -> bool:
    if is_heading(Line(line)) or ANNEX.match(line):
        return False
    if DISCLAIMER.match(line):  # the cover of a consolidated text is known by it
        return False
    return _shape(line) in heads or FURNITURE.match(line) is not None


def _paragraphs(lines: Sequence[str]) -> list[str]:
    """The lines of a page, joined where a sentence goes on."""
    lengths = sorted(map(len, lines))
    width = lengths[int(0.9 * len(lengths))] if lengths else 0
    found: list[str] = []
    for line, before in zip(lines, ["", *lines], strict=False):
        if found and _goes_on(before, line, width):
            found[-1] = _joined(found[-1], line)
        else:
            found.append(line)
    return found


def _goes_on(line: str, following: str, width: float) -> bool:
    """Whether the next line belongs to the same paragraph."""
    if is_heading(Line(line)) or _begins(following):
        return False
    if following[0].islower() or (_ends_broken(line) and following[0].isalpha()):
        return True
    same_case = line.isupper() == following.isupper()
    return len(line) >= _FULL * width and not line.endswith(_ENDS) and same_case


def _begins(line: str) -> bool:
    """Whether a line can only be the first of its block. A heading has no full stop, while a
    sentence may end with "Article 6."."""
    heading = is_heading(Line(line)) and not line.endswith(".")
    return bool(heading or any(sign.match(line) for sign in (FORMULA, ANNEX, RECITAL, _ITEM)))


def _ends_broken(line: str) -> bool:
    return line.endswith("-") and line[-2:-1].isalpha()


def _joined(line: str, following: str) -> str:
    broken = _ends_broken(line) and following[0].isalpha()
    return f"{line[:-1]}{BROKEN}{following}" if broken else f"{line} {following}"


def _footnotes_apart(blocks: Sequence[str]) -> tuple[list[str], list[str]]:
    """The text of a page, and the footnotes at its end."""
    at = len(blocks)
    while at > 0 and FOOTNOTE.match(blocks[at - 1]):
        at -= 1
    return list(blocks[:at]), list(blocks[at:])


def _whole_words(text: str, known: Counter[str]) -> str:
    if BROKEN not in text:
        return text
    return _HALVES.sub(lambda found: _whole_word(found[1], found[2], known), text)


def _whole_word(first: str, second: str, known: Counter[str]) -> str:
    """Two halves as the document writes the word elsewhere; else with the hyphen where both halves
    are words of it.

    >>> _whole_word("Euro", "pean", Counter()), _whole_word("EU", "Norway", Counter())
    ('European', 'EU-Norway')
    >>> _whole_word("cross", "border", Counter({"cross": 1, "border": 1}))
    'cross-border'
    """
    whole, hyphenated = f"{first}{second}", f"{first}-{second}"
    if not second[:1].islower() or not first:
        return hyphenated
    if known[whole.lower()] or known[hyphenated.lower()]:
        return whole if known[whole.lower()] >= known[hyphenated.lower()] else hyphenated
    both = min(len(first), len(second)) > 2 and known[first.lower()] and known[second.lower()]
    return hyphenated if both else whole
