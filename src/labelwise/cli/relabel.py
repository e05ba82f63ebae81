"""``labelwise relabel``: a saved model under the labels of a newer thesaurus."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import JsonOption
from labelwise.cli.output import print_json, print_table
from labelwise.errors import LabelwiseError
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.methods.relabelled import Changes


def relabel(
    bundle: Annotated[
        Path,
        typer.Argument(
            help="Folder of a trained model, or eurovoc-en, that of the package.", metavar="BUNDLE"
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
    longer suggested. Concepts that are new to the model are scored from their descriptors, where
    its method can.

    \b
    Examples:
      labelwise relabel eurovoc-en --thesaurus eurovoc-2026-07-en.json --out eurovoc-2026.bundle
      labelwise relabel z.bundle --thesaurus eurovoc.ttl --date 2026-07 --out z-2026.bundle
    """
    from labelwise import bundle as bundles
    from labelwise import shipped
    from labelwise.corpus.relabelling import date_in, with_places
    from labelwise.corpus.sources import stem
    from labelwise.corpus.thesaurus import read_thesaurus
    from labelwise.experiments.data import commands
    from labelwise.methods.relabelled import relabel as relabelled

    bundles.check_writable(out)
    dated = _checked(date) if date is not None else date_in(stem(thesaurus))
    folder = shipped.folder_of(bundle)
    method, parent = bundles.load(folder), bundles.describe(folder)
    today = read_thesaurus(thesaurus)
    made, changes = relabelled(method, today)
    told = _told(changes, stem(thesaurus), dated) | {"from": parent["digest"]}
    told["counts"]["labels"] = len(made.label_space)
    known = with_places(today, bundles.thesaurus_in(parent["card"], folder))
    known = known.around(made.label_space.ids)
    card: dict[str, Any] = {
        **parent["card"],
        "name": out.resolve().name,
        "thesaurus": known.to_json(),
        "relabelled": told,
        "command": commands(parent["card"], command_line()),
    }
    bundles.save(made, out, card=card)
    if as_json:
        print_json({"bundle": str(out), **told, "notes": list(changes.notes)})
    else:
        print_table(
            ["thesaurus", "date", *told["counts"]],
            [[told["name"], dated or "–", *(f"{n:,}" for n in told["counts"].values())]],
            left=("thesaurus",),
        )
    for sentence in changes.notes:
        note(sentence)
    if dated is None:
        note(f"the date of {thesaurus.name} is not known: --date 2026-07 writes it into the bundle")
    note(f"wrote {out}")


def _told(changes: Changes, name: str, date: str | None) -> dict[str, Any]:
    """What the card records: the thesaurus, and what became of the labels."""
    labels = changes.labels
    return {
        "name": name,
        "date": date,
        "counts": {
            "renamed": len(labels.renamed),
            "replaced": len(labels.replaced),
            "dropped": len(labels.dropped),
            "added": len(changes.added),
        },
        "renamed": {id: list(names) for id, names in labels.renamed.items()},
        "replaced": {id: list(new) for id, new in labels.replaced.items()},
        "dropped": list(labels.dropped),
        "added": list(changes.added),
    }


def _checked(date: str) -> str:
    if not re.fullmatch(r"\d{4}(?:-\d\d(?:-\d\d)?)?", date):
        raise LabelwiseError(f"--date is 2026, 2026-07 or 2026-07-01, not '{date}'")
    return date
