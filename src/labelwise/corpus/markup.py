"""What the readers of HTML and of Formex share: telling them apart, safe XML, lines from a tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.entities import name2codepoint
from typing import Any, Literal

from lxml import etree

from labelwise.corpus.act_lines import Line, Part, Role
from labelwise.corpus.decoding import clean, decode
from labelwise.errors import InputError

_PROLOG = re.compile(
    r"(?:\s+|\ufeff|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*(?:\[.*?\]\s*)?>)*", re.DOTALL | re.I
)
_ROOT = re.compile(r"<([A-Za-z][\w.:-]*)")
_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body|txt_te)\b", re.IGNORECASE)
_HTML_TAGS = frozenset(
    str.split(
        "a article b base body br center div font h1 h2 h3 h4 h5 h6 head hr html i img link main"
        " meta p pre script section span strong style table title txt_te ul"
    )
)
_DECLARED_ENTITY = re.compile(r"<!ENTITY", re.IGNORECASE)
_REFERENCE = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_TYPE = re.compile("<!DOCTYPE", re.IGNORECASE)
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_XML_DECLARATION = re.compile(r"^\s*<\?xml.*?\?>", re.DOTALL)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def sniff(data: bytes) -> Literal["html", "formex", "text"]:
    """What a file holds, by its content alone: names of files from EUR-Lex are unreliable.

    >>> sniff(b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>')
    'html'
    >>> sniff(b'<?xml version="1.0"?><ACT><TITLE/></ACT>'), sniff(b"COUNCIL REGULATION ...")
    ('formex', 'text')
    """
    try:
        head = decode(data[:8000], "")
    except InputError:
        return "text"
    prolog = _PROLOG.match(head)
    start = prolog.end() if prolog else 0
    root = _ROOT.match(head, start)
    if root is None:
        return "html" if _HTML.search(head) else "text"
    name = root[1]
    if name.lower() in _HTML_TAGS or _HTML.search(head, 0, root.end()):
        return "html"
    if "<?xml" in head[:start] or name.isupper():
        return "formex"
    return "html" if _HTML.search(head) else "text"


def refuse_entities(text: str, name: str) -> None:
    """Entities of a file's own can read other files, or fill the memory: no act needs them."""
    prolog = text[: root.start()] if (root := _ROOT.search(text)) else text
    if found := _DECLARED_ENTITY.search(prolog):
        raise InputError(
            "declares XML entities of its own, which are not accepted: remove the declarations",
            file=name,
            line=prolog.count("\n", 0, found.start()) + 1,
        )


def _character(reference: re.Match[str]) -> str:
    """The character that HTML names like this, such as ``&nbsp;``, which XML does not know."""
    code = name2codepoint.get(reference[1])
    return reference[0] if reference[1] in _OF_XML or code is None else chr(code)


def _without_type(text: str) -> str:
    """The text without its declaration of a type: the first, for a file has no other."""
    at = _TYPE.search(text)
    declared = _DOCTYPE.match(text, at.start()) if at else None
    return text[: declared.start()] + text[declared.end() :] if declared else text


def parse_xml(text: str, name: str) -> Any:
    """The root element. Nothing outside the text is ever read, and no entity is expanded."""
    refuse_entities(text, name)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, remove_pis=True
    )
    bare = _without_type(_XML_DECLARATION.sub("", text.lstrip("\ufeff"), count=1))
    bare = _REFERENCE.sub(_character, _NOT_XML.sub("", bare))
    try:
        root = etree.fromstring(bare, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        told = " ".join(str(error).split())  # it may hold lines of the file
        raise InputError(f"is not well-formed XML ({told})", file=name, line=line) from error
    return root


def local_name(element: Any) -> str:
    """The name without its namespace; empty for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


_GAP = re.compile(r" +(?=[,;.:](?:\s|$))")


def without_gaps(text: str) -> str:
    """Clean, and with no blank before a comma or a full stop, where a footnote's mark was."""
    return _GAP.sub("", clean(text))


Step = tuple[Literal["start", "text", "end"], Any, str]
"""Where a walk through a tree stands: a step, its element, and the text of a text step."""


def walk(root: Any, is_left_out: Callable[[Any], bool]) -> Iterator[Step]:
    """The elements and texts under ``root`` in the order of the page, however deep it is.

    Of comments and of elements that are left out, only the text after them is seen.
    """
    yield "start", root, ""
    yield "text", root, root.text or ""
    open_elements = [(root, iter(root))]
    while open_elements:
        element, children = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            yield "end", element, ""
            if open_elements:
                yield "text", open_elements[-1][0], element.tail or ""
        elif not isinstance(child.tag, str) or is_left_out(child):
            yield "text", element, child.tail or ""
        else:
            open_elements.append((child, iter(child)))
            yield "start", child, ""
            yield "text", child, child.text or ""


Where = tuple[Role, Part, int, bool]
"""What is known of a line: its role, part and article, and whether it stands in a table."""


class LineBuilder:
    """Collects the text of a tree into lines, while the reader walks through it.

    A break takes effect when the next text arrives, so that it can still be taken back: a label
    such as "(a)" is glued to the text that follows, and so are the cells of a table's row.
    """

    def __init__(self, tidy: Callable[[str], str]) -> None:
        self.lines: list[Line] = []
        self._tidy = tidy
        self.elements: list[Any] = []  # the element that each line began in
        self._pieces: list[str] = []
        self._break = self._glued = False
        self._where: Where = ("", "", 0, False)
        self._element: Any = None

    def add(self, text: str, element: Any, where: Where) -> None:
        """Text that stands in ``element``."""
        if not text.strip():
            if self._pieces:
                self._pieces.append(text)
            return
        if self._break:
            self.flush()
        if not self._pieces:
            self._where, self._element = where, element
        self._pieces.append(text)
        self._break = self._glued = False

    def begin_block(self) -> None:
        """The next text begins a line, unless it is glued to this one."""
        if not self._glued:
            self._break = True

    def end_block(self) -> None:
        """The next text begins a line."""
        self._break, self._glued = True, False

    def begin_cell(self) -> int:
        """How many lines there are before this cell: with ``end_cell``, whether it has its own."""
        if self._break:
            self.flush()
        return len(self.lines)

    def end_cell(self, lines_before: int) -> None:
        """A cell of one line is glued to the next cell of its row."""
        if len(self.lines) == lines_before:
            self.glue()
        else:
            self.end_block()

    def glue(self) -> None:
        """The next text continues the line, whatever block it stands in."""
        if self._pieces:
            self._pieces.append(" ")
            self._break, self._glued = False, True

    def flush(self) -> None:
        """Finish the line; one without a letter or a digit is dropped."""
        text = self._tidy("".join(self._pieces))
        if any(character.isalnum() for character in text):
            role, part, article, in_table = self._where
            self.lines.append(Line(text, role, part, article, in_table))
            self.elements.append(self._element)
        self._pieces = []
        self._break = self._glued = False
