"""``labelwise examine``: is the attention of a network an explanation of its scores?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.evaluate import SplitChoice
from labelwise.cli.options import DataOption, JsonOption, fetched
from labelwise.cli.output import console, print_json, print_wide_table
from labelwise.progress import note


def examine(
    bundle: Annotated[
        Path,
        typer.Argument(help="Folder of a trained network.", metavar="BUNDLE", callback=fetched),
    ],
    data: DataOption,
    *,
    other: Annotated[
        Path | None,
        typer.Option(
            help="The same network trained from another seed.", metavar="BUNDLE", callback=fetched
        ),
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
    from labelwise.evaluation.attention_records import (
        AttentionRecord,
        attention_says,
        attention_table,
    )
    from labelwise.evidence.examination import ExaminationPlan
    from labelwise.experiments.examine import examine as examine_bundle

    made = examine_bundle(
        bundle, data=data, other=other, split=str(split), documents=documents,
        plan=ExaminationPlan(top=top, seed=seed), results=results, command=command_line(),
    )  # fmt: skip
    if as_json:
        print_json(made.record)
    else:
        this = AttentionRecord.read(made.path)
        print_wide_table(attention_table([this]))
        console().print(attention_says(this).replace("**", ""))
    note(f"wrote {made.path}, {made.page} and {made.figure}")
