"""The corpus formats of Annif (https://github.com/NatLibFi/Annif/wiki/Corpus-formats).

Short texts: TSV (``text<TAB><uri> <uri>``), CSV (columns ``text`` and ``subject_uris``, others
are metadata) and JSON Lines. Full texts: a folder of ``.txt`` files with their subjects in a
``.tsv`` (``<uri><TAB>label``) or a ``.key`` file (one label a line) beside them, or JSON files.
Subjects given by their label alone become ids where a thesaurus is at hand (see ``dataset``).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelwise.corpus.concept_ids import concept_id
from labelwise.corpus.document import Document
from labelwise.corpus.json_records import checked_string, string, type_name
from labelwise.corpus.patience import patience
from labelwise.corpus.sources import Item, Origin, decode, lines, opened, stem, whole
from labelwise.errors import InputError

_SURROGATE = re.compile("[\udc80-\udcff]")


def read_annif_tsv(stream: io.BufferedReader, name: str | Path) -> Iterator[Item]:
    """One document a line: its text, a tab, its subjects. Ids are the file's name and the line."""
    for origin, line in lines(stream, name):
        if line.isspace():
            continue
        try:
            text, tab, uris = decode(line, origin).rstrip("\r\n").partition("\t")
            if not tab:
                raise origin.error("missing tab: a line is a text, a tab, and subject URIs")
            with patience(len(line), origin):
                document = _document(origin.id, "", text, _uris(uris, origin))
            yield origin, document
        except InputError as error:
            yield origin, error


def read_annif_csv(stream: io.BufferedReader, name: str | Path) -> Iterator[Item]:
    """One document a row; a row may span several lines."""
    csv.field_size_limit(2**31 - 1)  # the default refuses acts of more than 128 KB
    # Bytes that are not UTF-8 pass as surrogates, so that only the row they are in is bad.
    decoded = (line.decode(errors="surrogateescape") for _, line in lines(stream, name))
    rows = csv.reader(decoded, strict=True)
    try:
        header = next(rows, [])
    except csv.Error as error:
        raise Origin(name, 1).error(f"broken CSV: {error}") from error
    missing = [column for column in ("text", "subject_uris") if column not in header]
    if missing:
        raise Origin(name, 1).error(
            "missing column: the first row must name at least 'text' and 'subject_uris'", missing[0]
        )
    while True:
        origin = Origin(name, rows.line_num + 1)
        try:
            row = next(rows)
            if row:
                with patience(sum(map(len, row)), origin):
                    document = _csv_document(
                        dict(zip(header, row, strict=False)), row, header, origin
                    )
                yield origin, document
        except StopIteration:
            return
        except csv.Error as error:
            yield origin, origin.error(f"broken CSV: {error}")
        except InputError as error:
            yield origin, error


def _csv_document(
    fields: dict[str, str], row: list[str], header: list[str], origin: Origin
) -> Document:
    if len(row) != len(header):
        raise origin.error(
            f"wrong number of columns: the first row has {len(header)}, this one {len(row)}"
        )
    for column, value in fields.items():
        if bad := _SURROGATE.search(value):
            raise origin.error(
                f"wrong encoding: byte 0x{ord(bad[0]) - 0xDC00:02X} after "
                f"{bad.start()} characters is not UTF-8; save the file as UTF-8",
                column,
            )
    id, title = fields.get("document_id") or origin.id, fields.get("title", "")
    return _document(id, title, fields["text"], _uris(fields["subject_uris"], origin))


def json_document(record: dict[str, Any], origin: Origin) -> Document:
    """``text``, and where they are known ``document_id``, ``subjects``, ``metadata``.

    ``id`` and ``labels`` (a list of concept ids) are understood as well.
    """
    text = string(record, "text", origin)
    id_key = "document_id" if "document_id" in record else "id"
    id = string(record, id_key, origin) if id_key in record else origin.id
    metadata = record.get("metadata", {})
    title = metadata.get("title", "") if isinstance(metadata, dict) else ""
    key = "subjects" if "subjects" in record else "labels"
    subjects = record.get(key, [])
    if not isinstance(subjects, list):
        raise origin.error(f"wrong type: a list is needed, not {type_name(subjects)}", key)
    labels = tuple(dict.fromkeys(_subject(subject, key, origin) for subject in subjects))
    return _document(id, title if isinstance(title, str) else "", text, labels)


def _subject(subject: Any, field: str, origin: Origin) -> str:
    if isinstance(subject, dict):
        if "uri" in subject:
            return concept_id(checked_string(subject["uri"], field, origin))
        if "label" in subject:
            return checked_string(subject["label"], field, origin)
        raise origin.error("missing key: a subject needs 'uri' or 'label'", field)
    return concept_id(checked_string(subject, field, origin))


def subjects_file(path: Path) -> Path | None:
    """The ``.tsv`` or ``.key`` file beside a text, or None."""
    for ending in (".tsv", ".key"):
        beside = path.with_name(stem(path) + ending)
        if beside != path and beside.is_file():
            return beside
    return None


def read_subjects(path: Path) -> tuple[str, ...]:
    """The subjects of one document: ids from a ``.tsv``, labels from a ``.key`` file."""
    with opened(path) as stream:
        rows = decode(whole(stream, path), Origin(path)).splitlines()
    found = []
    for number, row in enumerate(rows, 1):
        first = row.split("\t", 1)[0].strip()
        if path.suffix == ".tsv" and row.strip() and not first:
            raise Origin(path, number).error("missing value: the first column is empty", "uri")
        if first:
            found.append(concept_id(first) if path.suffix == ".tsv" else first)
    return tuple(dict.fromkeys(found))


def _uris(text: str, origin: Origin) -> tuple[str, ...]:
    uris = text.split()
    for uri in uris:
        if not re.match(r"<?[A-Za-z][\w+.-]*:", uri):
            raise origin.error(
                f"not a URI: '{uri}' stands where subjects such as "
                "<http://eurovoc.europa.eu/1309> are expected"
            )
    return tuple(dict.fromkeys(concept_id(uri) for uri in uris))


def _document(id: str, title: str, text: str, labels: tuple[str, ...]) -> Document:
    from labelwise.corpus.plain_text import split_act

    found, sections = split_act(text)
    return Document(id, title or found, sections, labels)
