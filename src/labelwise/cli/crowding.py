"""``labelwise crowding``: do near-synonyms take each other's places, and would a rule help?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import DataOption, JsonOption, ThesaurusOption, TrainedArgument
from labelwise.cli.output import print_json, print_wide_table
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.evaluation.crowding import Found


def crowding(
    bundle: TrainedArgument,
    data: DataOption,
    *,
    on: Annotated[
        Path | None,
        typer.Option(
            help="Look at this file or folder of labelled documents, and not at dev.",
            show_default=False,
        ),
    ] = None,
    documents: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="So many of the file's documents, drawn at random.",
            metavar="N",
            show_default="all",
        ),
    ] = None,
    thesaurus: ThesaurusOption = None,
    results: Annotated[
        Path, typer.Option(help="Folder; RESULTS/DATA/METHOD/crowding-seed-N.json is written.")
    ] = Path("results"),
    as_json: JsonOption = False,
) -> None:
    """Measure how often a concept stands beside its broader one in the first five labels.

    In gold and in the model's list; how often both are right; and what two rules do that lower a
    label once a relative stands before it. Their weight is chosen on documents and measured on
    others, with a p-value. The data set's training documents say how often two labels go together.

    \b
    Examples:
      labelwise crowding svm.bundle --data data/eurlex57k
      labelwise crowding svm.bundle --data data/eurlex57k --on newlaw/dev.jsonl.xz
    """
    from labelwise.experiments.crowding import crowding as crowding_of

    made = crowding_of(
        bundle, data=data, on=on, documents=documents, thesaurus=thesaurus, results=results,
        command=command_line(),
    )  # fmt: skip
    if as_json:
        print_json(made.record)
    else:
        _show(made.found)
    note(f"wrote {made.path}")


def _show(found: Found) -> None:
    from labelwise.evaluation.tables import Table, number, p_value

    table = Table(["rule", "weight", "RP@5", "nDCG@5", "crowded", "p"])
    table.add(["none", "", *map(number, found.plain.values()), number(found.model.documents), ""])
    for name, rule in found.rules.items():
        for weight, row in rule.by_weight.items():
            if weight != "0":
                table.add([name, weight, *map(number, row.values()), ""])
        held = [number(one) for one in rule.held_out.values()]
        table.add([name, "held out", *held, "", p_value(rule.p_value)])
    print_wide_table(table)
    both = ", ".join(f"{what} {count:,}" for what, count in found.right.items())
    print(
        f"documents with a concept beside its broader one: gold {100 * found.gold.documents:.1f} %"
        f", first five {100 * found.model.documents:.1f} % (gold of these pairs: {both})"
    )
