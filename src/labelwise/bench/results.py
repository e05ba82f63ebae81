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
(:mod:`labelwise.bench.page`). All else, such as data, machine, versions and settings, is
kept as it is; the page names the data, the machine and the command where they are there.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from labelwise.bench import Plan, Result
from labelwise.bench.processes import threads
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.synthetic import make_dataset
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


def machine() -> dict[str, Any]:
    """Facts that a reader needs to judge a time; no names of hosts or users."""
    import torch

    facts: dict[str, Any] = {
        "system": platform.system(),
        "processor": _processor(),
        "threads": threads(),
        "memory": memory(),
    }
    if torch.cuda.is_available():
        card = torch.cuda.get_device_properties(0)
        facts["gpu"] = {
            "name": card.name,
            "memory": card.total_memory,
            "multiprocessors": card.multi_processor_count,
            "capability": f"{card.major}.{card.minor}",
            "cuda": torch.version.cuda,
        }
    return facts


def busy_cores(seconds: float = 1.0) -> float | None:
    """How many cores are at work, while this process waits; the load of the last minute, which
    counts what has just ended too, where the system says no more."""
    before = _ticks()
    if before is None:
        return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    time.sleep(seconds)
    after = _ticks() or before
    work, idle = after[0] - before[0], after[1] - before[1]
    return round(work / max(1, work + idle) * (os.cpu_count() or 1), 2)


def _ticks() -> tuple[int, int] | None:
    """How long all cores have worked and idled since the start of the system."""
    try:
        ticks = Path("/proc/stat").read_text("utf-8").splitlines()[0].split()[1:]
    except (OSError, IndexError):
        return None
    user, nice, system, idle, waiting, *others = map(int, ticks[:8])
    return user + nice + system + sum(others), idle + waiting


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory() -> int | None:
    """All the memory of the machine, in bytes; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def data_folder(plan: Plan, work: Path) -> Path:
    """The data set's folder; without one, the synthetic corpus is made in the work folder."""
    if plan.data is not None:
        return plan.data.absolute()
    make_dataset(work / "synthetic", seed=0)
    return work / "synthetic"


def data_facts(data: Dataset) -> Result:
    """What a result says of its data. Ask while they are there: a corpus may be made for a run."""
    return {"name": data.name, "fingerprint": data.fingerprint, "counts": data.counts}
