"""The page of all benchmarks, ``README.md`` beside ``results/``, and its curves, in ``figures/``:
both are made from the files in ``results/``.

A cell of its tables is a figure with its unit, and the spread of its repeats. A table asks for a
curve by ``figure``: the key of the size (``over``), the ``lines`` (names of which the rows hold
``NAME seconds`` and ``NAME bytes``), and a panel for each of the two. Both axes are logarithmic. A
relative panel shows multiples of the first point of the last line, where seconds would say more
about the machine than about the program. A panel of another measure has ``"scale": "linear"``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise.bench import Result
from labelwise.bench.results import read_results, tables
from labelwise.errors import LabelwiseError, MissingExtraError
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


_LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"))
"""Colours of Okabe and Ito, which colour-blind readers can tell apart, each with its own marker."""


def write_figures(out: Path) -> list[Path]:
    """Draw the figures of all results into ``out/figures``."""
    written = []
    for name, result in read_results(out).items():
        for number, table in enumerate(tables(result)):
            if table.get("figure"):
                path = out / "figures" / figure_name(name, number)
                write_whole(path, curves_svg(table))
                written.append(path)
    return written


def curves_svg(table: Mapping[str, Any]) -> bytes:
    """The figure of one table as SVG: same table, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the figures of the benchmarks", "plots") from error

    asked = table["figure"]
    # A fixed salt for the ids, text as text, no date: the file changes only with the figures.
    with mpl.rc_context({"svg.hashsalt": "labelwise", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9, 3.4), layout="constrained")
        panels = figure.subplots(1, len(asked["panels"]), squeeze=False)[0]
        for panel, wanted in zip(panels, asked["panels"], strict=True):
            unit = 1.0
            if wanted.get("relative"):
                (_, unit), *_ = line_points(table, asked["lines"][-1], wanted["what"])
            for line, (colour, marker) in zip(asked["lines"], _LOOKS, strict=False):
                points = line_points(table, line, wanted["what"])
                panel.plot(
                    [size for size, _ in points],
                    [cost / unit for _, cost in points],
                    color=colour,
                    marker=marker,
                    markersize=4,
                    label=line,
                )
            scale = wanted.get("scale", "log")
            panel.set(xscale=scale, yscale=scale, xlabel=asked["over"], ylabel=_label(wanted))
            panel.grid(alpha=0.3)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def line_points(table: Mapping[str, Any], line: str, what: str) -> list[tuple[float, float]]:
    """The points of a line that were measured: size and cost."""
    over = table["figure"]["over"]
    found = [(row[over], median_of(row.get(f"{line} {what}"))) for row in table["rows"]]
    return [(size, cost) for size, cost in found if isinstance(cost, int | float) and cost > 0]


def _label(panel: Mapping[str, Any]) -> str:
    if panel["what"] == "bytes":
        return "extra memory, bytes"
    relative = panel.get("relative")
    return "time, relative to the first plain point" if relative else str(panel["what"])
