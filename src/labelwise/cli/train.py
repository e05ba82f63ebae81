"""``labelwise train`` and ``labelwise methods``: from a data set to a bundle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import (
    CacheOption,
    DrawOption,
    DropOption,
    EveryConceptOption,
    HideOption,
    JsonOption,
    MaybeDataOption,
    MoreOption,
    SkipBadOption,
    SummariesOption,
    ThesaurusOption,
)
from labelwise.cli.output import console, print_json, print_made, print_table
from labelwise.experiments.settings import describe_settings, typed
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.methods import Settings


def _method_names(incomplete: str) -> list[str]:
    from labelwise.methods import REGISTRY

    return [name for name in REGISTRY if name.startswith(incomplete)]


MethodArgument = Annotated[
    str,
    typer.Argument(
        help="Name of the method; `labelwise methods` lists them.",
        metavar="METHOD",
        autocompletion=_method_names,
    ),
]


def train(
    method: MethodArgument,
    *,
    data: MaybeDataOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the bundle to write.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting of the method; may be repeated.", metavar="NAME=VALUE"
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file of settings, one `name = value` a line; --set wins over it.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Same seed, same model.", show_default="0")
    ] = None,
    hide: HideOption = None,
    draw: DrawOption = 0,
    drop_documents: DropOption = False,
    cache: CacheOption = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the checkpoint and the log of a network.", show_default="OUT.run"
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from the checkpoint of a training that was stopped."),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            help="Of a linear model: train the I-th of N parts of the labels; `labelwise join "
            "shards` makes one model of all.",
            metavar="I/N",
            show_default=False,
        ),
    ] = None,
    help_settings: Annotated[
        bool, typer.Option("--help-settings", help="List the settings of the method and stop.")
    ] = False,
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a method on a data set and write it as a bundle.

    With --more, --thesaurus or --every-concept it is a data set of its own, with a name of its own
    (eurlex57k+newlaw), whose figures never stand among those of the data set alone.

    Under torchrun several processes train one network together, the one that a single process would
    have trained.

    \b
    Examples:
      labelwise train svm --data data/eurlex57k --out svm.bundle
      labelwise train svm --help-settings
      labelwise train logistic --data demo/synthetic --out lr.bundle --set min_count=2 --seed 1
      labelwise train bigru-lwan --data data/eurlex57k --out lwan.bundle --set vectors=glove.txt
      labelwise train han --data data --out han.bundle --config configs/eurlex57k/han.toml
      labelwise train han --data demo/synthetic --out han.bundle --resume
      labelwise train exact-match --data data/eurlex57k --out match.bundle --hide 0.25 --draw 1
      labelwise train svm --data data/eurlex57k --more newlaw/train-titles.jsonl.xz --out svm.bundle
      labelwise train svm --data data/eurlex57k --shard 3/8 --out svm-3.bundle
      torchrun --nproc-per-node 4 -m labelwise train han --data data/eurlex57k --out han.bundle
    """
    from labelwise.methods import get

    if help_settings:
        _show_settings(method, get(method).Settings, as_json)
        return
    get(method)  # says so where there is none of this name
    if data is None or out is None:
        missing = "--data (or LABELWISE_DATA)" if data is None else "--out"
        raise typer.BadParameter(f"{missing} is needed to train")
    from labelwise.corpus.more import by_file
    from labelwise.experiments.run_folder import logs_of
    from labelwise.experiments.train import train as train_method
    from labelwise.training.processes import speaks

    model = train_method(
        method, data=data, more=more, summaries=summaries, thesaurus=thesaurus,
        every_concept=every_concept, out=out, settings=settings, config=config, seed=seed,
        hide=hide, draw=draw, drop_documents=drop_documents, cache=cache, run_dir=run_dir,
        resume=resume, shard=shard, skip_bad=skip_bad, command=command_line(),
    )  # fmt: skip
    if not speaks():
        return
    logs = logs_of(model.method)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    if as_json:
        made = {"method": method, "bundle": str(out), "bytes": size}
        beside = {"logs": [str(log) for log in logs], "repeated": by_file(model.repeated)}
        print_made({**made, **beside}, model.card)
        return
    print_table(
        ["method", "documents", "labels", "seconds", "MB", "bundle"],
        [
            [
                method,
                f"{model.card['data']['counts']['train']:,}",
                f"{len(model.labels):,}",
                f"{model.card['seconds']['fit']:.1f}",
                f"{size / 1e6:.1f}",
                out,
            ]
        ],
        left=("method", "bundle"),
    )
    for log in logs:
        note(f"The log of the training: {log}")
    if shard is not None:
        note(f"Next: labelwise join shards {out} ... --data {data}, when all shards are trained")
        return
    note(f"Next: labelwise evaluate {out} --data {data}")


def _show_settings(method: str, cls: type[Settings], as_json: bool) -> None:
    """One setting after another, its meaning beneath: in a table there is no room for it."""
    rows = describe_settings(cls)
    if as_json:
        print_json(rows)
        return
    from rich.padding import Padding
    from rich.text import Text

    shown = console()
    title = f"Settings of {method}: labelwise train {method} --set name=value"
    shown.print(Text(title, style="bold"))
    for row in rows:
        heading = Text(f"{row['name']} = {typed(row['default'])}", style="bold")
        shown.print(heading.append(f"  ({row['takes']})", style="not bold"))
        if row["meaning"]:
            shown.print(Padding(Text(row["meaning"]), (0, 0, 0, 4), expand=False))


def methods(as_json: JsonOption = False) -> None:
    """List the methods.

    \b
    Examples:
      labelwise methods
      labelwise train svm --help-settings
    """
    from labelwise.errors import MissingExtraError
    from labelwise.methods import REGISTRY, get

    rows = []
    for name in REGISTRY:
        try:
            about = (sys.modules[get(name).__module__].__doc__ or "").strip().split("\n\n")[0]
        except MissingExtraError as error:
            about = str(error)
        rows.append({"method": name, "about": " ".join(about.split())})
    if as_json:
        print_json(rows)
    else:
        print_table(
            ["method", "about"],
            [[row["method"], row["about"]] for row in rows],
            left=("method", "about"),
        )
