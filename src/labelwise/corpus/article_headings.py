"""The headings of articles: finding them, and telling them from the articles that an act quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from labelwise.corpus.act_lines import Line
from labelwise.corpus.quotations import OPENERS, Quoted

_NUMBER = r"(?P<number>\d{1,4}|[IVXLC]+)"
# Trade agreements number by chapter: "Article 2.13" is the thirteenth of the second. Rules of
# procedure may have rules in place of articles.
_IN_CHAPTER = r"(?:\.(?P<in_chapter>\d{1,3}))?"
_OF_CHAPTERS = "of chapters"
_SUFFIX = r"(?:\s?(?P<suffix>bis|ter|quater|quinquies|sexies|septies|octies|[a-z]{1,2}|[A-Z]))?"
_HEADING = re.compile(
    rf"^(?P<word>Article|ARTICLE|Art\.|Rule|RULE)\s*{_NUMBER}{_IN_CHAPTER}{_SUFFIX}"
    r"\s*(?:\(\s*[\d*]+\s*\))?\s*[.:—–-]?$"
)
_SOLE = re.compile(r"^(?:Sole|SOLE|Single|SINGLE|Only|ONLY)\s+(?:Article|ARTICLE)\s*[.:—–-]?\s*")
# "Article 1 The measures ...", but not "Article 1 of ..." nor "Article 1 (2) is replaced ...".
_INLINE = re.compile(
    rf"^(?:Article|ARTICLE)\s+{_NUMBER}{_IN_CHAPTER}(?P<suffix>[a-z]{{1,2}}|bis|ter)?"
    # The blank before a title may be lost: "Article 1.2General definitions".
    r"(?:\s*[.:—–-]?\s+|(?=[A-Z][a-z]{2}))"
    r"(?!(?:OF|TO|AND|OR|SHALL|IS|ARE|HAS|MAY|AS|BE|THEREOF|IN|BY|FIRST|SECOND|PARAGRAPH)\b)"
    r"(?=[A-Z‘“\"'«][A-Za-z]|A\s|\d+\s?\.\s|\(\d+\)\s+[A-Z])"
)
_MARKED = re.compile(
    rf"^\D{{0,40}}?(?<![A-Za-z]){_NUMBER}{_IN_CHAPTER}{_SUFFIX}(?![A-Za-z0-9])\s*[.:—–-]?\s*"
)
# What follows is no title of an article; "eHealth" and "e-Money" may be one.
_GOES_ON = re.compile(r"(?!e-?[A-Z])[a-zß-öø-ÿ]")
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
    numbering: str  # which of several this is: of articles, of rules, of articles of chapters
    doubtful: bool  # perhaps quoted: announced, or in a quotation of which no end is seen


def is_heading(line: Line) -> bool:
    """Whether a line is the heading of an article and nothing else."""
    alone = line.role == "heading" or _SOLE.fullmatch(line.text) or _HEADING.match(line.text)
    return bool(alone)


def heading_rest(line: Line) -> str | None:
    """What follows the number in the first line of an article; None where that is no heading."""
    marked = line.role == "heading"
    found = _SOLE.match(line.text) or (_MARKED if marked else _HEADING).match(line.text)
    return line.text[found.end() :].strip() if found else ("" if marked else None)


def _key(match: re.Match[str]) -> tuple[int, str]:
    """Sorts articles: 1, 2, 2a, 2b, 3; II is 2; 2 bis comes before 2 ter; 1.13 before 2.1."""
    number, suffix = match["number"], (match["suffix"] or "").lower()
    if suffix in _LATIN:
        suffix = "abcdefgh"[_LATIN.index(suffix)]
    if number.isdigit() and match["in_chapter"]:
        return int(number) * 1000 + int(match["in_chapter"]), suffix
    if number.isdigit():
        return int(number), suffix
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in number]
    following = [*values[1:], 0]
    return sum(-v if v < n else v for v, n in zip(values, following, strict=True)), suffix


def _announces(text: str) -> bool:
    """Whether a line such as "Article 3 is replaced by the following:" says what comes next."""
    return text.endswith(":") and _ANNOUNCED.search(text[-200:-1]) is not None


def find_headings(lines: Sequence[Line], start: int, quoted: Sequence[Quoted]) -> list[Heading]:
    """The lines that look like the heading of an article and do not stand in a quotation.

    Where the markup names headings, no other line counts; where there are headings outside of
    tables, those inside (of a table of correspondence, say) do not. After a doubtful Article 8a,
    an Article 8b is as doubtful.
    """
    by_markup = any(line.role == "heading" and not line.in_table for line in lines[start:])
    found: list[Heading] = []
    for at in range(start, len(lines)):
        line = lines[at]
        marked = line.role == "heading" and not line.in_table
        if quoted[at] == "yes" or (by_markup and not marked) or line.text[0] in OPENERS:
            continue
        following = lines[at + 1].text if at + 1 < len(lines) else ""
        if (heading := _heading(line.text, marked, following)) is None:
            continue
        key, rest, inline, numbering = heading
        doubtful = (
            quoted[at] == "perhaps"
            or (at > start and _announces(lines[at - 1].text))
            or (bool(key[1]) and bool(found) and found[-1].doubtful and found[-1].key[0] == key[0])
        )
        found.append(Heading(at, key, rest, inline, marked, numbering, doubtful))
    outside = [heading for heading in found if not lines[heading.at].in_table]
    return _one_numbering(outside or found)


def _one_numbering(found: Sequence[Heading]) -> list[Heading]:
    """The headings that are numbered as the first is; those of chapters are counted through."""
    same = [heading for heading in found if heading.numbering == found[0].numbering]
    if not (same and same[0].numbering == _OF_CHAPTERS):
        return same
    numbers = sorted({heading.key[0] for heading in same})
    counted = {number: place for place, number in enumerate(numbers, 1)}
    return [replace(one, key=(counted[one.key[0]], one.key[1])) for one in same]


def _heading(
    text: str, marked: bool, following: str
) -> tuple[tuple[int, str], str, bool, str] | None:
    """The number of an article, the text in the line of its heading, whether that counts, and
    which numbering this is."""
    if sole := _SOLE.match(text):
        rest = text[sole.end() :].strip()
        return ((1, ""), rest, bool(rest), "") if not rest or rest[0].isupper() else None
    if match := _HEADING.match(text):
        if not marked and following and _GOES_ON.match(following):
            return None  # a reference that a line break has cut: "Article 2 / of the Treaty"
        numbering = "rules" if match["word"].lower() == "rule" else _numbering(match)
        return _key(match), "", False, numbering
    if match := (_MARKED if marked else _INLINE).match(text):
        return _key(match), text[match.end() :].strip(), not marked, _numbering(match)
    return None


def _numbering(match: re.Match[str]) -> str:
    return _OF_CHAPTERS if match["in_chapter"] else ""
