"""Parquet files: a row is a document, in columns named as the keys of the JSON formats.

A row with a ``celex_id`` has the keys of EURLEX57K, one with a ``text`` those of Annif's JSON.
Other columns are not read, and a value that is null is a key that is missing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelwise.corpus.json_records import Build, built
from labelwise.corpus.sources import Item, Origin, is_packed, whole
from labelwise.errors import InputError, MissingExtraError

MAGIC = b"PAR1"
"""How every Parquet file begins."""

COLUMNS = frozenset(
    {
        *("celex_id", "title", "header", "recitals", "main_body", "attachments"),
        *("concepts", "eurovoc_concepts", "text", "document_id", "id", "labels", "subjects"),
        "metadata",
    }
)

ROWS = 256
"""Rows in memory at a time."""


def pyarrow(what: str) -> tuple[Any, Any]:
    """The package and its module for Parquet; where they are missing, ``what`` needs them."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(what, "bulk") from error
    return pyarrow, parquet


def read_parquet(stream: io.BufferedReader, name: str | Path, build: Build) -> Iterator[Item]:
    """The rows, a few in memory at a time where the file itself is at hand, not a pipe."""
    pa, parquet = pyarrow("a Parquet file")
    at_hand = stream.seekable() and not is_packed(stream)
    source = stream if at_hand else io.BytesIO(whole(stream, name))
    try:
        with parquet.ParquetFile(source) as file:
            columns = [one for one in file.schema_arrow.names if one in COLUMNS]
            row = 0
            for batch in file.iter_batches(ROWS, columns=columns):
                for record in batch.to_pylist():
                    row += 1
                    yield _item(record, Origin(name, entry=row), build)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"damaged Parquet file: {error}", file=name) from error


def _item(record: dict[str, object], origin: Origin, build: Build) -> Item:
    there = {key: value for key, value in record.items() if value is not None}
    try:
        return origin, built(there, origin, build)
    except InputError as error:
        return origin, error
