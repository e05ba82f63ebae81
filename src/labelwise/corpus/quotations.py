"""Quotations: which lines of an amending act are text of the act that it amends."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Quotations of whole provisions open at the beginning of a line. Old texts write ' or ` for all
# single marks.
_SINGLE = "‘'`‚"
OPENERS = _SINGLE + '“"„«'
_LABEL = re.compile(r"^(?:(?:\(?[0-9A-Za-z]{1,4}[.)]+|[-–—])\s*)*")
_OPENING = {
    "single": re.compile(r"(?<![\w.,;:)])[‘'`‚](?=[\w(\[…-])"),
    "double": re.compile(r"(?<![\w.,;:)])[“\"„«](?=[\w(\[…‘'-])"),
}
_CLOSING = {
    "single": re.compile(r"(?<=[\w.,;:)\]%…>-])[’'`](?!\w)"),
    "double": re.compile(r"(?<=[\w.,;:)\]%…>’'-])[”\"“»](?!\w)"),
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


def quoted(lines: Sequence[str], end: re.Pattern[str]) -> list[bool]:
    """Which lines stand inside a quotation that began on an earlier line.

    No quotation goes past a line that matches ``end``: what closes after the signature of an act
    is a footnote's.
    """
    surplus = {kind: [_surplus(kind, line) for line in lines] for kind in ("single", "double")}
    closes: dict[str, list[int]] = {}  # the next line that closes a quotation, from each line
    for kind in ("single", "double"):
        nearest = len(lines)
        closes[kind] = [nearest] * (len(lines) + 1)
        for at in range(len(lines) - 1, -1, -1):
            if end.match(lines[at]):
                nearest = len(lines)
            elif surplus[kind][at] > 0 and _CLOSED[kind].search(lines[at]):
                nearest = at
            closes[kind][at] = nearest
    inside = [False] * len(lines)
    at = 0
    while at < len(lines):
        mark = _LABEL.sub("", lines[at], count=1)[:1]
        kind = "single" if mark in _SINGLE else "double"
        until = closes[kind][at + 1] if mark and mark in OPENERS else len(lines)
        if until < len(lines) and surplus[kind][at] < 0:
            inside[at + 1 : until + 1] = [True] * (until - at)
            at = until
        at += 1
    return inside
