"""``labelwise replay``: what a model would have learned from the decisions of labelled acts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.bench import make_page
from labelwise.cli.command_line import command_line
from labelwise.cli.options import JsonOption, fetched
from labelwise.cli.output import print_json
from labelwise.progress import note


def replay(
    bundle: Annotated[
        Path,
        typer.Argument(
            help="Folder of a model that has not seen the acts.",
            metavar="BUNDLE",
            callback=fetched,
        ),
    ],
    *,
    on: Annotated[Path, typer.Option(help="File or folder of acts with gold labels.")],
    out: Annotated[Path, typer.Option(help="Folder of results/ and README.md.")] = Path(
        "benchmarks"
    ),
    every: Annotated[int, typer.Option(min=1, help="Learn after every so many acts.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Measure `labelwise learn`: gold labels are replayed as an indexer's decisions.

    The acts are taken in order of time, by their CELEX numbers. After every so many, the model
    learns from all before and is measured on all that come after: RP@5 over decisions, beside the
    model as it was. OUT/results gets the figures, OUT/README.md a table and a curve.

    \b
    Examples:
      labelwise replay twin.bundle --on newlaw/dev.jsonl.xz
      labelwise replay svm.bundle --on acts-2024.jsonl --every 50 --out replayed
    """
    from labelwise.bench.page import markdown
    from labelwise.bench.results import tables
    from labelwise.experiments.replay import replay as replayed

    result, path = replayed(bundle, on, out=out, every=every, command=command_line())
    if as_json:
        print_json(result)
    else:
        for table in tables(result):
            print(f"{table['what']}\n\n{markdown(table)}\n")
    note(f"wrote {path}")
    make_page(out)
