"""The page of all benchmarks, ``README.md`` beside ``results/``, made from the files there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelwise.bench.cells import cell
from labelwise.bench.plan import Result
from labelwise.bench.results import read_results, tables
from labelwise.files import write_whole

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
