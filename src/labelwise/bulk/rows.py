"""What is written of a document: one row for each record of the input, whatever became of it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from labelwise.corpus.parquet import pyarrow
from labelwise.model import Tagging

Prediction = dict[str, Any]


class Row(NamedTuple):
    position: int
    """Of the record in the input, counted from 0."""
    document: str | None
    """The id; None where the record could not be read."""
    problem: str | None
    """Why it could not."""
    predictions: list[Prediction]
    """The best label first."""


KEPT = ("id", "descriptor", "score", "assigned")
"""Of a prediction as it is written everywhere. What hangs on the label alone (its place, its group)
is not repeated for each of a million documents."""


def predictions_of(tagging: Tagging) -> list[Prediction]:
    """The labels of a document, the best first."""
    return [
        {name: written[name] for name in KEPT} for written in (tag.to_json() for tag in tagging)
    ]


def as_jsonl(rows: Sequence[Row]) -> bytes:
    return "".join(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in rows).encode()


def as_parquet(rows: Sequence[Row]) -> bytes:
    pa, parquet = pyarrow("a Parquet file")
    types = {"score": pa.float64(), "assigned": pa.bool_()}
    prediction = pa.struct([(name, types.get(name, pa.string())) for name in KEPT])
    schema = pa.schema(
        [
            ("position", pa.int64()),
            ("document", pa.string()),
            ("problem", pa.string()),
            ("predictions", pa.list_(prediction)),
        ]
    )
    made = io.BytesIO()
    table = pa.Table.from_pylist([row._asdict() for row in rows], schema=schema)
    parquet.write_table(table, made)
    return made.getvalue()


FORMATS: Mapping[str, Callable[[Sequence[Row]], bytes]] = {
    "jsonl": as_jsonl,
    "parquet": as_parquet,
}
