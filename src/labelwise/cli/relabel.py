"""``labelwise relabel``: a saved model under the labels of a newer thesaurus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import JsonOption, fetched
from labelwise.cli.output import print_json, print_table
from labelwise.progress import note


def relabel(
    bundle: Annotated[
        Path,
        typer.Argument(
            help="Folder of a trained model, or eurovoc-en, that of the package.",
            metavar="BUNDLE",
            callback=fetched,
        ),
    ],
    *,
    thesaurus: Annotated[Path, typer.Option(help="The newer thesaurus: a JSON, CSV or SKOS file.")],
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    date: Annotated[
        str | None,
        typer.Option(
            help="The thesaurus's date: 2026, 2026-07 or 2026-07-01.",
            show_default="the date in the file's name",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a saved model to a newer thesaurus; nothing is trained.

    Labels have today's names. A label that was replaced passes its score to its successors; where
    several pass theirs to one, the highest counts. Labels that the thesaurus does not have are no
    longer suggested. Concepts that are new to the model are scored from their names, where
    its method can.

    \b
    Examples:
      labelwise relabel eurovoc-en --thesaurus eurovoc-2026-07-en.json --out eurovoc-2026.bundle
      labelwise relabel z.bundle --thesaurus eurovoc.ttl --date 2026-07 --out z-2026.bundle
    """
    from labelwise.experiments.relabel import relabel as relabel_bundle

    made = relabel_bundle(bundle, thesaurus=thesaurus, out=out, date=date, command=command_line())
    told = made.told
    if as_json:
        print_json({"bundle": str(out), **told, "notes": list(made.notes)})
    else:
        print_table(
            ["thesaurus", "date", *told["counts"]],
            [[told["name"], told["date"] or "–", *(f"{n:,}" for n in told["counts"].values())]],
            left=("thesaurus",),
        )
    for sentence in made.notes:
        note(sentence)
    if told["date"] is None:
        note(f"the date of {thesaurus.name} is not known: --date 2026-07 writes it into the bundle")
    note(f"wrote {out}")
