"""The body that enacts: "THE COUNCIL OF THE EUROPEAN COMMUNITIES," at the end of an act's title.

A single expression for all of it tries every bracket of a line with every word and every end; here
each is looked for once.
"""

from __future__ import annotations

import re
from bisect import bisect_left

_START = re.compile(r"(?:^|(?<=\)))\s*(?:THE|The)\b")
_WORD = re.compile(
    r"\b(?:COUNCIL|COMMISSION|PARLIAMENT|AUTHORITY|COMMITTEE|BANK|BOARD|COURT|REPRESENTATIVES"
    r"|GOVERNMENTS|COMMUNITIES|MINISTERS|CONFERENCE|BUREAU|PRESIDENT|DIRECTOR|UNION)\b"
)
_SMALL_LETTER = re.compile("[a-z]")
# Some files have lost the end of the line between them.
_RECITALS = re.compile(r"[,.;]?\s*+(?=(?:Having|Whereas|Acting|On a proposal)\b)")
_REACH = 200  # characters between "THE" and a word of the body, and from there to its end
_LONGEST = 2 * _REACH + 20  # both, and the word itself


def ends_with_body(line: str) -> bool:
    """Whether a line names the body that enacts and nothing after it.

    >>> ends_with_body("THE COUNCIL OF THE EUROPEAN COMMUNITIES,"), ends_with_body("The Council")
    (True, False)
    """
    starts = _START.finditer(line, max(0, len(line) - _LONGEST))
    return any(_is_body(line, start.end(), len(line)) for start in starts)


def body_and_recitals(line: str) -> tuple[str, str] | None:
    """A line cut after the body that enacts, where the recitals follow on it; else None.

    >>> body_and_recitals("THE COMMISSION, Having regard to the Treaty,")
    ('THE COMMISSION', 'Having regard to the Treaty,')
    >>> body_and_recitals("THE COMMISSIONHaving regard to the Treaty,")
    ('THE COMMISSION', 'Having regard to the Treaty,')
    """
    ends = list(_RECITALS.finditer(line))
    for start in reversed(list(_START.finditer(line))):
        at = bisect_left(ends, start.end(), key=lambda end: end.start())
        if at < len(ends) and _is_body(line, start.end(), ends[at].start()):
            return line[: ends[at].start()].strip(), line[ends[at].end() :]
    return None


def _is_body(line: str, start: int, end: int) -> bool:
    """Whether capitals from "THE" to here name a body."""
    if end - start > _LONGEST or _SMALL_LETTER.search(line, start, end):
        return False
    words = _WORD.finditer(line, start, end)
    return any(x.start() - start <= _REACH and end - x.end() <= _REACH for x in words)
