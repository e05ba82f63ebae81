"""What commands print on standard output: tables for people, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labelwise.files import finite

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from labelwise.evaluation.tables import Table as ResultTable


def console() -> Console:
    """Standard output for people. Text is printed as it is: no markup, no guessed colours."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    left: Sequence[str] = (),
) -> None:
    """A table without lines; columns named in ``left`` hold words, the others figures."""
    console().print(table(columns, rows, title=title, left=left))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    left: Sequence[str] = (),
) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from labelwise.evidence.terminal import clean

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        if column in left:
            made.add_column(column, overflow="fold")
        else:
            made.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        made.add_row(*(Text(clean(str(cell))) for cell in row))
    return Group(Text(clean(title), style="bold"), made) if title else made


def print_wide_table(results: ResultTable) -> None:
    """A table of results; where it is wider than the terminal, its columns in several blocks."""
    from rich.table import Table
    from rich.text import Text

    shown = console()
    headings = [column.replace(" ", "\n", 1) for column in results.columns]
    widths = [
        max(len(line) for line in [*heading.split("\n"), *(row[place] for row in results.rows)])
        for place, heading in enumerate(headings)
    ]
    blocks: list[list[int]] = [[0]]
    for place in range(1, len(headings)):
        if sum(widths[column] + 2 for column in [*blocks[-1], place]) > shown.width + 2:
            blocks.append([0])
        blocks[-1].append(place)
    if results.title:
        shown.print(Text(results.title, style="bold"))
    for block in blocks:
        made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for place in block:
            made.add_column(
                headings[place],
                justify="right" if place else "left",
                vertical="bottom",
                no_wrap=True,
            )
        for row, faint in zip(results.rows, results.faint, strict=True):
            made.add_row(*(Text(row[place]) for place in block), style="dim" if faint else None)
        shown.print(made)
        shown.print()
    for sentence in results.notes:
        shown.print(Text(sentence, style="dim"))


def print_json(value: Any) -> None:
    """One JSON value on standard output; figures that are not numbers become null."""
    print(json.dumps(finite(value), ensure_ascii=False, indent=2))


def print_made(made: Mapping[str, Any], card: Mapping[str, Any]) -> None:
    """A model that was made, with its card. Where its labels stand, megabytes of a large thesaurus,
    is in its bundle."""
    print_json({**made, **{key: told for key, told in card.items() if key != "thesaurus"}})
