"""What stands before an act and is none of its text: running heads, old pages' heads, covers.

An old page of EUR-Lex begins with its number, the title of the act and "Official Journal L 46 ,
21/02/1976 P. 0001 - 0011"; a consolidated text begins with a disclaimer, the title, and the acts
that amended it, and then says the title again. Who copies the whole page of the site has its menus
above the act, down to the heading "Text", and "Top" below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from labelwise.corpus.act_lines import Line
from labelwise.corpus.celex import CELEX, celex_in
from labelwise.corpus.page_marks import LANGUAGE, RUNNING_HEAD, page_marks

_NUMBER = CELEX.pattern + rf"(?:\s*[-—–]\s*{LANGUAGE}\b.*)?"
_REFERENCE = r"Official Journal\s*,?\s*(?:(?:No\s+)?[LCP]\s?)?\d+.{0,80}"
DISCLAIMER = re.compile(r"This (?:text|document) is meant purely as a documentation tool")
FURNITURE = re.compile(
    r"^(?:Avis juridique important|Important legal notice|European flag|\|"
    r"|P\d+_TA(?:-PROV)?\(\d{4}\)\d{4}"
    r"|Only the original UN/?ECE texts have (?:a )?legal effect.*"
    rf"|EUR-Lex\s*-\s*-\s*{LANGUAGE}"
    rf"|(?:EUR-Lex\s*-\s*|Document\s+)?(?:CELEX:?\s*)?{_NUMBER}|{RUNNING_HEAD}|{_REFERENCE}"
    rf"|{DISCLAIMER.pattern}.*)$"
)
_PAGE_REFERENCE = re.compile(
    r"^Official Journal (?:[LCP] )?\d+ ?, ?\d\d/\d\d/\d{4} P\. ?\d+ ?- ?\d+"
)
# The same heads where a text has lost its line breaks: the act follows in the line.
_OLD_HEAD = re.compile(
    rf"(EUR-Lex - {CELEX.pattern} - {LANGUAGE}) (?:(?:Avis juridique important|Important legal"
    rf" notice) )?(?:\| )?({CELEX.pattern}) (.{{1,3000}}?) ({_PAGE_REFERENCE.pattern[1:]}"
    r"(?:\s+\w+ special edition:? Chapter \d+ Volume \d+ P\. \d+)*+)\s+(?=\w)"
)
_NEW_HEAD = re.compile(rf"{RUNNING_HEAD}(?=\w)")
_HEAD = 10  # lines of an old page's head, at most
_NO_TITLE = re.compile(r"^(?:THE\s+[A-Z]|Having\s+regard|Whereas|HAS\s|HAVE\s|(?:Sole )?Article\b)")
_CONSOLIDATED = re.compile(
    rf"^(?:{DISCLAIMER.pattern}|CONSLEG:"
    r"|Consolidated (?:TEXT|text): |0(?:19|20)\d\d[A-Z]{1,2}\d{4}\s*[—–-]\s*[A-Z]{2}\b)"
)
_TITLE = re.compile(
    r"^(?:B\s+)?(?=(?:[^\W\d_]+\s+){0,6}?(?i:regulation|directive|decision|recommendation|guideline"
    r"|joint action|common position|rules of procedure|agreement|convention|protocol)\b)"
)
_AMENDMENT_MARK = re.compile(r"[►▼]\s?(?:[A-Z]{1,2}\d{0,3}\b)?|◄")
_COVER = 1500  # lines of a consolidated text's cover, at most
_SAME = 80  # letters and digits of a title that tell it from every other
# The last headings of the site's page before the text of the act.
_SITE = re.compile(
    r"^(?:Multilingual display|Languages, formats and link to OJ|Languages and formats available)$"
)
_MENUS = 400  # lines of menus, at most: a language each, and each format of it


def heads_apart(line: str) -> list[str]:
    """The heads of its page that a text begins with, each as a line, and what follows them.

    >>> heads_apart("7.2.2007 EN Official Journal of the European Union L 33/1 On figs Whereas")
    ['7.2.2007 EN Official Journal of the European Union L 33/1', 'On figs Whereas']
    """
    if old := _OLD_HEAD.match(line):
        return [*old.groups(), line[old.end() :]]
    new = _NEW_HEAD.match(line)
    if new and all(page_marks([new[0].rstrip(" |,")])):
        return [new[0].rstrip(" |,"), line[new.end() :]]
    return [line]


def celex_at_head(lines: Sequence[Line]) -> str | None:
    """The CELEX number that stands before the act on a line of its own."""
    for line in lines[: max(_HEAD, _end_of_menus(lines))]:
        if FURNITURE.match(line.text) and (found := celex_in(line.text)):
            return found
    return None


def without_site(lines: Sequence[Line]) -> list[Line]:
    """The act alone, where the page of the site was copied with its menus."""
    begin = _end_of_menus(lines)
    if not begin:
        return list(lines)
    tops = (at for at in range(len(lines) - 1, begin, -1) if lines[at].text == "Top")
    end = next(tops, 0)
    return list(lines[begin : end if len(lines) - end < _MENUS else len(lines)])


def _end_of_menus(lines: Sequence[Line]) -> int:
    """Where the act begins in the page of the site; 0 for any other text."""
    signs = [at for at, line in enumerate(lines[:_MENUS]) if _SITE.match(line.text)]
    if not signs:
        return 0
    after = range(signs[-1] + 1, min(len(lines), signs[-1] + _MENUS))
    return 1 + next((at for at in after if lines[at].text == "Text"), signs[-1])


def without_page_head(lines: Sequence[Line]) -> tuple[str, list[Line]]:
    """The title in the head of an old page, and the lines after that head.

    The title stays among the lines where the act does not say it again.
    """
    for at, line in enumerate(lines[:_HEAD]):
        if not _PAGE_REFERENCE.match(line.text):
            continue
        names = [one for one in lines[:at] if not FURNITURE.match(one.text)]
        rest = list(lines[at + 1 :])
        says_it_again = bool(rest) and not _NO_TITLE.match(rest[0].text)
        return " ".join(one.text for one in names), rest if says_it_again else [*names, *rest]
    return "", list(lines)


def without_cover(lines: Sequence[Line]) -> list[Line]:
    """A consolidated text without its first page, which ends where the title is said again."""
    signs = (at for at, line in enumerate(lines[:_HEAD]) if _CONSOLIDATED.match(line.text))
    sign = next(signs, None)
    if sign is None:
        return list(lines)
    cover = ""
    for at in range(sign, min(len(lines), _COVER)):
        named = _TITLE.match(lines[at].text)
        if named is None or FURNITURE.match(lines[at].text):
            continue
        title = _letters([lines[at].text[named.end() :], *(x.text for x in lines[at + 1 : at + 8])])
        if not cover:
            cover = title
        elif title == cover:
            return list(lines[at:])
    return list(lines)


def without_amendment_marks(text: str) -> str:
    """Without the marks that tell in a consolidated text which act each piece is from.

    >>> without_amendment_marks("▼M1 Nuts ►C1 are ◄ sold.")
    ' Nuts  are  sold.'
    """
    marked = "►" in text or "▼" in text or "◄" in text
    return _AMENDMENT_MARK.sub("", text) if marked else text


def _letters(lines: Sequence[str]) -> str:
    """The beginning of a title without blanks and capitals, as far as titles go."""
    text = " ".join(line[: 2 * _SAME] for line in lines)
    return re.sub(r"\W+", "", re.split(r"\(OJ|\(Text with|\bTHE (?=[A-Z]{4})", text)[0])[
        :_SAME
    ].casefold()
