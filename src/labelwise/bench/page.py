"""The page of all benchmarks, ``README.md`` beside ``results/``, made from the files there.

A cell of its tables is a figure with its unit, and the spread of its repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise.bench.plan import Result
from labelwise.bench.results import read_results, tables
from labelwise.errors import LabelwiseError
from labelwise.files import write_whole

Row = Mapping[str, Any]


def cell(column: str | Mapping[str, Any], row: Row, rows: Sequence[Row], first: str) -> str:
    """What stands in this column of the row. ``first`` is the key of the rows' names.

    >>> rows = [{"": "ours", "fit": 2.0}, {"": "peer's", "fit": 4.0}]
    >>> cell({"key": "fit", "as": "ratio", "peer": "peer's"}, rows[0], rows, "")
    '0.50'
    >>> cell({"key": "fit", "as": "seconds"}, rows[0], rows, "")
    '2.00 s'
    """
    if isinstance(column, str):
        column = {"key": column}
    value = row.get(column["key"])
    if value is None or isinstance(value, str):
        return value or "–"
    how = column.get("as", "plain")
    if how not in FORMATS:
        raise LabelwiseError(
            f"the column '{column['key']}' is to be shown as '{how}', which is none of "
            f"{', '.join(FORMATS)}"
        )
    show = FORMATS[how]
    if "peer" not in column and "to" not in column:
        return _spread(value, lambda x: x, show)
    base = _base(column, row, rows, first)
    if not isinstance(base, float | int) or not base:
        return "–"
    return _spread(value, (lambda x: base / x) if how == "times" else (lambda x: x / base), show)


def median_of(value: Any) -> Any:
    """The figure itself, of a figure or of the spread of several."""
    return value["median"] if isinstance(value, Mapping) else value


def _base(column: Mapping[str, Any], row: Row, rows: Sequence[Row], first: str) -> Any:
    if "to" in column:
        return median_of(row.get(column["to"]))
    for other in rows:
        if other.get(first) == column["peer"]:
            return median_of(other.get(column["key"]))
    raise LabelwiseError(f"there is no row '{column['peer']}' to compare '{column['key']}' with")


def _spread(value: Any, turned: Callable[[float], float], show: Callable[[float], str]) -> str:
    if not isinstance(value, Mapping):
        return show(turned(value))
    middle = show(turned(value["median"]))
    low, high = map(show, sorted([turned(value["lowest"]), turned(value["highest"])]))
    return middle if low == high else f"{middle} ({low} – {high})"


def _plain(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _seconds(value: float) -> str:
    unit, size = next(
        (pair for pair in (("s", 1.0), ("ms", 1e-3)) if value >= pair[1]), ("µs", 1e-6)
    )
    return f"{value / size:.{0 if value >= 100 * size else 2}f} {unit}"


def _bytes(value: float) -> str:
    unit, size = next(
        (pair for pair in (("GB", 1e9), ("MB", 1e6)) if abs(value) >= pair[1]), ("kB", 1e3)
    )
    return f"{value / size:,.1f} {unit}"


FORMATS: dict[str, Callable[[float], str]] = {
    "plain": _plain,
    "count": lambda value: f"{value:,.0f}",
    "figure": lambda value: f"{value:.4f}",
    "error": lambda value: f"{value:.1e}",
    "exponent": lambda value: f"{value:.2f}",
    "share": lambda value: f"{value:.0%}",
    "seconds": _seconds,
    "bytes": _bytes,
    "ratio": lambda value: f"{value:.2f}",
    "times": lambda value: f"{value:.2f}",
}
"""How a figure may be shown: ``ratio`` is this over the peer's, ``times`` the peer's over this."""


INTRODUCTION = """# Benchmarks

Side by side with peers, in one run each, on the same data and threads, every peer in an
environment of its own. This page is made by `labelwise bench` from the files in `results/`; no
figure on it is typed by hand. `make bench` runs what a CPU can (minutes), `labelwise bench --gpu`
what needs a card, and `labelwise bench --list` names them all. A figure is the median of its
repeats, with the lowest and the highest beside it where they differ. CPUs are shared and differ,
so their times are shown as ratios to a named peer of the same run; the files hold the seconds.
"""


def write_page(out: Path) -> Path:
    path = out / "README.md"
    write_whole(path, page(out).encode())
    return path


def page(out: Path) -> str:
    """The text of the page that the results of this folder give."""
    sections = [section(result, name) for name, result in read_results(out).items()]
    return "\n".join([INTRODUCTION, *sections])


def section(result: Result, name: str) -> str:
    parts = [f"## {result['what']}"]
    if "tables" in result and result.get("text"):
        parts.append(result["text"])
    for number, table in enumerate(tables(result)):
        if table is not result and table.get("what"):
            parts.append(f"### {table['what']}")
        if table.get("text"):
            parts.append(table["text"])
        parts.append(markdown(table))
        if table.get("figure"):
            parts.append(f"![{table['what']}](figures/{figure_name(name, number)})")
    if result.get("left out"):
        parts.append(f"The time was up before these: {'; '.join(result['left out'])}.")
    parts.append(_source(result, name))
    return "\n\n".join(parts) + "\n"


def figure_name(name: str, number: int) -> str:
    """The file of the figure of one table.

    >>> figure_name("label-attention-gpu.json", 2)
    'label-attention-gpu-2.svg'
    """
    return f"{Path(name).stem}-{number}.svg"


def markdown(table: Mapping[str, Any]) -> str:
    """A table for GitHub: words to the left, figures to the right."""
    columns, rows = table["columns"], table["rows"]
    first = columns[0] if isinstance(columns[0], str) else columns[0]["key"]
    heads = [c if isinstance(c, str) else c.get("name", c["key"]) for c in columns]
    lines = [
        "| " + " | ".join(heads) + " |",
        "| " + " | ".join(["---", *["---:"] * (len(columns) - 1)]) + " |",
    ]
    for row in rows:
        cells = [cell(column, row, rows, first).replace("|", "\\|") for column in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _source(result: Result, name: str) -> str:
    """Where the figures come from: the file, the data, the machine, the versions."""
    facts = []
    if result.get("data"):
        data = result["data"]
        facts.append(f"data: {data['name']} (fingerprint `{data['fingerprint']}`)")
    if result.get("peer"):
        facts.append(f"peer: `{result['peer']}`")
    machine = result.get("machine", {})
    if machine.get("gpu"):
        facts.append(machine["gpu"]["name"])
    elif machine.get("processor"):
        facts.append(f"{machine['processor']}, {machine['threads']} threads")
        if (machine.get("load") or 0) > machine["threads"] / 2:
            facts.append(f"other work kept {machine['load']:g} of them busy")
    versions = result.get("versions", {})
    for package in ("torch", "triton"):
        if versions.get(package):
            facts.append(f"{package} {versions[package]}")
    if result.get("command"):
        facts.append(f"`{result['command']}`")
    return f"From `results/{name}`" + (f": {'; '.join(facts)}." if facts else ".")
