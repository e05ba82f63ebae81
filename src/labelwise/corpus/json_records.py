"""Documents as JSON: one object a line, one object a file, or a list of objects."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from labelwise.corpus.document import Document
from labelwise.corpus.patience import patience
from labelwise.corpus.sources import Item, Origin, decode, extension, lines, whole
from labelwise.errors import InputError

Build = Callable[[dict[str, Any], Origin], Document]
"""Makes a document of one JSON object, or raises an InputError."""

LINE_FORMATS = (".jsonl", ".ndjson")
JSON_FORMATS = (".json", *LINE_FORMATS)

_NAMES: dict[type, str] = {
    str: "a string",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def read_json(stream: io.BufferedReader, name: str | Path, build: Build) -> Iterator[Item]:
    """Documents of a JSON or JSON Lines stream, told apart by name and first line."""
    numbered = lines(stream, name)
    if extension(name) in LINE_FORMATS:
        return _from_lines(numbered, build)
    head = []
    for origin, line in numbered:
        head.append((origin, line))
        if not line.isspace():
            break
    first = head[-1][1].strip()
    if first.startswith(b"{") and first.endswith(b"}"):
        return _from_lines(chain(head, numbered), build)
    return _from_whole(b"".join(line for _, line in head) + whole(stream, name), name, build)


def _from_lines(numbered: Iterable[tuple[Origin, bytes]], build: Build) -> Iterator[Item]:
    for origin, line in numbered:
        if line.isspace():
            continue
        try:
            yield origin, line_document(line, origin, build)
        except InputError as error:
            yield origin, error


def line_document(line: bytes, origin: Origin, build: Build) -> Document:
    """The document of one line."""
    return built(parse(decode(line, origin), origin), origin, build)


def _from_whole(data: bytes, name: str | Path, build: Build) -> Iterator[Item]:
    value = parse(decode(data, Origin(name)), Origin(name))
    listed = isinstance(value, list)
    for number, record in enumerate(value if listed else [value], 1):
        origin = Origin(name, entry=number if listed else None)
        try:
            yield origin, built(record, origin, build)
        except InputError as error:
            yield origin, error


def built(record: Any, origin: Origin, build: Build) -> Document:
    """The document of a record, within the time that its size allows."""
    if not isinstance(record, dict):
        raise origin.error(f"wrong type: a document is an object, this is {type_name(record)}")
    with patience(sum(len(text) for text in record.values() if isinstance(text, str)), origin):
        return build(record, origin)


def parse(text: str, origin: Origin) -> Any:
    """The value of a JSON text; the error names line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = error.lineno if origin.line is None else origin.line
        raise Origin(origin.file, line).error(
            f"broken JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
        ) from error
    except ValueError as error:  # the only other one: an integer of thousands of digits
        raise origin.error("broken JSON: a number has too many digits") from error
    except RecursionError as error:
        raise origin.error("broken JSON: brackets are nested too deeply") from error


def type_name(value: Any) -> str:
    return _NAMES.get(type(value), type(value).__name__)


def string(record: dict[str, Any], key: str, origin: Origin) -> str:
    """A string that must be there."""
    if key not in record:
        raise origin.error("missing key: the document has no such field", key)
    return checked_string(record[key], key, origin)


def strings(record: dict[str, Any], key: str, origin: Origin) -> list[str]:
    """A list of strings that must be there."""
    if key not in record:
        raise origin.error("missing key: the document has no such field", key)
    values = record[key]
    if not isinstance(values, list):
        raise origin.error(f"wrong type: a list of strings is needed, not {type_name(values)}", key)
    return [checked_string(value, key, origin, number) for number, value in enumerate(values, 1)]


def checked_string(value: Any, key: str, origin: Origin, number: int | None = None) -> str:
    """The value, if it is a string that can be written down again."""
    entry = f" (entry {number} of the list)" if number else ""
    if not isinstance(value, str):
        raise origin.error(f"wrong type: a string is needed, not {type_name(value)}{entry}", key)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise origin.error(
                f"wrong encoding: half a character, \\u{ord(value[error.start]):x}, "
                f"at position {error.start + 1}{entry}; export the file again",
                key,
            ) from error
    return value
