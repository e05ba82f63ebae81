"""``labelwise card``: what a model is, how good it is and what it cannot do, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import TrainedArgument
from labelwise.progress import note


def card(
    bundle: TrainedArgument,
    *,
    results: Annotated[
        Path, typer.Option(help="Folder of runs, as `labelwise evaluate` writes them.")
    ] = Path("results"),
    out: Annotated[
        Path | None, typer.Option(help="Write a Markdown file instead of printing.")
    ] = None,
    time: Annotated[
        Path | None,
        typer.Option(
            help="First measure how fast it loads and tags documents of this file, and keep that "
            "in the folder of results.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the model card of a bundle: data, figures by group, limits, how it was made.

    The figures are those in the folder of results; but for --time none is measured here.

    \b
    Examples:
      labelwise card svm.bundle
      labelwise card eurovoc-en
      labelwise card svm.bundle --results results --out svm.md
      labelwise card svm.bundle --time data/eurlex57k/dev.jsonl --out svm.md
    """
    from labelwise.bundle import describe
    from labelwise.cli.command_line import command_line
    from labelwise.experiments.card import card_markdown, results_folder
    from labelwise.experiments.times import write_times
    from labelwise.files import write_whole

    if time is not None:
        folder = results_folder(describe(bundle), results)
        note(f"wrote {write_times(bundle, time, folder, command_line())}")
    if out is None:
        print(card_markdown(bundle, results), end="")
        return
    figure = out.with_name(f"{out.stem}-reliability.svg")
    text = card_markdown(bundle, results, figure)
    write_whole(out, text.encode())
    note(f"wrote {out}")
