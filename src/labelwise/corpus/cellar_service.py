"""Cellar, the public store of the EU's Publications Office: which acts there are, and their texts.

Two interfaces are used, as the Office documents them. The SPARQL endpoint tells the acts of a year
in the terms of its ontology (CDM): CELEX number, date, EUROVOC concepts, English title. The content
service gives the text of an act under its CELEX number, in the format and the language that the
request asks for (``Accept``, ``Accept-Language``); an act of several files is answered with 300,
and then comes as one zip archive (``application/zip;mtype=...``).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from labelwise.corpus.concept_ids import concept_id
from labelwise.corpus.document import Document, Section
from labelwise.corpus.download import BrokenOffError
from labelwise.corpus.polite import Answer, Polite
from labelwise.corpus.readers import read_stream
from labelwise.errors import InputError, LabelwiseError
from labelwise.files import ARCHIVE_FAULTS

PAGE = 100
"""Acts that are asked for at once; the endpoint gives up on long answers."""
LIMIT = 64 << 20
"""Bytes of an answer, packed or unpacked; the longest acts have a few million."""

TYPES = (
    *("REG", "REG_IMPL", "REG_DEL", "DIR", "DIR_IMPL", "DIR_DEL"),
    *("DEC", "DEC_IMPL", "DEC_DEL", "DEC_ENTSCHEID"),
)
"""Resource types of the acts that EURLEX57K holds: regulations, directives and decisions."""

FORMATS = (("application/xhtml+xml", "xhtml"), ("text/html", "html"), ("", "fmx4"))
"""How a text is asked for, in this order: the type of a single file, and Cellar's name of the
format; Formex is asked for as an archive alone, since an act is several files there."""

_MARKUP = (".xhtml", ".html", ".htm", ".xml")


@dataclass(frozen=True)
class Service:
    """Where Cellar is."""

    sparql: str = "https://publications.europa.eu/webapi/rdf/sparql"
    content: str = "http://publications.europa.eu/resource/celex/"


@dataclass(frozen=True)
class Act:
    """What Cellar's metadata say of an act."""

    celex_id: str
    date: str
    concepts: tuple[str, ...]
    title: str
    in_english: bool


class NoTextError(LabelwiseError):
    """An act whose English text is not there, or cannot be read; the message says which."""


# Which acts there are ---------------------------------------------------------------------------


def acts_of(year: int, types: Sequence[str], service: Service, polite: Polite) -> Iterator[Act]:
    """The acts of a year by their date, in the order of their CELEX numbers.

    A page begins after the last act of the one before it, so that acts which appear or vanish
    meanwhile shift nothing. An empty page is the end.
    """
    last = "1"
    while True:
        address = f"{service.sparql}?" + urlencode(
            {"query": query(year, types, last), "format": "application/sparql-results+json"}
        )
        headers = {"Accept": "application/sparql-results+json"}
        page = polite.ask(address, headers, _acts, limit=LIMIT)
        if not page:
            return
        yield from page
        last = max(act.celex_id for act in page)


def query(year: int, types: Sequence[str], last: str) -> str:
    """A page of the acts of these types: a row for each concept of each act.

    Sectors 1 to 4 of CELEX are treaties, agreements, legislation and what completes it.
    Consolidated texts (0), drafts and judgments (5 and more), corrigenda, and copies that Cellar
    itself hides, are not asked for.
    """
    authority = "http://publications.europa.eu/resource/authority"
    wanted = " ".join(f"<{authority}/resource-type/{one}>" for one in types)
    return f"""\
PREFIX cdm: <http://publications.europa.eu/ontology/cdm#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?celex ?date ?concept ?english ?title WHERE {{
  {{
    SELECT DISTINCT ?work ?celex ?date WHERE {{
      VALUES ?type {{ {wanted} }}
      ?work cdm:work_has_resource-type ?type ;
        cdm:resource_legal_id_celex ?celex ;
        cdm:work_date_document ?date .
      FILTER(?date >= "{year}-01-01"^^xsd:date && ?date <= "{year}-12-31"^^xsd:date)
      FILTER(STR(?celex) > "{last}" && STR(?celex) < "5")
      FILTER NOT EXISTS {{
        ?work cdm:work_has_resource-type <{authority}/resource-type/CORRIGENDUM>
      }}
      FILTER NOT EXISTS {{ ?work cdm:do_not_index "true"^^xsd:boolean }}
    }}
    ORDER BY ?celex
    LIMIT {PAGE}
  }}
  OPTIONAL {{ ?work cdm:work_is_about_concept_eurovoc ?concept }}
  OPTIONAL {{
    ?english cdm:expression_belongs_to_work ?work ;
      cdm:expression_uses_language <{authority}/language/ENG> .
    OPTIONAL {{ ?english cdm:expression_title ?title }}
  }}
}}
ORDER BY ?celex"""


def _acts(answer: Answer) -> list[Act]:
    """The acts of a page; what is cut short is an error, for the rest would be missing silently."""
    if "x-sql-state" in answer.headers:  # how Virtuoso marks an answer that its time limit cut
        raise BrokenOffError("the endpoint ran out of time and gave a part of its answer")
    try:
        rows = [
            {name: str(cell["value"]) for name, cell in row.items()}
            for row in json.loads(answer.body)["results"]["bindings"]
        ]
        found: dict[str, dict[str, Any]] = {}
        for row in rows:
            act = found.setdefault(row["celex"], {"concepts": {}, "titles": [], "english": False})
            act.setdefault("date", row["date"])
            if "concept" in row:
                act["concepts"][concept_id(row["concept"])] = None
            act["english"] |= "english" in row
            act["titles"] += [row["title"]] if "title" in row else []
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenOffError("the endpoint's answer is no whole list of acts") from error
    return [
        Act(
            id,
            of["date"],
            tuple(sorted(of["concepts"])),
            next(iter(of["titles"]), ""),
            of["english"],
        )
        for id, of in sorted(found.items())
    ]


# The text of an act -----------------------------------------------------------------------------


Read = Callable[[bytes, str], Iterable[Document]]
"""Makes documents of a file and its name."""


def read_file(data: bytes, name: str) -> Iterator[Document]:
    return read_stream(io.BytesIO(data), name)


def text_of(celex_id: str, service: Service, polite: Polite, read: Read = read_file) -> Document:
    """The English text in the first format that Cellar has and that can be read."""
    problem = "Cellar has no English text as XHTML, HTML or Formex"
    for single, kind in FORMATS:
        try:
            files = _files(celex_id, single, kind, service, polite)
            if files is not None:
                return _document(celex_id, files, read)
        except InputError as error:
            problem = f"the English text cannot be read: {error.problem}"
    raise NoTextError(problem)


def _files(
    celex_id: str, single: str, kind: str, service: Service, polite: Polite
) -> list[tuple[str, bytes]] | None:
    """Names and contents of the files of an act in one format; None where there are none."""
    address = service.content + quote(celex_id)

    def ask(accept: str) -> Answer:
        headers = {"Accept": accept, "Accept-Language": "eng"}
        return polite.ask(address, headers, _packed, limit=LIMIT, answers=(200, 300, 404, 406))

    answer = ask(single) if single else None
    if answer is None or answer.status == 300:
        answer = ask(f"application/zip;mtype={kind}")
    if answer.status != 200:
        return None
    name = f"{celex_id}.{kind}"
    return (
        _unzipped(answer.body)
        if zipfile.is_zipfile(io.BytesIO(answer.body))
        else [(name, answer.body)]
    )


def _packed(answer: Answer) -> Answer:
    """The answer; an archive without its end was cut on the way."""
    start = answer.body[:4] == b"PK\x03\x04"
    if start and not zipfile.is_zipfile(io.BytesIO(answer.body)):
        raise BrokenOffError("the archive of the act came without its end")
    return answer


def _unzipped(archive: bytes) -> list[tuple[str, bytes]]:
    """The files of an archive that hold text, by name; pictures and the like are left alone."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
            members = [one for one in zipped.infolist() if one.filename.lower().endswith(_MARKUP)]
            if sum(one.file_size for one in members) > LIMIT:
                raise InputError(f"its archive unpacks to more than {LIMIT:,} bytes")
            members.sort(key=lambda one: one.filename)
            return [(one.filename, zipped.read(one)) for one in members]
    except ARCHIVE_FAULTS as error:
        raise InputError(f"its archive is damaged ({error})") from error


def _document(celex_id: str, files: Sequence[tuple[str, bytes]], read: Read) -> Document:
    """One document: the zones of the file that holds the act, all others as attachments.

    A file that only lists others, as Formex has one, is refused by its reader and left out.
    """
    parts: list[Document] = []
    problem = InputError("its archive holds no text")
    for name, data in files:
        try:
            parts += read(data, name)
        except InputError as error:
            problem = error
    if not parts:
        raise problem
    act = max(parts, key=lambda part: sum(one.kind != "attachments" for one in part.sections))
    sections = [one for one in act.sections if one.kind != "attachments"]
    annexes = [one.text for one in act.sections if one.kind == "attachments"]
    annexes += [part.text for part in parts if part is not act]
    if annexes:
        sections.append(Section("attachments", "\n".join(annexes)))
    return Document(celex_id, act.title, tuple(sections))
