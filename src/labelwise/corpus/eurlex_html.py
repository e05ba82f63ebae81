"""The HTML of EUR-Lex: the Official Journal, consolidated texts, old text-only and portal pages.

The text comes from the act alone: the head of a page (which names the gold subjects of old acts),
scripts, navigation, hidden elements, the running head of the Official Journal, and the disclaimer
and list of amendments of a consolidated text are left out. Marks of footnotes are dropped, and
the footnotes themselves come after the signature, before the annexes.

Where the page tells the parts of the act by ids (``art_1``), these decide; where it only has the
classes of headings (``oj-ti-art``, ``ti-art``, ``title-article-norm``), these do; else the text is
split by its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from labelwise.corpus.act_lines import Line, Part, Role
from labelwise.corpus.celex import celex_from_eli, celex_in, document_id, with_sector
from labelwise.corpus.covers import celex_at_head, without_amendment_marks, without_cover
from labelwise.corpus.decoding import clean, decode
from labelwise.corpus.document import Document
from labelwise.corpus.markup import LineBuilder, parse_xml, refuse_entities, walk, without_gaps
from labelwise.corpus.page_marks import celex_in_marks, without_page_marks
from labelwise.corpus.zones import ANNEX, FORMULA, no_act, split_lines, split_parts
from labelwise.errors import InputError

_SKIPPED = frozenset(
    str.split(
        "head script style noscript template nav header footer aside button select option textarea"
        " label legend iframe object svg canvas video audio input link meta title colgroup"
    )
)
_BLOCKS = frozenset(
    str.split(
        "address article blockquote body br caption center dd div dl dt fieldset figure form h1 h2"
        " h3 h4 h5 h6 hr html li main ol p pre section table tbody tfoot thead tr txt_te ul"
    )
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HIDDEN_CLASSES = frozenset({"hidden", "sr-only", "visually-hidden", "d-none", "invisible"})
_NAVIGATION = re.compile(
    r"^(?:ecl-(?:site-header|site-footer|footer|header|page-header|menu|mega-menu|breadcrumb"
    r"|navigation|inpage-navigation|language-list|search|skip-link|button|modal|cookie|social"
    r"|pagination|message|banner|icon|tag|date-block|file)\b.*"
    r"|toc-?(?:sidebar|wrapper|sidenav).*|toc-eli-subdivisions|breadcrumb.*|navbar.*|nav-tabs"
    r"|site-(?:header|footer).*|skip-link|cookie.*|globan.*|pagination|sidebar.*|footer.*"
    r"|pageshare|eurlexmenu|languageselector.*|lang-?selector.*)$",
    re.IGNORECASE,
)
_NAVIGATION_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar"})
_PORTAL = re.compile(
    r"\becl-[a-z]|PP[1-4]Contents|EurlexContent|eurlex-frontoffice|id=\"?MainContent", re.IGNORECASE
)
_CONTAINERS = ("document1", "docHtml", "text", "textTabContent", "PP4Contents")
_DROPPED_CLASSES = re.compile(
    r"^(?:hd-.*|reference|disclaimer|modref|arrow|title-doc-oj-reference|title-fam-member.*"
    r"|super-?note|note-tag)$"
)
_HEADING_CLASSES = frozenset({"ti-art", "title-article-norm", "title-article", "titrearticle"})
_NOTE_CLASSES = frozenset({"note", "footnote"})
_PARTS: tuple[tuple[re.Pattern[str], Part], ...] = (
    (re.compile(r"(?:tit|pbl|cit|rct)_[\w-]+"), "front"),
    (re.compile(r"enc_[\w-]+"), "enacting"),
    (re.compile(r"art_[\w() -]+"), "article"),
    (re.compile(r"fnp_[\w-]+"), "final"),
    (re.compile(r"anx_[\w() -]+"), "annex"),
)
_PART_TAGS = frozenset({"div", "section", "article", "td"})
_NOTE_MARK = re.compile(r"\(?\s*(?:\d{1,4}|[*†]+|[a-z]{1,2})\s*\)?")
_MARK_ELEMENTS = 30  # in the link of a footnote's mark; a link around a page is looked into no more
# From the first of the blanks before a bracket alone: from each of them, it would be quadratic.
_EMPTY_BRACKETS = re.compile(r"(?<!\s)\s*+\(\s*+\)")
# Never closed in some old pages, they nest deeper than the parser goes; they say nothing here.
_UNCLOSED = re.compile(r"</?(?:font|b|i|u|em|strong|big|small|tt)(?:\s[^<>]*)?>", re.IGNORECASE)
# Empty elements of XHTML, which a browser takes for open ones.
_EMPTY = re.compile(r"<(title|script|style|textarea|a|div|span|p|td)(\s[^<>]*)?/>", re.IGNORECASE)
_LONG_TAG = re.compile(r"(<[A-Za-z][\w:-]*+)([^<>]{5000,})")
_SEPARATORS = re.compile(r"[\s/=\"']")
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0e-\x1f]")
_DECLARATION = re.compile(r"^\s*<\?xml.*?\?>", re.DOTALL)
_NO_TEXT_TAG = re.compile(r"<(/?)(head|script|style)\b(?:\s*>)?", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")


def parse_html(data: bytes, name: str) -> Document:
    """A page from EUR-Lex as a document."""
    text = decode(data, name)
    root = _parse(text, name)
    body = next(_named(root, "body"), root)
    lines = _act_lines(body, text)
    if not lines:
        raise InputError("holds no text", file=name)
    act = without_page_marks(_without_cover(lines))
    split = split_parts(act) if _has_parts(act) else split_lines(act)
    if split is None and _PORTAL.search(text):
        raise InputError(
            "is a page of the EUR-Lex site without the text of an act: save the HTML that"
            ' "Languages, formats and link to OJ" offers there',
            file=name,
        )
    title, sections = split or no_act(act)
    celex = with_sector(_page_celex(root, lines), title)
    return Document(document_id(name, celex), title, sections)


def lines_of_page(data: bytes, name: str) -> list[Line]:
    """The lines of one page among several, such as a book has."""
    text = decode(data, name)
    root = _parse(text, name)
    return _act_lines(next(_named(root, "body"), root), text)


def _has_parts(lines: list[Line]) -> bool:
    """Whether ids tell the articles apart: all of them, not only some."""
    outside = (x for x in lines if x.part == "enacting" and x.role == "heading" and not x.in_table)
    return any(line.part == "article" for line in lines) and next(outside, None) is None


# The page as a tree -------------------------------------------------------------------------


def _parse(text: str, name: str) -> Any:
    """XHTML is read as XML where it is well-formed; everything else as a browser would."""
    refuse_entities(text, name)
    if text.lstrip("\ufeff \r\n\t").startswith("<?xml") or "www.w3.org/1999/xhtml" in text[:2000]:
        try:
            return parse_xml(text, name)
        except InputError:
            pass
    bare = _DECLARATION.sub("", _NO_CHARACTER.sub("", text.lstrip("\ufeff")), count=1)
    bare = _EMPTY.sub(r"<\1\2></\1>", _UNCLOSED.sub("", bare))
    bare = _LONG_TAG.sub(_with_few_attributes, bare)
    parser = lxml_html.HTMLParser(huge_tree=True, no_network=True, remove_pis=True)
    try:
        root = lxml_html.document_fromstring(bare, parser=parser)
        if any("depth" in entry.message for entry in parser.error_log):
            # Nested deeper than the parser goes: without its tags, the text can still be read.
            flat = _ANY_TAG.sub("<br>", _without_scripts(bare))
            root = lxml_html.document_fromstring(flat, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise InputError("holds no text", file=name) from error
    return root


def _with_few_attributes(tag: re.Match[str]) -> str:
    """A tag without its attributes where these are thousands, which the parser takes too long for:
    it compares each with all before it."""
    return tag[1] if len(_SEPARATORS.findall(tag[2])) > 1000 else tag[0]


def _without_scripts(text: str) -> str:
    """Without heads, scripts and styles, each up to the first end tag of its name.

    One that never ends is left as it is. Seen from the end, so that no end is looked for twice.
    """
    ends: dict[str, int] = {}  # the nearest end tag of each name
    cuts: list[tuple[int, int]] = []
    for tag in reversed(list(_NO_TEXT_TAG.finditer(text))):
        name = tag[2].lower()
        if tag[1] and tag[0].endswith(">"):
            ends[name] = tag.end()
        elif not tag[1] and name in ends:
            cuts.append((tag.start(), ends[name]))
    kept, at = [], 0
    for start, end in reversed(cuts):
        if start >= at:
            kept.append(text[at:start])
            at = end
    return "".join([*kept, text[at:]])


def _tag(element: Any) -> str:
    """The name in lower case, without the namespace of XHTML; empty for a comment."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _named(root: Any, name: str) -> Iterator[Any]:
    return (element for element in root.iter() if _tag(element) == name)


def _classes(element: Any) -> list[str]:
    """Class names in lower case; ``oj-`` and ``clg-`` before them only tell the age of a page."""
    names = (element.get("class") or "").lower().split()
    return [name.removeprefix("oj-").removeprefix("clg-") for name in names]


# From the tree to the lines of the act ----------------------------------------------------------


def _act_lines(body: Any, text: str) -> list[Line]:
    """The lines of the act, from the innermost element that is known to hold it all."""
    by_id = {element.get("id"): element for element in body.iter() if element.get("id")}
    text_only = by_id.get("TexteOnly")
    if text_only is None:
        text_only = next(_named(body, "txt_te"), None)
    if text_only is not None:
        return _text_only_lines(body, text_only)
    for name in _CONTAINERS:
        if name in by_id and _shows_act(_lines(by_id[name])[0]):
            body = by_id[name]
            break
    lines, elements = _lines(body)
    if _PORTAL.search(text):
        signs = [x for line, x in zip(lines, elements, strict=True) if _is_sign(line)]
        around = _common_ancestor(signs)
        narrowed = _lines(around)[0] if around is not None else []
        if narrowed and not _is_sign(narrowed[0]):  # it begins with the title
            lines = narrowed
    return lines


def _text_only_lines(body: Any, text_only: Any) -> list[Line]:
    """An old page: the act is in one element, unless a stray end tag closed it too early."""
    inside, _ = _lines(text_only)
    all_lines, elements = _lines(body)
    within = set(text_only.iter())
    places = [at for at, element in enumerate(elements) if element in within]
    after = all_lines[places[-1] + 1 :] if places else all_lines
    return inside + after if _shows_act(after) else inside


def _is_sign(line: Line) -> bool:
    return bool(
        line.part in {"enacting", "article", "final", "annex"}
        or line.role in {"heading", "annex"}
        or FORMULA.match(line.text)
        or ANNEX.match(line.text)
        or re.match(r"(?:Sole )?Article(?: \d+[a-z]?)?$|Done at [A-Z]|Having regard to", line.text)
    )


def _shows_act(lines: list[Line]) -> bool:
    return any(_is_sign(line) for line in lines)


def _common_ancestor(elements: list[Any]) -> Any | None:
    """The innermost element around all of these; around one alone, its parent."""
    if not elements:
        return None
    path = [elements[0], *elements[0].iterancestors()]
    levels = {element: level for level, element in enumerate(path)}  # 0 for the first itself
    shared = 0
    seen = set(path)
    for element in elements[1:]:
        above = element
        while above not in seen:  # what was seen leads to the path, and its level is known
            seen.add(above)
            above = above.getparent()
        shared = max(shared, levels.get(above, 0))
    if path[shared] in elements:
        shared += 1
    return path[shared] if shared < len(path) else None


def _without_cover(lines: list[Line]) -> list[Line]:
    """A consolidated text without its first page: reference, disclaimer, list of amendments.

    The first page repeats the title inside a table; the act itself begins at the title outside.
    Where no class names titles, the words do.
    """
    for at, line in enumerate(lines):
        if line.role == "title" and not line.in_table:
            return lines[at:]
        if line.part in {"enacting", "article"} or line.role == "heading":
            break
    return without_cover(lines)


def _lines(root: Any) -> tuple[list[Line], list[Any]]:
    """The visible lines under an element, and the element that each began in."""
    builder = LineBuilder(_tidy)
    roles: list[Role] = [""]
    parts: list[tuple[Part, int]] = [("", 0)]
    articles = tables = preformatted = 0
    cells: list[int] = []  # how many lines there were when each open cell began
    for step, element, text in walk(root, _is_left_out):
        if step == "text":
            for at, piece in enumerate(text.split("\n") if preformatted else [text]):
                if at:
                    builder.end_block()
                builder.add(piece, element, (roles[-1], *parts[-1], tables > 0))
            continue
        tag, classes = _tag(element), _classes(element)
        is_cell = tag in {"td", "th"} or any(c.startswith("grid-list-column") for c in classes)
        change = 1 if step == "start" else -1
        tables += change * (tag == "table")
        preformatted += change * (tag == "pre")
        if step == "start":
            roles.append(_role(classes) or roles[-1])
            part = _part(element, tag, parts[-1][0])
            articles += part == "article"
            parts.append((part, articles if part == "article" else 0) if part else parts[-1])
            if is_cell:
                cells.append(builder.begin_cell())
            elif tag == "tr":
                builder.end_block()
            elif tag in _BLOCKS:
                builder.begin_block()
        else:
            roles.pop()
            parts.pop()
            if is_cell:
                builder.end_cell(cells.pop())
            elif "no-parag" in classes:
                builder.glue()
            elif tag in _BLOCKS:
                builder.end_block()
    builder.flush()
    linked = _linked_both_ways(root)
    if not linked:
        return builder.lines, builder.elements
    known = dict.fromkeys(linked, True)
    lines = [
        replace(line, role="note") if not line.role and _begins_with(known, element) else line
        for line, element in zip(builder.lines, builder.elements, strict=True)
    ]
    return lines, builder.elements


def _linked_both_ways(root: Any) -> set[Any]:
    """The marks of footnotes: each links to the footnote, and the footnote links back to it."""
    marks = {
        name: mark
        for mark in _named(root, "a")
        if (name := mark.get("id") or mark.get("name")) and _is_note_mark(mark)
    }
    targets = {name: mark.get("href")[1:] for name, mark in marks.items()}
    return {mark for name, mark in marks.items() if targets.get(targets[name]) == name}


def _begins_with(known: dict[Any, bool], element: Any) -> bool:
    """Whether nothing stands in an element before a footnote's own mark.

    ``known`` holds the marks, and what was found of other elements: none is looked into twice.
    """
    passed = []
    while element not in known:
        passed.append(element)
        if (element.text or "").strip(" (\n\r\t\xa0") or not len(element):
            known[element] = False
        else:
            element = element[0]
    known.update(dict.fromkeys(passed, known[element]))
    return known[element]


def _tidy(text: str) -> str:
    """Without the marks of amendments, and the brackets that stood around a footnote's mark."""
    text = without_amendment_marks(text)
    return without_gaps(_EMPTY_BRACKETS.sub("", text) if "(" in text else text)


def _is_left_out(element: Any) -> bool:
    """Whether an element is furniture of the page, invisible, or the mark of a footnote."""
    tag = _tag(element)
    if tag in _SKIPPED or element.get("role") in _NAVIGATION_ROLES:
        return True
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if _HIDDEN.search(element.get("style") or ""):
        return True
    names = [*_classes(element), element.get("id") or ""]
    if any(
        name in _HIDDEN_CLASSES or _DROPPED_CLASSES.match(name) or _NAVIGATION.match(name)
        for name in names
    ):
        return True
    return tag == "a" and _is_note_mark(element)


def _is_note_mark(link: Any) -> bool:
    """Whether a link within the page shows nothing but a number or a star."""
    if not (link.get("href") or "").startswith("#"):
        return False
    if next(islice(link.iter(), _MARK_ELEMENTS, None), None) is not None:
        return False
    return _NOTE_MARK.fullmatch(clean("".join(link.itertext()))) is not None


def _role(classes: list[str]) -> Role:
    for name in classes:
        if name in _HEADING_CLASSES:
            return "heading"
        if name in _NOTE_CLASSES:
            return "note"
        if name.startswith("title-doc-"):
            return "title"
        if name.startswith("title-annex"):
            return "annex"
    return ""


def _part(element: Any, tag: str, around: Part) -> Part:
    """The part that begins at this element; an article or an annex has no parts of its own."""
    name = element.get("id")
    if not name or tag not in _PART_TAGS or around in {"article", "annex"}:
        return ""
    return next((part for pattern, part in _PARTS if pattern.fullmatch(name)), "")


def _page_celex(root: Any, lines: list[Line]) -> str | None:
    """The number that the page gives to itself; other acts are named in links and footnotes."""
    said: list[str] = []
    whole: Any = None  # the title or heading that the walk is in: those inside it say no more
    pieces: list[str] = []
    for step, element, text in walk(root, lambda _: False):
        if step == "text":
            pieces += [text] if whole is not None else []
            continue
        if step == "end":
            if element is whole:
                said.append("".join(pieces))
                whole, pieces = None, []
            continue
        tag = _tag(element)
        kind = (element.get("name") or element.get("property") or "").lower()
        if tag == "meta" and kind in {"dc.identifier", "wt.z_docid", "eli:id_local", "celex"}:
            said.append(element.get("content") or "")
        elif tag == "link" and (element.get("rel") or "").lower() == "canonical":
            said.append(element.get("href") or "")
        elif whole is None and (tag in {"title", "h1"} or "reference" in _classes(element)):
            whole = element
    found = [celex_in(text) for text in said] + [celex_from_eli(text) for text in said]
    found += [celex_in_marks(line.text for line in lines), celex_at_head(lines)]
    return next(filter(None, found), None)
