"""``labelwise compact``: a small model from a large one, a linear one's size chosen on dev."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import (
    CacheOption,
    EveryConceptOption,
    JsonOption,
    MaybeDataOption,
    MoreOption,
    SummariesOption,
    fetched,
)
from labelwise.cli.output import print_json, print_table, print_wide_table
from labelwise.errors import LabelwiseError
from labelwise.progress import note

PRUNES = "0.02,0.03,0.035,0.04,0.045,0.05,0.06,0.08,0.1,0.15"


def compact(
    bundle: Annotated[
        Path,
        typer.Argument(
            help="A linear model (svm, logistic), one with an encoder, or a blend.",
            metavar="BUNDLE",
            callback=fetched,
        ),
    ],
    *,
    data: MaybeDataOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    every_concept: EveryConceptOption = False,
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the model in results.", show_default="that of --out")
    ] = None,
    max_mb: Annotated[
        float, typer.Option(min=0.1, help="Megabytes that the bundle may have, all files together.")
    ] = 25.0,
    prune: Annotated[
        str, typer.Option(help="Weights below this are dropped; each of a comma list is tried.")
    ] = PRUNES,
    step: Annotated[
        float, typer.Option(min=1.02, help="A weight is rounded to levels so many times apart.")
    ] = 1.1,
    thesaurus: Annotated[
        Path | None,
        typer.Option(
            help="SKOS, JSON or CSV file that says where the labels stand.",
            show_default="that of the data, or in a folder eurovoc beside it",
        ),
    ] = None,
    places: Annotated[
        Path | None,
        typer.Option(
            help="Another thesaurus, for the domains and microthesauri of labels where that one "
            "has none.",
            show_default=False,
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option(help="Folder of results; RESULTS/DATA/NAME/sizes.json is written.")
    ] = Path("results"),
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a model small.

    A linear one: fewer weights, fewer n-grams, 8 bits a weight or less. Several sizes are measured
    on dev. Of those that fit, the one with the highest RP@5 over all labels is written, with its
    probabilities and threshold fitted on dev again, and with the place of each label in the
    thesaurus.

    One with an encoder, or a blend that has such a member: the large weights of the encoder and of
    the labels in 8 bits, row by row, as a CPU uses them anyway. Nothing is chosen and no documents
    are needed; the linear member of a blend is made small before it is joined.

    \b
    Examples:
      labelwise compact svm.bundle --data data/eurlex57k --out small.bundle
      labelwise compact svm.bundle --data data/eurlex57k --out small.bundle --max-mb 10
      labelwise compact svm.bundle --data data --out small.bundle --thesaurus eurovoc.ttl.xz
      labelwise compact blend.bundle --out small.bundle --max-mb 60
    """
    from labelwise.experiments.compact import InEightBits, compact_bundle, sizes_table

    made = compact_bundle(
        bundle, data=data, more=more, summaries=summaries, every_concept=every_concept, out=out,
        name=name, max_mb=max_mb, prunes=_numbers(prune), step=step, thesaurus=thesaurus,
        places=places, results=results, cache=cache, command=command_line(),
    )  # fmt: skip
    if isinstance(made, InEightBits):
        said = {"bundle": str(out), "MB given": made.given / 1e6, "MB": made.bytes / 1e6}
        if as_json:
            print_json(said)
        else:
            row = [str(out), f"{made.given / 1e6:.1f}", f"{made.bytes / 1e6:.1f}"]
            print_table(list(said), [row], left=("bundle",))
        return
    if as_json:
        print_json(made.record)
    else:
        print_wide_table(sizes_table(made.sizes, made.chosen, f"{made.record['bundle']}, dev"))
        took = made.record["seconds"]
        print(
            f"loads in {took['load']:.2f} s; the first answer of `labelwise tag` takes "
            f"{took['first answer']:.2f} s; then {took['documents a second']:,.0f} documents a "
            "second"
        )
    note(f"wrote {out} and {made.path}")


def _numbers(given: str) -> list[float]:
    try:
        found = sorted({float(one) for one in given.split(",")})
    except ValueError:
        raise LabelwiseError(f"--prune is a list of numbers, 0.03,0.05, not '{given}'") from None
    if not all(0 < one < float("inf") for one in found):
        raise LabelwiseError(f"--prune is a list of numbers above 0, not '{given}'")
    return found
