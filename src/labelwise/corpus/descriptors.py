"""A thesaurus as a list of descriptors: JSON, JSON Lines, CSV or TSV.

JSON is an object of concepts by id (``{"693": {"label": ..., "alt_labels": [...], "parents":
[...]}}``), a list of concepts, or one concept a line. Links are ``broader``, ``related`` and
``replaced_by``, with or without the ``_ids`` of EUROVOC's own list. CSV has a header row that names
``id`` and ``label`` and may name ``alt_labels`` and links, whose values are separated by ``|``.
``label_fr`` or ``fr`` names a concept in another language. Annif's vocabularies (``uri``,
``label_en``; TSV ``<uri><TAB>label`` without a header) are read as well.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelwise.corpus.concept_ids import concept_id
from labelwise.corpus.json_records import checked_string, parse, type_name
from labelwise.corpus.sources import Origin, decode, whole
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import InputError

ID_KEYS = ("id", "concept_id", "uri")
ALTERNATIVE_KEYS = ("alt_labels", "alt_label", "altLabel")
BROADER_KEYS = ("broader", "broader_ids", "parents")
RELATED_KEYS = ("related", "related_ids")
REPLACED_KEYS = ("replaced_by", "replaced_by_ids")
NOTE_KEYS = ("scope_note", "scopeNote")
_LANGUAGE = re.compile(r"(?:label_)?(?!id$)([a-z]{2})")


def _label_keys(language: str) -> tuple[str, ...]:
    return ("label", "title", "descriptor", "prefLabel", f"label_{language}", language)


def read_json(stream: io.BufferedReader, path: Path, language: str) -> Thesaurus:
    """Concepts of a JSON or JSON Lines file."""
    text = decode(whole(stream, path), Origin(path))
    return _thesaurus(
        (_concept(record, id, origin, language) for origin, id, record in _records(text, path)),
        path,
    )


def _records(text: str, path: Path) -> Iterator[tuple[Origin, str | None, Any]]:
    """Places, ids where a key gives them, and concepts."""
    first, _, rest = text.strip().partition("\n")
    if first.rstrip().endswith("}") and rest:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield Origin(path, number), None, parse(line, Origin(path, number))
        return
    value = parse(text, Origin(path))
    if isinstance(value, list):
        for number, record in enumerate(value, 1):
            yield Origin(path, entry=number), None, record
    elif isinstance(value, dict) and not any(
        isinstance(value.get(key), str) for key in ID_KEYS if key in value
    ):
        for id, record in value.items():
            yield Origin(f"{path}, concept {id}"), id, record
    else:
        yield Origin(path), None, value


def _concept(record: Any, id: str | None, origin: Origin, language: str) -> Concept:
    if isinstance(record, str) and id is not None:
        return Concept(concept_id(id), _uri(id), record)
    if not isinstance(record, dict):
        raise origin.error(f"wrong type: a concept is an object, this is {type_name(record)}")
    given = _first(record, ID_KEYS) if id is None else id
    if given is None:
        raise origin.error("missing key: a concept needs an id", "id")
    given = checked_string(given, "id", origin)
    label = _first(record, _label_keys(language))
    if label is None:
        raise origin.error(f"missing key: the concept {given} has no label", "label")
    return Concept(
        concept_id(given),
        _uri(str(record.get("uri", given))),
        checked_string(label, "label", origin),
        tuple(_listed(record, ALTERNATIVE_KEYS, origin)),
        _linked(record, BROADER_KEYS, origin),
        related=_linked(record, RELATED_KEYS, origin),
        replaced_by=_linked(record, REPLACED_KEYS, origin),
        translations=tuple(
            (code[1], (checked_string(record[key], key, origin),))
            for key in sorted(record)
            if (code := _LANGUAGE.fullmatch(key)) and code[1] != language
        ),
        notes=tuple(_listed(record, NOTE_KEYS, origin)),
    )


def read_table(stream: io.BufferedReader, path: Path, language: str) -> Thesaurus:
    """Concepts of a CSV file with a header, or of a TSV file with or without one."""
    text = decode(whole(stream, path), Origin(path))
    tabs = "\t" in text.split("\n", 1)[0]
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        return _thesaurus(_table_concepts(rows, path, language), path)
    except csv.Error as error:
        raise InputError(f"broken CSV: {error}", file=path, line=rows.line_num) from error


def _table_concepts(rows: Any, path: Path, language: str) -> Iterator[Concept]:
    columns: dict[str, int] = {}
    for row in rows:
        origin = Origin(path, rows.line_num)
        if not any(value.strip() for value in row):
            continue
        if not columns:
            columns = {name.strip(): number for number, name in enumerate(row)}
            if row[0].startswith("<"):  # Annif's TSV: no header
                columns = {"id": 0, "label": 1}
            elif not (_first(columns, ID_KEYS) is not None and _named(columns, language)):
                raise origin.error(
                    "missing column: the first row must name 'id' and 'label'; "
                    f"it names {', '.join(columns)}"
                )
            else:
                continue
        record = {name: row[number] for name, number in columns.items() if number < len(row)}
        yield _concept(
            {key: value for key, value in record.items() if value}, None, origin, language
        )


def _named(columns: dict[str, int], language: str) -> bool:
    return any(key in columns for key in _label_keys(language))


def _first(record: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _listed(record: dict[str, Any], keys: tuple[str, ...], origin: Origin) -> list[str]:
    key = next((key for key in keys if record.get(key) is not None), None)
    if key is None:
        return []
    value = record[key]
    if isinstance(value, str):
        return [part.strip() for part in value.split("|") if part.strip()]
    if not isinstance(value, list):
        raise origin.error(f"wrong type: a list is needed, not {type_name(value)}", key)
    return [checked_string(part, key, origin) for part in value]


def _linked(record: dict[str, Any], keys: tuple[str, ...], origin: Origin) -> tuple[str, ...]:
    return tuple(concept_id(other) for other in _listed(record, keys, origin))


def _uri(id: str) -> str:
    bare = id.removeprefix("<").removesuffix(">")
    return bare if "://" in bare else ""


def _thesaurus(concepts: Iterator[Concept], path: Path) -> Thesaurus:
    found: dict[str, Concept] = {}
    for concept in concepts:
        if concept.id in found:
            raise InputError(
                f"duplicate id: the concept '{concept.id}' stands there twice", file=path
            )
        found[concept.id] = concept
    if not found:
        raise InputError("empty file: there is no concept in it", file=path)
    return Thesaurus.of(found.values())
