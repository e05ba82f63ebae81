"""``labelwise bench``: how fast, beside peers, in one run each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import JsonOption
from labelwise.cli.output import print_json, print_table
from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.progress import note


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Which; if none is named, all that a CPU can run.", metavar="NAMES"),
    ] = None,
    *,
    gpu: Annotated[bool, typer.Option("--gpu", help="All that need a GPU instead.")] = False,
    out: Annotated[
        Path, typer.Option(help="Folder of results/, README.md and the peers' environments.")
    ] = Path("benchmarks"),
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="LABELWISE_DATA", help="The data set; the synthetic corpus if none is named."
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="How often each is measured.", show_default="its own")
    ] = None,
    max_seconds: Annotated[
        float, typer.Option(min=1, help="After so long a GPU benchmark begins nothing new.")
    ] = 100.0,
    libmultilabel_source: Annotated[
        Path | None,
        typer.Option(
            envvar="LIBMULTILABEL_SOURCE",
            help="Folder with LibMultiLabel's package, where it cannot be installed.",
        ),
    ] = None,
    acts: Annotated[
        int, typer.Option(min=40, help="How many acts the benchmark `million` makes and tags.")
    ] = 1_000_000,
    only_page: Annotated[
        bool, typer.Option("--page", help="Measure nothing: make the page from OUT/results.")
    ] = False,
    show: Annotated[bool, typer.Option("--list", help="Name the benchmarks and stop.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure time and memory side by side with peers, and make the page of tables.

    Each benchmark runs ours and its peers in one run, on the same data and threads, and writes
    OUT/results/NAME.json; OUT/README.md and its figures are made from all such files. A peer is
    installed from PyPI into an environment of its own below OUT/.peers.

    \b
    Examples:
      labelwise bench --list
      labelwise bench label-attention-cpu
      labelwise bench svm --data data/eurlex57k --repeats 3
      labelwise bench million --acts 20000
      labelwise bench --gpu --libmultilabel-source benchmarks/.peers/libmultilabel
      labelwise bench --page
    """
    from labelwise.bench import BENCHMARKS, Plan, find
    from labelwise.bench.runner import run_benchmark

    if show:
        rows = [(name, one.device, one.what) for name, one in BENCHMARKS.items()]
        if as_json:
            print_json([dict(zip(("name", "device", "what"), row, strict=True)) for row in rows])
        else:
            print_table(("name", "device", "what"), rows, left=("name", "device", "what"))
        return
    device = "gpu" if gpu else "cpu"
    chosen = names or [name for name, one in BENCHMARKS.items() if one.device == device]
    if only_page:
        chosen = []
    for name in chosen:  # a wrong name is told before anything is measured
        find(name)
    plan = Plan(
        out=out,
        data=data,
        repeats=repeats,
        max_seconds=max_seconds,
        libmultilabel_source=libmultilabel_source,
        acts=acts,
    )
    written, failed = [], []
    for name in chosen:
        note(f"{name} ...")
        try:
            written.append(run_benchmark(name, plan))
        except LabelwiseError as error:  # the others are worth having all the same
            failed.append(f"{name}: {error}")
        else:
            note(f"wrote {written[-1]}")
    make_page(out)
    if as_json:
        print_json([str(path) for path in written])
    if failed:
        raise LabelwiseError("; ".join(failed))


def make_page(out: Path) -> None:
    """The page and its figures; where figures cannot be drawn, those that are there stay."""
    from labelwise.bench.page import write_figures, write_page

    try:
        write_figures(out)
    except MissingExtraError as error:
        note(str(error))
    note(f"wrote {write_page(out)}")
