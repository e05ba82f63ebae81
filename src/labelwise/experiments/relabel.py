"""A saved model comes under the labels of a newer thesaurus."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.corpus.relabelling import date_in, with_places
from labelwise.corpus.sources import stem
from labelwise.corpus.thesaurus import read_thesaurus
from labelwise.errors import LabelwiseError
from labelwise.experiments.data import commands
from labelwise.methods.relabelled import Changes
from labelwise.methods.relabelled import relabel as relabel_method


@dataclass(frozen=True)
class Outcome:
    """What became of the labels."""

    told: dict[str, Any]
    """As the card says it: the thesaurus, its date, and what became of which label."""
    notes: tuple[str, ...]
    """What a reader should know of new concepts that the model cannot score, or not well."""


def relabel(
    bundle: Path, *, thesaurus: Path, out: Path, date: str | None = None, command: str = ""
) -> Outcome:
    """Bring the model of a bundle to a newer thesaurus, and write what it becomes.

    The options are those of `labelwise relabel`. ``command`` is what the card says that it was made
    with.
    """
    bundles.check_writable(out)
    dated = _checked(date) if date is not None else date_in(stem(thesaurus))
    folder = shipped.folder_of(bundle)
    method, parent = bundles.load(folder), bundles.describe(folder)
    today = read_thesaurus(thesaurus)
    made, changes = relabel_method(method, today)
    told = _told(changes, stem(thesaurus), dated) | {"from": parent["digest"]}
    told["counts"]["labels"] = len(made.label_space)
    known = with_places(today, bundles.thesaurus_in(parent["card"], folder))
    card = {
        **parent["card"],
        "name": out.resolve().name,
        "thesaurus": known.around(made.label_space.ids).to_json(),
        "relabelled": told,
        "command": commands(parent["card"], command),
    }
    bundles.save(made, out, card=card)
    return Outcome(told, changes.notes)


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
    try:
        if re.fullmatch(r"\d{4}(?:-\d\d(?:-\d\d)?)?", date):
            datetime.date.fromisoformat(f"{date}-01-01"[:10])
            return date
    except ValueError:  # of a month or a day that there is not
        pass
    raise LabelwiseError(f"--date is 2026, 2026-07 or 2026-07-01, not '{date}'")
