"""Documents of EURLEX57K, in the keys of either public distribution."""

from __future__ import annotations

from typing import Any

from labelwise.corpus.document import Document, Section, SectionKind
from labelwise.corpus.json_records import string, strings
from labelwise.corpus.sources import Origin

KEYS = ("celex_id", "concepts", "eurovoc_concepts", "main_body")
"""A JSON object with one of these is meant to be a document of EURLEX57K."""

ZONES = ("header", "recitals", "main_body", "attachments")


def document(record: dict[str, Any], origin: Origin) -> Document:
    """The zones in their order, one section an article; empty sections are dropped.

    Recitals often begin with the comma that ends the enacting body; it stays, since the
    published word counts include it. Where a distribution joined the zones into one ``text``,
    they are told apart again by the words of the text. A record that is only a title is a document
    with a header. One to be tagged need not have labels.
    """
    celex_id = _id(record, origin)
    title = string(record, "title", origin) if "title" in record else ""
    joined = "text" in record and "main_body" not in record
    text = string(record, "text", origin) if joined else ""
    if title.strip() and not text.strip() and not any(zone in record for zone in ZONES):
        sections: tuple[Section, ...] = (Section("header", title),)
    elif joined:
        from labelwise.corpus.plain_text import split_act

        found, sections = split_act(text)
        title = title or found
    else:
        sections = _zones(record, origin)
    return Document(celex_id, title, sections, _labels(record, origin))


def record(document: Document) -> dict[str, Any]:
    """The way back: the record that a document is read from. Sections of one zone, articles aside,
    become one with the same text."""
    zones = {
        kind: "\n".join(one.text for one in document.sections if one.kind == kind)
        for kind in ("header", "recitals", "attachments")
    }
    return {
        "celex_id": document.id,
        "concepts": list(document.labels),
        "title": document.title,
        "header": zones["header"],
        "recitals": zones["recitals"],
        "main_body": [one.text for one in document.sections if one.kind == "article"],
        "attachments": zones["attachments"],
    }


def summary(record: dict[str, Any], origin: Origin) -> Document:
    """What is written about an act in place of the act; without sections where nothing is."""
    check_gold(record, origin)
    text = string(record, "summary", origin) if "summary" in record else ""
    sections = (Section("article", text),) if text.strip() else ()
    return Document(_id(record, origin), "", sections, _labels(record, origin))


def _id(record: dict[str, Any], origin: Origin) -> str:
    celex_id = string(record, "celex_id", origin)
    if not celex_id.strip():
        raise origin.error("missing value: the id is empty", "celex_id")
    return celex_id


def _zones(record: dict[str, Any], origin: Origin) -> tuple[Section, ...]:
    zones: list[tuple[SectionKind, str]] = [
        ("header", string(record, "header", origin)),
        ("recitals", string(record, "recitals", origin)),
        *(("article", text) for text in strings(record, "main_body", origin)),
    ]
    if "attachments" in record:
        zones.append(("attachments", string(record, "attachments", origin)))
    return tuple(Section(kind, text) for kind, text in zones if text.strip())


def _labels(record: dict[str, Any], origin: Origin) -> tuple[str, ...]:
    for key in ("concepts", "eurovoc_concepts"):
        if key in record:
            return tuple(dict.fromkeys(strings(record, key, origin)))
    return ()


def check_gold(record: dict[str, Any], origin: Origin) -> None:
    """Where documents are learned from or measured on, one must not lack its labels unnoticed."""
    if "concepts" not in record and "eurovoc_concepts" not in record:
        raise origin.error(
            "missing key: neither 'concepts' nor 'eurovoc_concepts' is there; "
            "give an empty list for a document without gold labels",
            "concepts",
        )
