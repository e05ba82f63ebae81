"""Quotations: which lines of an amending act are text of the act that it amends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Quoted = Literal["no", "yes", "perhaps"]
"""Whether a line stands in a quotation: perhaps, where a second one begins before the first ends.
The first was then closed unseen, somewhere before the second, or it holds the second."""

# Quotations of whole provisions open at the beginning of a line. Old texts write ' or ` for all
# single marks.
_SINGLE = "‘'`‚"
_DOUBLE = '“"„«'
OPENERS = _SINGLE + _DOUBLE
_LABEL = re.compile(r"^(?:(?:\(?[0-9A-Za-z]{1,4}[.)]+|[-–—])\s*)*+")
_OPENING = {
    "single": re.compile(r"(?<![\w.,;:)])[‘'`‚](?=[\w(\[…-])"),
    "double": re.compile(r"(?<![\w.,;:)])[“\"„«](?=[\w(\[…‘'-])"),
}
_CLOSING = {
    "single": re.compile(r"(?<=[\w.,;:)\]%…>-])[’'`](?!\w)|(?<=\s)’(?=[.,;:]*$)"),
    "double": re.compile(r"(?<=[\w.,;:)\]%…>’'-])[”\"“»](?!\w)|(?<=\s)”(?=[.,;:]*$)"),
}
_MARKS = {"single": re.compile("[‘’'`‚]"), "double": re.compile('[“”"„«»]')}
# A mark that closes a quotation, and not the apostrophe of "the Member States' authorities".
_CLOSED = {
    "single": re.compile(r"(?:[^\w\s]|(?![sS])\w)[’'`](?!\w)|[’'`]\s*[.,;:)]*(?:\s*and)?$"),
    "double": re.compile(r"\S[”\"“»](?!\w)"),
}


def _surplus(kind: str, line: str) -> int:
    """Closing marks less opening marks."""
    if not _MARKS[kind].search(line):  # most lines, and quickly seen
        return 0
    return len(_CLOSING[kind].findall(line)) - len(_OPENING[kind].findall(line))


def quoted(lines: Sequence[str], end: re.Pattern[str]) -> list[Quoted]:
    """Which lines stand inside a quotation that began on an earlier line.

    No quotation goes past a line that matches ``end``: what closes after the signature of an act
    is a footnote's.
    """
    marks = [_LABEL.sub("", line, count=1)[:1] for line in lines]
    opens: dict[str, list[int]] = {}  # the next line that begins a quotation, from each line
    closes: dict[str, list[int]] = {}  # the next line that closes one
    for kind, openers in (("single", _SINGLE), ("double", _DOUBLE)):
        opening = closing = len(lines)
        opens[kind] = [opening] * (len(lines) + 1)
        closes[kind] = [closing] * (len(lines) + 1)
        for at in range(len(lines) - 1, -1, -1):
            surplus = _surplus(kind, lines[at])
            if end.match(lines[at]):
                closing = len(lines)
            elif surplus > 0 and _CLOSED[kind].search(lines[at]):
                closing = at
            elif surplus < 0 and marks[at] and marks[at] in openers:
                opening = at
            opens[kind][at], closes[kind][at] = opening, closing
    inside: list[Quoted] = ["no"] * len(lines)
    at = 0
    while at < len(lines):
        kind = "single" if opens["single"][at] == at else "double"
        closing, opening = closes[kind][at + 1], opens[kind][at + 1]
        if opens[kind][at] != at or closing == len(lines):
            at += 1
        elif opening < closing:
            inside[at + 1 : opening] = ["perhaps"] * (opening - at - 1)
            at = opening
        else:
            inside[at + 1 : closing + 1] = ["yes"] * (closing - at)
            at = closing + 1
    return inside
