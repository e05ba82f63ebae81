"""Decisions for library catalogues: MARC 21 as XML, a field 650 for each chosen concept.

Field 650 has the name, the address ($0) and the thesaurus ($2); where a model suggested the
concept, a field 883 linked to it ($8) says which one, with what score, and when it was accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from labelwise.corpus.uris import EUROVOC
from labelwise.desk.records import Decision

NAMESPACE = "http://www.loc.gov/MARC21/slim"
LEADER = "00000nam a2200000 u 4500"
EUROVOC_CODE = "eurovocen"
"""The Library of Congress's code for EUROVOC in English."""

Subfields = Sequence[tuple[str, str]]


def marc_records(acts: Iterable[tuple[str, str, str, Sequence[Decision]]]) -> Iterator[str]:
    """A collection of records: acts by id, address, title and chosen concepts."""
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<collection xmlns="{NAMESPACE}">\n'
    for id, address, title, chosen in acts:
        yield _record(id, address, title, chosen)
    yield "</collection>\n"


def _record(id: str, address: str, title: str, chosen: Sequence[Decision]) -> str:
    fields = [
        f"    <leader>{LEADER}</leader>\n",
        f'    <controlfield tag="001">{_text(id)}</controlfield>\n',
        _field("024", "7 ", [("a", address), ("2", "uri")]),
        _field("245", "00", [("a", title)]),
    ]
    linked = []
    for number, one in enumerate(chosen, 1):
        eurovoc = (one.uri or "").startswith(EUROVOC)
        source = [("2", EUROVOC_CODE)] if eurovoc else []
        subfields = [("a", one.descriptor or ""), ("0", one.uri or ""), *source]
        if one.what == "accept" and one.model:
            link = ("8", rf"{number}\p")
            subfields.insert(0, link)
            linked.append(_field("883", "1 ", [link, *_provenance(one)]))
        # The second indicator: the source is in $2, or is not said.
        fields.append(_field("650", " 7" if eurovoc else " 4", subfields))
    return "  <record>\n" + "".join([*fields, *linked]) + "  </record>\n"


def _provenance(one: Decision) -> Subfields:
    sure = [("c", f"{one.score:g}")] if one.score is not None and 0 <= one.score <= 1 else []
    return [("a", f"labelwise {one.model}"), *sure, ("d", one.when[:10].replace("-", ""))]


def _field(tag: str, indicators: str, subfields: Subfields) -> str:
    inside = "".join(
        f"      <subfield code={quoteattr(code)}>{_text(value)}</subfield>\n"
        for code, value in subfields
    )
    marks = f'tag="{tag}" ind1="{indicators[0]}" ind2="{indicators[1]}"'
    return f"    <datafield {marks}>\n{inside}    </datafield>\n"


def _text(value: str) -> str:
    """XML has no control characters besides white space."""
    return escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", " ", value))
