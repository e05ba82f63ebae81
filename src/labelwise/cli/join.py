"""``labelwise join``: two saved networks become one ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.evaluate import command_line
from labelwise.cli.options import DataOption, JsonOption
from labelwise.cli.output import note, print_json, print_table
from labelwise.cli.train import check_writable


def join(
    seen: Annotated[Path, typer.Argument(help="A bigru-lwan bundle.", metavar="BUNDLE")],
    unseen: Annotated[Path, typer.Argument(help="A z-bigru-lwan bundle.", metavar="Z_BUNDLE")],
    *,
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    as_json: JsonOption = False,
) -> None:
    """Join two saved networks into an ensemble-lwan bundle.

    The first scores the labels that were seen in training, the second those that were not. The two
    are brought to one scale on the dev documents; nothing is trained.

    \b
    Examples:
      labelwise join bigru-lwan.bundle z-bigru-lwan.bundle --data data/eurlex57k --out both.bundle
      labelwise evaluate both.bundle --data data/eurlex57k
    """
    from labelwise import bundle as bundles
    from labelwise.corpus.dataset import open_dataset
    from labelwise.methods.ensemble_lwan import EnsembleLwan

    check_writable(out)
    method = EnsembleLwan.from_methods(
        bundles.load(seen), bundles.load(unseen), open_dataset(data).dev
    )
    of_members = [bundles.describe(path)["card"] for path in (seen, unseen)]
    fit = [card.get("seconds", {}).get("fit", 0.0) for card in of_members]
    card = {
        **of_members[0],
        "seconds": {"fit": sum(fit)},
        "peak_memory": max(card.get("peak_memory") or 0 for card in of_members),
        "command": command_line("\n".join(str(card.get("command", "")) for card in of_members)),
    }
    bundles.save(method, out, card=card)
    if as_json:
        print_json({"method": method.name, "bundle": str(out), "shift": method.shift, **card})
        return
    print_table(
        ["method", "labels", "shift of unseen labels", "bundle"],
        [[method.name, f"{len(method.label_space):,}", f"{method.shift:+.2f}", out]],
        left=("method", "bundle"),
    )
    note(f"Next: labelwise evaluate {out} --data {data}")
