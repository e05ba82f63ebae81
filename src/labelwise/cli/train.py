"""``labelwise train`` and ``labelwise methods``: from a data set to a bundle."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from labelwise.cli.configs import find_vectors, settings_from
from labelwise.cli.evaluate import command_line
from labelwise.cli.inputs import read_dataset
from labelwise.cli.options import (
    CacheOption,
    DrawOption,
    DropOption,
    EveryConceptOption,
    HideOption,
    JsonOption,
    MoreOption,
    SkipBadOption,
    SummariesOption,
    ThesaurusOption,
    additions_of,
    hiding_of,
)
from labelwise.cli.output import console, note, print_json, print_table
from labelwise.cli.run_folder import finish_run, run_folders, set_run_folder
from labelwise.cli.settings import describe_settings, typed
from labelwise.errors import LabelwiseError


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
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="LABELWISE_DATA",
            help="Folder of the data set: train, dev and test, and the descriptors.",
            show_default=False,
        ),
    ] = None,
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
    help_settings: Annotated[
        bool, typer.Option("--help-settings", help="List the settings of the method and stop.")
    ] = False,
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a method on a data set and write it as a bundle.

    With --more, --thesaurus or --every-concept it is a data set of its own, with a name of its own
    (eurlex57k+newlaw), whose figures never stand among those of the data set alone.

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
    """
    from labelwise import bundle as bundles
    from labelwise.evaluation.runs import DataRecord, current_versions, peak_memory
    from labelwise.methods import get

    cls = get(method)
    if help_settings:
        _show_settings(method, cls.Settings, as_json)
        return
    if data is None or out is None:
        missing = "--data (or LABELWISE_DATA)" if data is None else "--out"
        raise typer.BadParameter(f"{missing} is needed to train")
    given = [*(settings or ()), *([f"seed={seed}"] if seed is not None else ())]
    chosen = settings_from(cls.Settings, method, config, given)
    if getattr(chosen, "vectors", None):
        chosen = dataclasses.replace(chosen, vectors=find_vectors(chosen.vectors, data, config))
    model = cls(chosen)
    model.cache = cache
    check_writable(out)
    set_run_folder(model, method, out, run_dir, resume)

    hiding = hiding_of(hide, draw, drop_documents)
    additions = additions_of(more, summaries, thesaurus, every_concept)
    dataset = read_dataset(data, additions, skip_bad=skip_bad, hiding=hiding)
    model.thesaurus = dataset.thesaurus
    started = time.perf_counter()
    try:
        model.fit(dataset.train, dataset.dev, dataset.label_space)
    except KeyboardInterrupt:
        if run_folders(model):
            note("to go on from the last checkpoint, call the same command with --resume")
        raise
    seconds = time.perf_counter() - started
    card = {
        "data": dataclasses.asdict(DataRecord.of(dataset)),
        "seconds": {"fit": round(seconds, 3)},
        "peak_memory": peak_memory(),
        "versions": current_versions(),
        "command": command_line(),
    }
    bundles.save(model, out, card=card)
    logs = finish_run(model)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    if as_json:
        made = {"method": method, "bundle": str(out), "bytes": size}
        print_json({**made, "logs": [str(log) for log in logs], **card})
        return
    print_table(
        ["method", "documents", "labels", "seconds", "MB", "bundle"],
        [
            [
                method,
                f"{len(dataset.train):,}",
                f"{len(model.label_space):,}",
                f"{seconds:.1f}",
                f"{size / 1e6:.1f}",
                out,
            ]
        ],
        left=("method", "bundle"),
    )
    for log in logs:
        note(f"The log of the training: {log}")
    note(f"Next: labelwise evaluate {out} --data {data}")


def check_writable(out: Path) -> None:
    """Refuse before the training, not after it, where the bundle could not be written."""
    if out.is_file():
        raise LabelwiseError(f"{out} is a file: a bundle is a folder, choose another name")
    if out.is_dir() and any(out.iterdir()):
        from labelwise import bundle as bundles

        try:
            bundles.describe(out)
        except LabelwiseError:
            raise LabelwiseError(
                f"{out} is a folder with other things in it: choose another name for the bundle"
            ) from None
    new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise LabelwiseError(f"{out} cannot be written to: choose another place for the bundle")
    if new:
        out.rmdir()


def _show_settings(method: str, cls: type[Any], as_json: bool) -> None:
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
