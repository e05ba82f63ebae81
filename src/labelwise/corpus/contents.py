"""The table of contents that a long act has behind "HAVE ADOPTED THIS REGULATION:".

Its entries are headings of articles like those that come after it, and its annexes look like where
the articles end. What tells it from articles: it has no sentence, and each of its articles comes
again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from labelwise.corpus.act_lines import Line
from labelwise.corpus.article_headings import Heading

CONTENTS = re.compile(r"^(?:(?:TABLE OF )?CONTENTS?|Table of [Cc]ontents|Contents)$")

_LEAST = 3
"""Entries: two short articles of a second text could stand before two others."""

_LONGEST = 400
"""Characters of a line; titles of annexes are the longest."""


def table_of_contents(
    lines: Sequence[Line], start: int, headings: Sequence[Heading]
) -> range | None:
    """The lines of the table of contents among those from ``start`` on, or None where none is.

    The title of a chapter that stands before the first article may be among them.
    """
    keys = [found.key for found in headings]
    entries = next((at for at in range(1, len(keys)) if keys[at] == keys[0]), 0)
    if entries < _LEAST or not {*keys[:entries]} <= {*keys[entries:]}:
        return _of_chapters(lines, start, headings)
    first, end = headings[0].at, headings[entries].at
    if any(_is_sentence(line.text) for line in lines[first:end]):
        return None
    named = [at for at in range(start, first) if CONTENTS.match(lines[at].text)]
    if named:
        return range(named[0], end)
    before = [at for at in range(start, first) if _is_sentence(lines[at].text)]
    return range(before[-1] + 1 if before else start, end) if start else None


def _of_chapters(lines: Sequence[Line], start: int, headings: Sequence[Heading]) -> range | None:
    """A table of chapters alone, which says what it is. It ends where its first entry comes again,
    or at the first article."""
    first = headings[0].at if headings else start
    named = next((at for at in range(start, first) if CONTENTS.match(lines[at].text)), None)
    if not start or named is None or any(_is_sentence(x.text) for x in lines[named:first]):
        return None
    again = (
        at for at in range(first - 1, named + 1, -1) if lines[at].text == lines[named + 1].text
    )
    return range(named, next(again, first))


def _is_sentence(text: str) -> bool:
    return len(text) > _LONGEST or (text.endswith((".", ";", ":")) and not text.endswith(".."))
