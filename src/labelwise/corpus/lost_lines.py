"""Lines that a text has lost: paragraphs run together, as in copies of old pages of EUR-Lex.

"... on the environmentTHE COUNCIL,Having regard to ...,HAS ADOPTED THIS DIRECTIVE:Article 1Scope1.
Plans shall be ..." has no blank where a line ended. A reference to an article always has one
before it, so that a heading is known; where number and paragraph ran together ("Article 121."),
the number that comes next tells them apart.
"""

from __future__ import annotations

import re
from itertools import pairwise

_LONG = 400  # characters; a shorter line is a paragraph
_RUN_TOGETHER = re.compile(
    r"[a-z.,;:)](?:Article \d|Having regard to|Whereas[ :]|HA(?:S|VE) (?:ADOPTED|AGREED|DECIDED)"
    r"|Done at [A-Z])"
)
_FORMULA = re.compile(r"HA(?:S|VE) (?:ADOPTED|AGREED|DECIDED)[^:]{0,100}:")
_ARTICLE = re.compile(r"(?:Article|ARTICLE) (\d{1,4})")
_ANNEX = re.compile(
    r"(?<=[^\s(‘'\"“«/-])(?:ANNEX(?:ES)?(?: (?:[IVXL]++|\d{1,2}|[A-Z]))?"
    r"|(?<=[.;>])Annex (?:[IVXL]++|\d{1,2}|[A-Z]))(?=[A-Z][A-Za-z])"
)
_AFTER_NUMBER = re.compile(r"\s?[.:]?\s?(?:[A-Z\"‘“]|\d{1,2}\s?\.\s)|\s\(\d{1,2}\)\s[A-Z]|\s*$")
_REFERS = re.compile(
    r"(?i:\b(?:of|in|to|under|and|by|with|see|or|from|on|for|the|that|this|per|than|paragraph)"
    r"|[,(])\s*$"
)
_OPENING = "([‘'\"“«/-–—"
_LOST = re.compile(
    r"(?<=\S)(?=[A-Z(\d\"‘“])(?:"
    # parts of an act, and headings
    r"(?<=[^(‘'\"“«/-])(?=Having regard to|Whereas[ :]|Acting in accordance"
    r"|HA(?:S|VE) (?:ADOPTED|AGREED|DECIDED)|HEREBY |Done at [A-Z]|ANNEX\b|CHAPTER [IVX\d]"
    r"|(?:SECTION|TITLE|PART) [IVX\d])"
    r"|(?<=[a-z\d)C])(?=THE [A-Z]{3})"
    # paragraphs, points and quotations
    r"|(?<=[,;])(?=[A-Z][A-Za-z]{3,} )|(?<=[a-z]{2})(?=[A-Z][a-z]+ )"
    r"|(?<=[a-z)][.;])(?=[A-Z][a-z]* )"
    r"|(?<=[a-z.;:)])(?=\d{1,2}\. [A-Z])|(?<=[.,;:])(?=\((?:\d{1,3}|[a-z]{1,2}|[ivx]{3,4})\) )"
    r"|(?<=:)(?=[\"‘“](?:Article|\d|\()))"
    # the body that enacts, and the date of an act in its title
    r"|(?=THE )(?<=[a-z\d)] )(?=THE [A-Z][A-Z ,]{4,150}[,.;]\s?(?:Having|Whereas|\())"
    r"|(?=of \d)(?<=[A-Za-z)])(?=of \d{1,2} [A-Z][a-z]{2,8} \d{4})|(?<=[a-z] \d{4})(?=[a-z]{2})"
)


def found_again(line: str) -> list[str]:
    """The lines that were run together into this one; the line itself where it is a paragraph.

    >>> text = "Whereas nuts keep badly,HAS ADOPTED THIS DECISION:Article 1ScopeNuts are sold."
    >>> found_again(text + "Article 2Husks are burnt, as in Article 3." + " Nuts." * 60)[2:5]
    ['Article 1', 'Scope', 'Nuts are sold.']
    """
    if len(line) < _LONG:
        return [line]
    headings = _cuts(line)
    if len(_RUN_TOGETHER.findall(line)) < 2 and len(headings) < 6:  # two cuts a heading
        return [line]
    headings += [end for annex in _ANNEX.finditer(line) for end in annex.span()]
    cuts = sorted({0, len(line), *(lost.start() for lost in _LOST.finditer(line)), *headings})
    pieces = (line[start:end].strip() for start, end in pairwise(cuts))
    return [piece for piece in pieces if piece]


def _cuts(line: str) -> list[int]:
    """Where the heading of an article begins, and where its number ends."""
    cuts: list[int] = []
    expected = 1
    formula = _FORMULA.search(line)
    for found in _ARTICLE.finditer(line, formula.end() if formula else 0):
        at, end = found.start(), found.end()
        run_together = at > 0 and not line[at - 1].isspace() and line[at - 1] not in _OPENING
        number, next_number = found[1], str(expected)
        if number != next_number and number.startswith(next_number) and line[end : end + 1] == ".":
            end = found.start(1) + len(next_number)  # "Article 121." is Article 12, paragraph 1
        elif not _AFTER_NUMBER.match(line, end):
            continue
        number = line[found.start(1) : end]
        if run_together or (
            number == next_number and not _REFERS.search(line, max(0, at - 12), at)
        ):
            cuts += [at, end]
            expected = int(number) + 1
    return cuts
