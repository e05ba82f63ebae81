"""Formex 4, the XML in which the Publications Office keeps acts.

Roots that hold an act or a piece of one: ``ACT``, ``CONS.ACT`` (consolidated), ``ANNEX`` (an annex
in a file of its own, all of it attachments), and a few kin (``GENERAL``, ``AGR``, ...), which are
split by their elements where they have them, else by their words. ``DOC`` only lists the files of
an act. Footnotes are taken out of the running text and come after the signature.
"""

from __future__ import annotations

from typing import Any

from labelwise.corpus.act_lines import Line, Part, Role
from labelwise.corpus.celex import CELEX, celex_from_number, document_id
from labelwise.corpus.decoding import clean, decode
from labelwise.corpus.document import Document
from labelwise.corpus.markup import LineBuilder, parse_xml, walk, without_gaps
from labelwise.corpus.zones import no_act, sections_of, split_lines, split_parts
from labelwise.errors import InputError

# What describes the file or lists other acts; its titles and numbers are not text of the act.
_LEFT_OUT = frozenset(
    str.split(
        "BIB.INSTANCE BIB.DATA BIB.DOC BIB.VOLUME BIB.OJ FAM.COMP INFO.CONSLEG INFO.PROD TOC"
        " CURR.TITLE PUBLICATION.REF DOCUMENT.REF GR.MOD.ACT GR.CORRIG PAGE.HEADER INCL.ELEMENT"
    )
)
_INLINE = frozenset(
    str.split(
        "HT DATE QUOT.START QUOT.END REF.DOC.OJ REF.DOC REF.DOC.SE REF.DOC.ECR REF.CCR REF.ECR.DOC"
        " REF.ART REF.PARAG REF.NP REF.ANNEX REFERENCE FT FULL.NAME IE EXPR FRACTION DIVIDEND"
        " DIVISOR IND EXPONENT OP.MATH OP.CMP OVER UNDER ROOT SUM INTEGRAL FMT.VALUE ABBREV ABB"
        " SURNAME FORENAME NO.CELEX NO.ECLI URI KEYWORD BR.CASE NO.CASE AGE.OJ NO.OJ YEAR COM"
    )
)
_LABELS = frozenset(
    {"NO.P", "NO.PARAG", "NO.GR.SEQ", "NO.CAT.GLOSS", "NO.ITEM", "NO.TBL", "PREFIX"}
)
_PARTS: dict[str, Part] = {
    "TITLE": "front",
    "PREAMBLE": "front",
    "ENACTING.TERMS": "enacting",
    "ARTICLE": "article",
    "FINAL": "final",
    "ANNEX": "annex",
    "CONS.ANNEX": "annex",
}


def parse_formex(data: bytes, name: str) -> Document:
    """A Formex file as a document."""
    root = parse_xml(decode(data, name), name)
    _strip_namespaces(root)
    _refuse_lists(root, name)
    lines, notes = _lines(root)
    if not lines:
        raise InputError(f"holds no text in its element {root.tag}", file=name)
    annotated = [*lines, *notes]
    celex = None  # of the act: an annex in a file of its own is another document
    if root.tag in {"ANNEX", "CONS.ANNEX"}:
        title = " ".join(_texts(root.find("TITLE"))) or lines[0].text
        sections = sections_of([("attachments", [line.text for line in annotated])])
    else:
        at = next((at for at, line in enumerate(lines) if line.part == "annex"), len(lines))
        has_parts = any(line.part in {"enacting", "article"} for line in lines)
        split = (
            split_parts([*lines[:at], *notes, *lines[at:]]) if has_parts else split_lines(annotated)
        )
        title, sections = split or no_act(annotated)
        celex = _celex(root, title)
    return Document(document_id(name, celex), title, sections)


def _strip_namespaces(root: Any) -> None:
    for element in root.iter():
        if isinstance(element.tag, str) and element.tag.startswith("{"):
            element.tag = element.tag.rpartition("}")[2]


def _refuse_lists(root: Any, name: str) -> None:
    """A table of parts or of contents says where the act is, and has none of its text."""
    if root.tag not in {"DOC", "PUBLICATION", "OJ"} or root.find(".//ENACTING.TERMS") is not None:
        return
    files = [ref.get("FILE") for ref in root.iter("REF.PHYS") if ref.get("FILE")]
    named = f" {', '.join(files[:4])}{' ...' if len(files) > 4 else ''}" if files else ""
    raise InputError(
        f"only lists the parts of an act (root element {root.tag}) and holds none of its text:"
        f" open the parts{named or ' that it names'} instead",
        file=name,
    )


def _lines(root: Any) -> tuple[list[Line], list[Line]]:
    """The lines of the text, and those of its footnotes."""
    main, notes = LineBuilder(without_gaps), LineBuilder(without_gaps)
    builder = main
    parts: list[tuple[Part, int]] = [("", 0)]
    roles: list[Role] = [""]
    articles = tables = quotations = capitals = 0
    cells: list[int] = []
    for step, element, text in walk(root, lambda child: child.tag in _LEFT_OUT):
        tag = element.tag
        if step == "text":
            shown = text.upper() if capitals else text
            builder.add(shown, element, (roles[-1], *parts[-1], tables > 0))
            continue
        change = 1 if step == "start" else -1
        quotations += change * (tag == "QUOT.S")
        tables += change * (tag == "TBL")
        capitals += change * (tag == "HT" and element.get("TYPE") == "UC")
        if step == "start":
            part = _part(tag, parts[-1][0]) if not quotations else ""
            articles += part == "article"
            parts.append((part, articles if part == "article" else 0) if part else parts[-1])
            roles.append("heading" if tag == "TI.ART" and not quotations else roles[-1])
            if tag == "NOTE":
                builder = notes
                roles[-1] = "note"
                parts[-1] = ("", 0)
            if tag in {"QUOT.START", "QUOT.END"}:
                mark = _quotation_mark(element)
                builder.add(mark, element, (roles[-1], *parts[-1], tables > 0))
            elif tag == "CELL":
                cells.append(builder.begin_cell())
            elif tag == "ROW":
                builder.end_block()
            elif tag not in _INLINE and tag != "NOTE":
                builder.begin_block()
        else:
            parts.pop()
            roles.pop()
            if tag == "NOTE":
                notes.flush()
                builder = main
            elif tag == "CELL":
                builder.end_cell(cells.pop())
            elif tag in _LABELS:
                builder.glue()
            elif tag not in _INLINE:
                builder.end_block()
    main.flush()
    return main.lines, notes.lines


def _part(tag: str, around: Part) -> Part:
    """The part that begins here: articles in annexes are annex, and titles of chapters are none."""
    if around in {"article", "annex"} or (tag == "TITLE" and around):
        return ""
    return _PARTS.get(tag, "")


def _quotation_mark(element: Any) -> str:
    """The mark that QUOT.START or QUOT.END stands for, by its code."""
    try:
        mark = chr(int(element.get("CODE") or "", 16))
        mark.encode()  # a code may name half a character
    except (ValueError, OverflowError):
        return "‘" if element.tag == "QUOT.START" else "’"
    return mark


def _texts(element: Any) -> list[str]:
    return [] if element is None else [line.text for line in _lines(element)[0]]


def _celex(root: Any, title: str) -> str | None:
    """The number of a consolidated act with its date, or the number given, or one put together."""
    consolidated = next(root.iter("INFO.CONSLEG"), None)
    if consolidated is not None:
        number = f"0{consolidated.get('CONSLEG.REF')}-{consolidated.get('START.DATE')}"
        if CELEX.fullmatch(number):
            return number
    for path in ("BIB.INSTANCE", "CONS.DOC/BIB.INSTANCE", "BIB.DOC"):
        about = root.find(path)
        if about is None:
            continue
        given = clean(about.findtext(".//NO.CELEX") or "")
        if CELEX.fullmatch(given):
            return given
        number = about.find(".//NO.DOC")
        if number is not None and (
            made := celex_from_number(
                title,
                clean(number.findtext("NO.CURRENT") or ""),
                clean(number.findtext("YEAR") or ""),
            )
        ):
            return made
    return None
