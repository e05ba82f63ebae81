"""What a benchmark writes: one JSON file, of a shape simple enough to write by hand.

    {
      "what": "one-vs-rest linear SVM",             the heading of its section
      "text": "Fit on train, score dev and test.",  a paragraph below it; may be left out
      "columns": ["", {"key": "fit", "name": "time to fit", "as": "ratio", "peer": "peer's"}],
      "rows": [{"": "ours", "fit": {"median": 2.1, "lowest": 2.0, "highest": 2.3, "repeats": 3}},
               {"": "peer's", "fit": 4.2}]
    }

A column is a key of the rows, or a key with the name to show, how to show it (``as``) and, for a
ratio, to what: ``peer`` is the row (by its first column), ``to`` another key of the same row. A
cell is a word, a number, the spread of several repeats, or null. Several tables stand in
``tables``, each with the same keys and a ``figure`` where a curve is to be drawn
(:mod:`labelwise.bench.curves`). All else, such as data, machine, versions and settings, is
kept as it is; the page names the data, the machine and the command where they are there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from labelwise.bench.plan import Result
from labelwise.errors import InputError
from labelwise.files import write_whole

T = TypeVar("T")


def result_path(out: Path, name: str, result: Result) -> Path:
    """Where a result is kept; one on data is named after them: a demo never replaces the real."""
    data = result.get("data")
    return out / "results" / (f"{name}-{data['name']}.json" if data else f"{name}.json")


def write_result(out: Path, name: str, result: Result) -> Path:
    path = result_path(out, name, result)
    text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(path, f"{text}\n".encode())
    return path


def read_results(out: Path) -> dict[str, Result]:
    """All results of a folder by their file's name, in its order, checked for their shape."""
    return {path.name: read_result(path) for path in sorted((out / "results").glob("*.json"))}


def read_result(path: Path) -> Result:
    try:
        result = json.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"not JSON ({error}): run the benchmark again", file=path) from error
    if not isinstance(result, dict) or not isinstance(result.get("what"), str):
        raise InputError("a result has a sentence in it: add one", file=path, field="what")
    for table in tables(result):
        _check_table(table, path)
    return result


def tables(result: Result) -> list[dict[str, Any]]:
    """The tables of a result: its own one, then those in ``tables``."""
    own = [result] if "rows" in result or "columns" in result else []
    return [*own, *result.get("tables", [])]


def _check_table(table: dict[str, Any], path: Path) -> None:
    for key in ("columns", "rows"):
        if not isinstance(table.get(key), list) or not table[key]:
            raise InputError("a table needs a list that is not empty", file=path, field=key)
    for row in table["rows"]:
        if not isinstance(row, dict):
            raise InputError(f"a row is an object, not {row!r}", file=path, field="rows")
    for column in table["columns"]:
        key = column if isinstance(column, str) else column.get("key")
        if not any(key in row for row in table["rows"]):
            raise InputError(f"no row has a value for '{key}'", file=path, field="columns")


def spread(values: Sequence[float]) -> dict[str, float | int]:
    """The median of the repeats, with the lowest and the highest.

    >>> spread([3.0, 1.0, 2.0])
    {'median': 2.0, 'lowest': 1.0, 'highest': 3.0, 'repeats': 3}
    """
    return {
        "median": median(values),
        "lowest": min(values),
        "highest": max(values),
        "repeats": len(values),
    }


def taking_turns(measures: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, list[T]]:
    """Measure each in turn, and all of them again: what slows the machine slows all alike."""
    found: dict[str, list[T]] = {name: [] for name in measures}
    for _ in range(repeats):
        for name, measure in measures.items():
            found[name].append(measure())
    return found
