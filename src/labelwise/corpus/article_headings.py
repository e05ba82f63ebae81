"""The headings of articles: finding them, and telling them from the articles that an act quotes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from labelwise.corpus.act_lines import Line
from labelwise.corpus.quotations import OPENERS

_NUMBER = r"(?P<number>\d{1,4}|[IVXLC]+)"
_SUFFIX = r"(?:\s?(?P<suffix>bis|ter|quater|quinquies|sexies|septies|octies|[a-z]{1,2}|[A-Z]))?"
_HEADING = re.compile(
    rf"^(?:Article|ARTICLE|Art\.)\s*{_NUMBER}{_SUFFIX}\s*(?:\(\s*[\d*]+\s*\))?\s*[.:—–-]?$"
)
_SOLE = re.compile(r"^(?:Sole|SOLE|Single|SINGLE|Only|ONLY)\s+(?:Article|ARTICLE)\s*[.:—–-]?\s*")
# "Article 1 The measures ...", but not "Article 1 of ..." nor "Article 1 (2) is replaced ...".
_INLINE = re.compile(
    rf"^(?:Article|ARTICLE)\s+{_NUMBER}(?P<suffix>[a-z]{{1,2}}|bis|ter)?\s*[.:—–-]?\s+"
    r"(?!(?:OF|TO|AND|OR|SHALL|IS|ARE|HAS|MAY|AS|BE|THEREOF|IN|BY|FIRST|SECOND|PARAGRAPH)\b)"
    r"(?=[A-Z‘“\"'«][A-Za-z]|A\s|\d+\s?\.\s|\(\d+\)\s+[A-Z])"
)
_MARKED = re.compile(rf"^\D{{0,40}}?(?<![A-Za-z]){_NUMBER}{_SUFFIX}(?![A-Za-z0-9])\s*[.:—–-]?\s*")
_LATIN = ("bis", "ter", "quater", "quinquies", "sexies", "septies", "octies")
_ANNOUNCED = re.compile(
    r"\b(?:replac|insert|add|read|amend|substitut|supplement|follow)\w*\b[^.]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of an article: where, which number, and the text on the same line."""

    at: int
    key: tuple[int, str]
    rest: str
    inline: bool
    marked: bool
    announced: bool  # the line before says that a quotation follows


def is_heading(line: Line) -> bool:
    """Whether a line is the heading of an article and nothing else."""
    alone = line.role == "heading" or _SOLE.fullmatch(line.text) or _HEADING.match(line.text)
    return bool(alone)


def heading_rest(line: Line) -> str | None:
    """What follows the number in the first line of an article; None where that is no heading."""
    marked = line.role == "heading"
    found = _SOLE.match(line.text) or (_MARKED if marked else _HEADING).match(line.text)
    return line.text[found.end() :].strip() if found else ("" if marked else None)


def _key(number: str, suffix: str | None) -> tuple[int, str]:
    """Sorts articles: 1, 2, 2a, 2b, 3; II is 2; 2 bis comes before 2 ter."""
    suffix = (suffix or "").lower()
    if suffix in _LATIN:
        suffix = "abcdefgh"[_LATIN.index(suffix)]
    if number.isdigit():
        return int(number), suffix
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in number]
    following = [*values[1:], 0]
    return sum(-v if v < n else v for v, n in zip(values, following, strict=True)), suffix


def _announces(text: str) -> bool:
    """Whether a line such as "Article 3 is replaced by the following:" says what comes next."""
    return text.endswith(":") and _ANNOUNCED.search(text[-200:-1]) is not None


def find_headings(lines: Sequence[Line], start: int, quoted: Sequence[bool]) -> list[Heading]:
    """The lines that look like the heading of an article and do not stand in a quotation.

    Where the markup names headings, no other line counts; where there are headings outside of
    tables, those inside (of a table of correspondence, say) do not.
    """
    by_markup = any(line.role == "heading" and not line.in_table for line in lines[start:])
    found: list[Heading] = []
    for at in range(start, len(lines)):
        line = lines[at]
        marked = line.role == "heading" and not line.in_table
        if quoted[at] or (by_markup and not marked) or line.text[0] in OPENERS:
            continue
        announced = at > start and _announces(lines[at - 1].text)
        if sole := _SOLE.match(line.text):
            rest = line.text[sole.end() :].strip()
            if not rest or rest[0].isupper():
                found.append(Heading(at, (1, ""), rest, bool(rest), marked, announced))
        elif match := _HEADING.match(line.text):
            if not marked and at + 1 < len(lines) and lines[at + 1].text[0].islower():
                continue  # a reference that a line break has cut: "Article 2 / of the Treaty"
            key = _key(match["number"], match["suffix"])
            found.append(Heading(at, key, "", False, marked, announced))
        elif match := (_MARKED if marked else _INLINE).match(line.text):
            rest = line.text[match.end() :].strip()
            key = _key(match["number"], match["suffix"])
            found.append(Heading(at, key, rest, not marked, marked, announced))
    outside = [heading for heading in found if not lines[heading.at].in_table]
    return outside or found


def in_sequence(candidates: Sequence[Heading]) -> list[Heading]:
    """The headings whose numbers make the best sequence.

    An amending act quotes articles of another act; where the quotation marks are lost, their
    numbers still break the sequence, or an announcement ("... is replaced by the following:")
    stands before them. An announced heading counts only where it fills a gap: what it announced
    was a table, say, that the text has lost.
    """
    chosen = _longest_rise([found for found in candidates if not found.announced])
    doubtful = [found for found in candidates if found.announced]
    if not doubtful:
        return chosen
    filled: list[Heading] = []
    for found in sorted(chosen + doubtful, key=lambda heading: heading.at):
        if not found.announced:
            filled.append(found)
            continue
        later = next((other.key for other in chosen if other.at > found.at), None)
        number = filled[-1].key[0] + 1 if filled else 1
        if found.key == (number, "") and (later is None or found.key < later):
            filled.append(found)
    return filled


def _longest_rise(candidates: Sequence[Heading]) -> list[Heading]:
    """The longest strictly rising sequence of numbers, and of two as long the later."""
    tops: list[int] = []  # the last article of the best sequence of each length
    keys: list[tuple[int, str]] = []
    before: list[int] = []
    for at, found in enumerate(candidates):
        length = bisect_left(keys, found.key)
        before.append(tops[length - 1] if length else -1)
        tops[length : length + 1] = [at]
        keys[length : length + 1] = [found.key]
    chosen: list[Heading] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        chosen.append(candidates[at])
        at = before[at]
    return chosen[::-1]
