"""``labelwise faithfulness``: does the score hang on the words that the evidence points to?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.evaluate import SplitChoice
from labelwise.cli.options import DataOption, JsonOption, TrainedArgument
from labelwise.cli.output import console, print_json, print_wide_table
from labelwise.progress import note


def faithfulness(
    bundle: TrainedArgument,
    data: DataOption,
    *,
    split: Annotated[SplitChoice, typer.Option(help="Documents to look at.")] = SplitChoice.test,
    documents: Annotated[
        int, typer.Option(min=1, help="So many of them, drawn at random.", metavar="N")
    ] = 100,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Best labels of each.")] = 3,
    gold: Annotated[bool, typer.Option("--gold", help="Its gold labels instead.")] = False,
    explainer: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a network attention, gradient, attingrad, integrated; of any method "
            "occlusion. May be repeated.",
            metavar="NAME",
            show_default="all that the method has",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same documents and words.")] = 0,
    results: Annotated[
        Path,
        typer.Option(help="Folder; RESULTS/DATA/METHOD/faithfulness-seed-N.json is written."),
    ] = Path("results"),
    as_json: JsonOption = False,
) -> None:
    """Test whether the evidence of a bundle is what its scores hang on.

    Comprehensiveness: what the score of a label loses when the words with the most evidence for it
    are removed; higher is better. Sufficiency: what it loses when only those are kept; lower is
    better. Each at 1%, 5%, 10%, 20% and 50% of the words, and their mean, the AOPC; beside it the
    same for other explainers and for random words. Evidence that does no better than random words
    explains nothing. Normalised between the lowest and the highest AOPC found for a document, the
    figures of different methods compare; the cost of an explainer is told in readings.

    \b
    Examples:
      labelwise faithfulness bigru-lwan.bundle --data data/eurlex57k
      labelwise faithfulness svm.bundle --data demo/synthetic --documents 30 --gold --json
      labelwise faithfulness han.bundle --data data --explainer attention --explainer attingrad
    """
    from labelwise.evidence.faithfulness import RemovalPlan
    from labelwise.evidence.faithfulness_tables import faithfulness_tables
    from labelwise.experiments.faithfulness import faithfulness as faithfulness_of

    plan = RemovalPlan(
        top=top, gold=gold, explainers=None if explainer is None else tuple(explainer), seed=seed
    )
    made = faithfulness_of(
        bundle, data=data, split=str(split), documents=documents, plan=plan, results=results,
        command=command_line(),
    )  # fmt: skip
    if as_json:
        print_json(made.record)
    else:
        for table in faithfulness_tables(made.found):
            print_wide_table(table)
        for sentence in made.sentences:
            console().print(sentence)
    note(f"wrote {made.path}")
