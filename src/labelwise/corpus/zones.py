"""From the lines of an act to its four zones, by the words that open and close them.

Every act of the European Communities and the Union is built the same way since 1958::

    COUNCIL REGULATION (EEC) No 1/73                                   header
    THE COUNCIL OF THE EUROPEAN COMMUNITIES,
    Having regard to the Treaty ... Whereas ...                        recitals
    HAS ADOPTED THIS REGULATION:
    Article 1 ... Article 2 ...                                        one section an article
    Done at Brussels, 3 March 1973. ... ANNEX ...                      attachments

As in EURLEX57K, the sections hold neither "HAS ADOPTED THIS ..." nor "Article 1" itself, the
titles of articles are part of their text, and the attachments begin with "Done at". A title such
as "CHAPTER II" stands at the head of the article that follows it. Page furniture (the running
head of the Official Journal, a CELEX number on a line of its own) is left out. Footnotes come
after the signature.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, chain

from labelwise.corpus.act_lines import Line
from labelwise.corpus.article_headings import Heading, find_headings, heading_rest, is_heading
from labelwise.corpus.article_sequence import in_sequence
from labelwise.corpus.contents import CONTENTS, table_of_contents
from labelwise.corpus.covers import FURNITURE
from labelwise.corpus.document import Section, SectionKind
from labelwise.corpus.enacting_bodies import body_and_recitals, ends_with_body
from labelwise.corpus.lost_lines import found_again
from labelwise.corpus.quotations import Quoted, quoted

# HAS ADOPTED THIS REGULATION:, HAVE DECIDED AS FOLLOWS:, HEREBY RECOMMENDS:, HAS LAID DOWN ...
_VERBS = (
    r"(?:ADOPT|DECIDE|AGREE|RECOMMEND|RESOLVE|LAY|LAID|DRAWN?|GIVEN?|DELIVER|ISSUE|INVITE|DECLARE"
    r"|AMEND|ESTABLISH|APPROVE|APPOINT|CONCLUDE|MADE|FORMULATE|ENACT|ORDER|AUTHORI[SZ]E|DETERMINE)"
)
_FORMULA_START = rf"(?:HAS|HAVE|HEREBY)\s+(?:HEREBY\s+|THEREFORE\s+)?{_VERBS}[A-Z]*\b"
FORMULA = re.compile(
    rf"^(?:{_FORMULA_START}[^a-z:]{{0,120}}|DECIDES?(?:\s+AS\s+FOLLOWS)?\s*(?=:)):?$"
    r"|^(?:(?:HAS|HAVE)\s+(?:HEREBY\s+)?(?:ADOPTED|DECIDED|AGREED)|AGREE)\b[^.;:]{0,80}:$"
    r"|^(?:has|have)\s+(?:hereby\s+)?(?:adopted|decided|agreed)\b[^.;]{0,80}:$"
    r"|^Has\s+(?:adopted|decided)\b[^.;]{0,80}$|^Have\s+(?:adopted|decided|agreed)\b[^.;]{0,80}$"
)
_FORMULA_AND_MORE = re.compile(rf"^({_FORMULA_START}[^a-z:]{{0,120}}:)\s*(?=\S)")
_DONE = re.compile(r"^(?:Done|DONE)\s+(?:at|At|AT|in|IN)\s+(?:the\s+)?[A-Z]")
RECITAL = re.compile(
    r"^(?:\(?1[.)]\s*|\([a-z]\)\s*)?(?=[A-Z])(?:"
    r"(?i:hav\w{2,6}\s+reg\w*d\s+to|having\s+(?:consulted|considered)"
    r"|whereas\b|acting\s+(?:on|in|unanimously|by)\b|on\s+(?:a|the)\s+(?:joint\s+)?proposal"
    r"|after\s+(?:consult|receiving|transmission)|considering\b|recalling\b|in\s+view\s+of\b"
    r"|desir(?:ing|ous)\b|recogni[sz]ing\b|noting\b|(?:aware|conscious|mindful)\s+of\b|bearing\s+in"
    r"|convinced\b|determined\b|taking\s+(?:into|note|account)|reaffirming\b|acknowledging\b|with\s+the\s+(?:approval|assent)\b)"
    # RECALLING that, MINDFUL of, RESOLVED to: what the parties to an agreement have in mind
    r"|(?:ALSO\s|FURTHER\s)?[A-Z]{3,}(?:ING|ED|FUL|OUS)\b,?\s+(?=[a-z]))"
)
ANNEX = re.compile(
    r"^(?:TECHNICAL\s+)?(?:ANNEX|APPENDIX)(?:ES)?(?:\s+(?:[IVXLC]+|[A-Z]|\d+)(?:\s?[A-Za-z])?)?"
    r"(?:\s*[.:—–-].{0,150})?$|^Annex(?:es)?(?:\s+(?:[IVXLC]+|[A-Z]|\d+))?$"
)
_DIVISION = re.compile(
    r"^(?:TITLE|CHAPTER|SECTION|SUBSECTION|PART|Title|Chapter|Section|Subsection|Part)"
    r"\s+(?:[IVXLC]+|\d+|[A-Z])(?:\s?[a-z])?\b(?!\s+(?:of|to|shall|is|are|and)\b).{0,150}$"
)
_BINDING = re.compile(r"^This\s+\w+(?:\s\w+)?\s+(?:shall\s+be|is)\s+binding\s+in\s+its\s+entirety")
FOOTNOTE = re.compile(
    r"^\(\s?(?:\d{1,3}|\*\d{0,3})\s?\)\s*(?:OJ\s+(?:No\s+)?[LC]\b|See\s|.*\(OJ\s+(?:No\s+)?[LC]\s?\d)"
)
# Where one line of the file holds what belongs on several. It begins with a blank, so that the
# search looks at blanks alone.
_BREAKS = re.compile(
    r"\s(?:"
    r"(?<=\S\s)(?<!\bOF\s)(?<!\bAND\s)\s*"
    r"(?=THE\s[A-Z][A-Z ,]{4,150}[,.;]?\s+(?:Having\s+regard|Whereas)\b)"
    # RECALLING that, BEARING IN MIND the: what parties to an agreement begin their recitals with
    r"|(?<=[,;:]\s)\s*(?=(?:[A-Z]{3,}(?:ING|ED|FUL|OUS)|AWARE|WHEREAS)"
    r"(?:\s[A-Z]{2,}){0,3},?\s+[a-z]|Whereas:\s)"
    rf"|(?<=\S\s)\s*(?={_FORMULA_START}[^a-z]{{0,60}}:)"
    r"|(?<=:\s)\s*(?=(?:Sole\s+)?(?:Article|ARTICLE)\b)"
    r"|(?<=[.;:)]\s)\s*(?=Done at [A-Z][a-z]+)"
    r"|(?<=[.;:’'”\"`)]\s)\s*(?=Article\s+\d{1,3}\s+(?:[A-Z][a-z]+|\d+\.)\s)"
    r"|(?<=[.;]\s)\s*(?=Article\s+\d{1,3}$)"
    r")"
)
# An entry of a table of contents, or the number of its page.
_ENTRY = re.compile(
    r"^(?:Article|ARTICLE|Rule|RULE|Annex|ANNEX|TITLE|CHAPTER|SECTION|PART|Title|Chapter|Section"
    r"|Part)\b|^[\divxIVX]+$"
)
_THE = re.compile(r"^(?:THE|The)\s")
# The part of the Official Journal that an act stands in, on the first page of the printed one.
_PART_OF_JOURNAL = re.compile(
    r"^(?:[IVX]{1,4}|[IVX]{0,4}\s?\*?\((?:Legislative|Non-legislative|Preparatory|Acts|Information"
    r"|Notices|Announcements|Resolutions)\b[^()]{0,150}\)|(?:REGULATIONS|DIRECTIVES|DECISIONS"
    r"|RECOMMENDATIONS|GUIDELINES|RESOLUTIONS|INTERNATIONAL AGREEMENTS"
    r"|ACTS ADOPTED BY BODIES CREATED BY INTERNATIONAL AGREEMENTS))$"
)
_MEMORANDUM = re.compile(r"^(?:EXPLANATORY MEMORANDUM|Explanatory memorandum)$")
_PROPOSAL = re.compile(r"^(?:(?:Amended|Joint) )?proposal for an?\b", re.I)
_LABEL = re.compile(r"^\(?\w{1,3}[.)]$")  # the number of a recital on a line of its own
_PREAMBLE = re.compile(r"^(?:PREAMBLE|Preamble)$")
# What follows the title of an agreement: who agrees, as in "THE KINGDOM OF BELGIUM,".
_PARTY = re.compile(
    rf"{_PREAMBLE.pattern}|^THE\s|^The\s.*(?:,$|\b(?:hereinafter|hereafter|[Pp]arties)\b)"
    r"|^\W*hereinafter\b"
)
# A title that goes on in the next line: "BETWEEN THE EUROPEAN UNION AND / THE SWISS CONFEDERATION".
_JOINS = re.compile(r"(?i:\b(?:and|between|by|concerning|for|from|in|of|on|to|with))$")
_NO_ACT_TITLE = 300  # characters
_BEFORE_BODY = 40  # lines that a title has, at most
_TITLE_LENGTH = 1500  # characters; titles of acts are shorter, a missing enacting body is not


def no_act(lines: Sequence[Line]) -> tuple[str, tuple[Section, ...]]:
    """Text that is no act: one section; a short first line is taken for the title as well, with
    the lines that go on with a small letter ("COUNCIL RESOLUTION / of 3 March 2021 / on figs")."""
    head = next((at for at, line in enumerate(lines) if not FURNITURE.match(line.text)), 0)
    lines = lines[head:]
    texts = [line.text for line in lines]
    title = texts[0] if len(texts) > 1 and len(texts[0]) <= _NO_ACT_TITLE else ""
    end = next((at for at, text in enumerate(texts) if at and not text[0].islower()), 1)
    whole = " ".join(texts[:end])
    if len(whole) <= _NO_ACT_TITLE and end < len(texts) and not title.endswith((".", ":", ";")):
        title = whole
    return title, sections_of([("article", texts)])


def split_lines(lines: Sequence[Line]) -> tuple[str, tuple[Section, ...]] | None:
    """The title and the sections of an act, or None where nothing shows that this is one."""
    notes = [line.text for line in lines if line.role == "note"]
    lines = [
        Line(piece, line.role if first else "", in_table=line.in_table)
        for line in lines
        if line.role != "note"
        for first, piece in _pieces(line.text)
    ]
    if lines and (lines[0].role == "annex" or ANNEX.match(lines[0].text)):
        return lines[0].text, sections_of([("attachments", [*(x.text for x in lines), *notes])])

    formula = _find_formula(lines)
    start = formula + 1 if formula is not None else 0
    in_quotation = quoted([line.text for line in lines], end=_DONE)
    candidates = find_headings(lines, start, in_quotation)
    if listed := table_of_contents(lines, start, candidates):
        listed = range(listed.start, _division_before(lines, listed, candidates))
        notes += [lines[at].text for at in listed]
        lines = [*lines[: listed.start], *lines[listed.stop :]]
        in_quotation = quoted([line.text for line in lines], end=_DONE)
        candidates = find_headings(lines, start, in_quotation)
    end = _body_end(lines, start, in_quotation, candidates)
    chosen = in_sequence([found for found in candidates if found.at < end])
    if end == len(lines) and chosen:
        end = _footnotes(lines, chosen[-1].at + 1)
    marked = any(found.marked for found in chosen)
    alone = any(not found.inline for found in chosen)
    first_is_one = bool(chosen) and chosen[0].key <= (1, "") and len(chosen) > 1
    signs = (
        formula is not None,
        marked or alone or first_is_one,
        any(RECITAL.match(line.text) for line in lines[:end]) and end < len(lines),
        _names_body(lines[:end]),
    )
    if not any(signs):
        return None

    front = [line.text for line in lines[: formula if formula is not None else end]]
    articles: list[list[str]] = []
    if chosen:
        before = [line.text for line in lines[start : chosen[0].at]]
        if formula is None:
            front, before = before, []
        ends = [found.at for found in chosen[1:]] + [end]
        for found, stop in zip(chosen, ends, strict=True):
            rest = [found.rest] if found.rest else []
            articles.append(rest + [line.text for line in lines[found.at + 1 : stop]])
        _move_divisions(front, before, articles)
    elif formula is not None:
        articles = [[line.text for line in lines[start:end]]]
    attachments = [line.text for line in lines[end:]]
    return _act(front, articles, with_notes(attachments, notes))


def split_parts(lines: Sequence[Line]) -> tuple[str, tuple[Section, ...]] | None:
    """The title and the sections of an act whose markup says where each line stands."""
    body = [at for at, line in enumerate(lines) if line.part in {"enacting", "article"}]
    first = body[0]
    # A second text may follow the signature, with articles of its own.
    after = (at for at, line in enumerate(lines) if at > first and line.part in {"final", "annex"})
    end = next(after, body[-1] + 1)
    last = max(at for at in body if at < end)

    articles: dict[int, list[str]] = {}
    pending: list[str] = []  # chapter headings wait for their article
    notes = [x.text for x in lines[: last + 1] if x.role == "note" and x.part != "article"]
    for line in lines[first : last + 1]:
        if line.part != "article":
            pending += [] if line.role == "note" or FORMULA.match(line.text) else [line.text]
            continue
        if line.article not in articles:
            articles[line.article], pending = pending, []
            rest = heading_rest(line)
            if rest is not None:
                articles[line.article] += [rest] if rest else []
                continue
        articles[line.article].append(line.text)
    bodies = [*articles.values()] or [[]]
    bodies[-1] += pending

    tail = lines[last + 1 :]
    annex = next((at for at, line in enumerate(tail) if _begins_annex(line)), len(tail))
    closing = [line.text for line in tail[:annex] if line.role != "note"]
    notes += [line.text for line in tail[:annex] if line.role == "note"]
    done = next((at for at, text in enumerate(closing) if _DONE.match(text)), None)
    if done is None:
        done = 1 if closing and _BINDING.match(closing[0]) else 0
    bodies[-1] += closing[:done]  # "This Regulation shall be binding ..."
    front = [line.text for line in lines[:first] if line.role != "note"]
    annexes = [line.text for line in tail[annex:]]
    return _act(front, bodies, with_notes([*closing[done:], *annexes], notes))


def _begins_annex(line: Line) -> bool:
    return line.part in {"annex", "enacting", "article"} or line.role == "annex"


def _act(
    front: Sequence[str], articles: Sequence[Sequence[str]], attachments: Sequence[str]
) -> tuple[str, tuple[Section, ...]] | None:
    """The sections of these zones; None where none of them has any text."""
    front, memorandum = _memorandum_apart(front)
    front, contents = _contents_apart(front)
    title, header, recitals = split_front(front)
    attachments = with_notes(attachments, [*memorandum, *contents])
    zones: list[tuple[SectionKind, Sequence[str]]] = [("header", header), ("recitals", recitals)]
    zones += [("article", article) for article in articles]
    zones.append(("attachments", attachments))
    sections = sections_of(zones)
    return (title, sections) if sections else None


def _memorandum_apart(lines: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The act that is proposed, and what stands before it: a cover and why it is proposed."""
    begin = next((at for at, line in enumerate(lines) if _MEMORANDUM.match(line)), len(lines))
    proposals = (at for at in range(len(lines) - 1, begin, -1) if _PROPOSAL.match(lines[at]))
    at = next(proposals, 0)
    return lines[at:], lines[:at]


def _contents_apart(lines: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What stands before the first article, and the table of contents in it.

    It goes on, and the title that is said again after it, up to the body that enacts or the first
    of the parties.
    """
    begin = next((at for at, line in enumerate(lines) if CONTENTS.match(line)), len(lines))
    recitals = (at for at in range(begin, len(lines)) if RECITAL.match(lines[at]))
    end = next(recitals, len(lines))
    entries = (at for at in range(end - 1, begin, -1) if _ENTRY.match(lines[at]))
    last = next(entries, begin)
    end = next((at for at in range(last + 1, end) if _THE.match(lines[at])), end)
    return [*lines[:begin], *lines[end:]], lines[begin:end]


def split_front(lines: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The title, the header and the recitals, from all that stands before the first article."""
    kept: list[str] = []
    for line in lines:
        kept += body_and_recitals(line) or [line]
    kept = [line for line in kept if not FORMULA.match(line)]
    body = next((at for at, line in enumerate(kept) if ends_with_body(line)), None)
    if body is not None and any(RECITAL.match(line) for line in kept[:body]):
        body = None  # "THE COUNCIL HAS AGREED" at the end of the recitals of an agreement
    after = 0 if body is None else body + 1
    recitals_in = (at for at, line in enumerate(kept) if at >= after and RECITAL.match(line))
    preamble = (at for at, line in enumerate(kept) if _PREAMBLE.match(line))
    start = next(recitals_in, next(preamble, len(kept)) if body is None else after)
    if body is None:
        body = start
    if start - 1 > body and _LABEL.match(kept[start - 1]):
        start -= 1
    if body < start:
        kept[start - 1] = kept[start - 1].rstrip(" ,;")
    names = [line for line in kept[:body] if not FURNITURE.match(line)]
    names = names[next((at for at, x in enumerate(names) if not _PART_OF_JOURNAL.match(x)), 0) :]
    header, recitals = names + kept[body:start], kept[start:]
    parties = (
        at
        for at in range(1, len(names))
        if _PARTY.match(names[at]) and not _JOINS.search(names[at - 1])
    )
    title = names[: next(parties, len(names))]
    return " ".join(title or header)[:_TITLE_LENGTH], header, recitals


def with_notes(attachments: Sequence[str], notes: Sequence[str]) -> list[str]:
    """Footnotes come after the signature and before the annexes, as in the Official Journal."""
    annex = next((at for at, line in enumerate(attachments) if ANNEX.match(line)), None)
    at = len(attachments) if annex is None else annex
    return [*attachments[:at], *notes, *attachments[at:]]


def sections_of(zones: Sequence[tuple[SectionKind, Sequence[str]]]) -> tuple[Section, ...]:
    """One section a zone, its blocks on lines of their own; empty zones are dropped."""
    texts = ((kind, "\n".join(lines).strip()) for kind, lines in zones)
    return tuple(Section(kind, text) for kind, text in texts if text)


def _pieces(text: str) -> list[tuple[bool, str]]:
    """The line, broken where it runs from the recitals into the articles and so on."""
    pieces: list[str] = []
    broken = (_BREAKS.split(line) if len(line) > 20 else [line] for line in found_again(text))
    for piece in chain.from_iterable(broken):
        formula = _FORMULA_AND_MORE.match(piece)
        pieces += [formula[1], piece[formula.end() :]] if formula else [piece]
    return [(at == 0, piece) for at, piece in enumerate(pieces) if piece]


def _names_body(lines: Sequence[Line]) -> bool:
    """Whether the body that enacts and the first recital show an act that goes no further: one
    without articles, such as a resolution, or only the beginning of one."""
    texts = [line.text for line in lines[:_BEFORE_BODY]]
    return any(
        body_and_recitals(text)
        # the number of a recital may stand on a line of its own
        or (ends_with_body(text) and any(map(RECITAL.match, texts[at + 1 : at + 3])))
        for at, text in enumerate(texts)
    )


def _find_formula(lines: Sequence[Line]) -> int | None:
    """Where "HAS ADOPTED THIS ..." stands: the first one that an article follows, or the first.

    A consolidated act has no such line, while an agreement in its annex may: a formula does not
    count after an article that has text. (In a table of contents, the next line is short.)
    """
    formulas: list[int] = []
    for at, line in enumerate(lines):
        if FORMULA.match(line.text):
            formulas.append(at)
        elif not line.in_table and is_heading(line):
            if formulas and at - formulas[-1] < 8:
                return formulas[-1]
            if not formulas and at + 1 < len(lines) and len(lines[at + 1].text) > 80:
                return None
    return formulas[0] if formulas else None


def _body_end(
    lines: Sequence[Line], start: int, in_quotation: Sequence[Quoted], candidates: Sequence[Heading]
) -> int:
    """Where the articles end: at "Done at ...", at an annex, or at a second text's Article 1."""
    begin = candidates[0].at if candidates and not start else start
    done = len(lines)
    # "Article 80 / Annexes / The Annexes are part of this Agreement."
    headings = {found.at for found in candidates if not found.rest}
    annexes: list[int] = []
    for at in range(begin, len(lines)):
        if in_quotation[at] != "no":
            continue
        if _DONE.match(lines[at].text):
            done = at
            break
        if lines[at].role == "annex" or (
            ANNEX.match(lines[at].text)
            and not (lines[at].in_table or at == begin or at - 1 in headings)
        ):
            annexes.append(at)
    places = [found.at for found in candidates]
    highest = [0, *accumulate((found.key[0] for found in candidates), max)]
    for annex in annexes:
        following = bisect_left(places, annex)
        goes_on = following < len(places) and places[following] < done
        if not (goes_on and candidates[following].key[0] == highest[following] + 1):
            return annex
    numbers = [found.key[0] for found in candidates]
    for place, found in enumerate(candidates[1:], 1):
        restarts = numbers[place - 1] >= 2 and numbers[place : place + 2] == [1, 2]
        if restarts and done == len(lines):
            return found.at
    return done


def _division_before(lines: Sequence[Line], listed: range, headings: Sequence[Heading]) -> int:
    """Where the table of contents ends: before "CHAPTER I" and its title, which its last lines may
    be, since they stand before the first article."""
    entries = {found.at for found in headings}
    ends = (at for at in reversed(listed) if at in entries or ANNEX.match(lines[at].text))
    if (last := next(ends, None)) is None:  # a table of chapters alone
        return listed.stop
    return listed.stop - _division_at_end([lines[at].text for at in range(last, listed.stop)])


def _footnotes(lines: Sequence[Line], start: int) -> int:
    """Where the footnotes begin that stand at the very end, after the last article."""
    at = len(lines)
    while at > start and FOOTNOTE.match(lines[at - 1].text):
        at -= 1
    return at


def _move_divisions(front: list[str], before: list[str], articles: list[list[str]]) -> None:
    """Put "CHAPTER II" and its title at the head of the article that follows."""
    articles[0][:0] = before
    for text, following in zip([front, *articles], articles, strict=False):
        if back := _division_at_end(text):
            following[:0] = text[-back:]
            del text[-back:]


def _division_at_end(text: Sequence[str]) -> int:
    """How many of the last lines are "CHAPTER II" and its title; 0 where there is no such."""
    for back in range(min(len(text) - 1, 8), 0, -1):
        tail = text[-back:]
        if _DIVISION.match(tail[0]) and all(
            len(line) < 200 and not line.endswith((".", ";", ":")) for line in tail
        ):
            return back
    return 0
