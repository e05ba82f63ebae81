"""``labelwise learn``: a model takes in what people decided of its suggestions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import JsonOption, TrainedArgument
from labelwise.cli.output import print_json, print_table
from labelwise.progress import note

WORTH = (
    "Whether this helps has to be measured: in replays a linear model gained less than a point of "
    "RP@5, a blend (eurovoc-en is one) nothing, and it lost on the newest acts. On labelled acts "
    "of your own: labelwise replay {bundle} --on FILE"
)


def learn(
    bundle: TrainedArgument,
    *,
    decisions: Annotated[
        Path, typer.Option(help="The log of decisions: JSONL, one decision a line.")
    ],
    acts: Annotated[Path, typer.Option(help="File or folder with the texts of the decided acts.")],
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the model in results.", show_default="that of --out")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Learn from decisions: what was accepted, added and rejected, act by act.

    A label that is refused too often goes down, and what was decided of an act counts for acts that
    are like it. A label that no training document carried is learned from five decided acts on.
    Where the model was right there is little to learn, and labels without decisions keep their
    scores. The model itself stays in the bundle as it was; one that has learned can learn more.

    It takes a linear model (svm, logistic), a tree, or a blend with one, such as those of the
    package. The bundle remembers the last 5,000 acts by the weights of their words.

    Little is gained so far: where gold labels were replayed as decisions, a linear model gained
    less than a point of RP@5, and a blend, as eurovoc-en is one, nothing; on the newest acts it
    lost. Measure it on acts of your own, with `labelwise replay`, before you use what was learned.

    A line of the log names the act, what was decided (accept, add, reject, never, remove, done,
    reopen) and the concept; of an act that is done every other concept counts as refused.

    \b
    Examples:
      labelwise learn eurovoc-en --decisions log.jsonl --acts acts.jsonl --out ours.bundle
      labelwise tag act.html --bundle ours.bundle
      labelwise serve ours.bundle before=eurovoc-en
    """
    from labelwise.experiments.learn import learn as learn_bundle

    made = learn_bundle(bundle, decisions, acts=acts, out=out, name=name, command=command_line())
    told = made.card["learned"]
    if as_json:
        print_json({"bundle": str(out), **told})
    else:
        counts = {key: told[key] for key in told if key != "from"}
        print_table(
            ["bundle", *counts],
            [[str(out), *(f"{n:,}" for n in counts.values())]],
            left=("bundle",),
        )
    note(WORTH.format(bundle=bundle))
    note(f"Next: labelwise tag act.html --bundle {out}")
