"""``labelwise examine``: is the attention of a network an explanation of its scores?"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.evaluate import SplitChoice
from labelwise.cli.options import DataOption, JsonOption
from labelwise.cli.output import console, print_json, print_wide_table
from labelwise.experiments.sampled import counted, record_of, sample, write_record
from labelwise.progress import note


def examine(
    bundle: Annotated[Path, typer.Argument(help="Folder of a trained network.", metavar="BUNDLE")],
    data: DataOption,
    *,
    other: Annotated[
        Path | None,
        typer.Option(help="The same network trained from another seed.", metavar="BUNDLE"),
    ] = None,
    split: Annotated[SplitChoice, typer.Option(help="Documents to look at.")] = SplitChoice.test,
    documents: Annotated[
        int, typer.Option(min=1, help="So many of them, drawn at random.", metavar="N")
    ] = 100,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Best labels of each.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same figures.")] = 0,
    results: Annotated[
        Path,
        typer.Option(
            help="Folder; RESULTS/DATA/METHOD/attention-seed-N.json is written, and of all of them "
            "RESULTS/DATA/attention.md and attention.svg."
        ),
    ] = Path("results"),
    as_json: JsonOption = False,
) -> None:
    """Examine the attention of a network, as Jain and Wallace (2019) did.

    How far attention agrees with gradients; how far a score moves when attention is shuffled, or
    the same for all words; and whether another attention, as different as can be, gives the same
    score. With --other, how far chance alone moves attention, as Wiegreffe and Pinter asked. For
    networks whose score is a mean over the words weighed by attention.

    \b
    Examples:
      labelwise examine bigru-lwan.bundle --data data/eurlex57k
      labelwise examine bigru-att-0.bundle --other bigru-att-1.bundle --data data/eurlex57k
    """
    from labelwise import bundle as bundles
    from labelwise.corpus.dataset import open_dataset
    from labelwise.evaluation.attention_figure import attention_svg
    from labelwise.evaluation.attention_records import (
        FIGURE,
        PAGE,
        AttentionRecord,
        attention_page,
        attention_says,
        attention_table,
        read_attention,
    )
    from labelwise.evidence.examination import ExaminationPlan
    from labelwise.evidence.examination import examine as examine_network
    from labelwise.experiments.data import commands
    from labelwise.files import write_whole
    from labelwise.methods.attending import require_attending

    method = require_attending(bundles.load(bundle))
    beside = None if other is None else require_attending(bundles.load(other))
    card = bundles.describe(bundle)["card"]
    dataset = open_dataset(data)
    chosen = sample(dataset, split, documents, seed)
    started = time.perf_counter()
    with counted(chosen, f"{method.name}: replacing attention") as each:
        found = examine_network(method, each, ExaminationPlan(top=top, seed=seed), beside)
    figures = {
        "split": str(split),
        "other seed": None if beside is None else int(beside.settings.seed),
        **dataclasses.asdict(found),
    }
    command = commands(card, command_line())
    record = record_of(method, dataset, card, figures, started=started, command=command)
    path = write_record(results, "attention", record)
    folder = path.parent.parent
    write_whole(folder / FIGURE, attention_svg(read_attention(folder)))
    write_whole(folder / PAGE, attention_page(folder).encode())
    if as_json:
        print_json(record)
    else:
        this = AttentionRecord.read(path)
        print_wide_table(attention_table([this]))
        console().print(attention_says(this).replace("**", ""))
    note(f"wrote {path}, {folder / PAGE} and {folder / FIGURE}")
