"""A cell of a table: a figure with its unit, and the spread of its repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from labelwise.errors import LabelwiseError

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
