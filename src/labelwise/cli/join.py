"""``labelwise join``: saved models become one, weighed on the dev documents; shards, a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import (
    EveryConceptOption,
    JsonOption,
    MaybeDataOption,
    MoreOption,
    NameOption,
    SummariesOption,
    ThesaurusOption,
)
from labelwise.cli.output import print_made, print_table
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.methods import Method


def join(
    method: Annotated[
        str,
        typer.Argument(help="What to make: blend or ensemble-lwan; or shards.", metavar="METHOD"),
    ],
    members: Annotated[
        list[Path],
        typer.Argument(
            help="Trained models, two or more; or all shards of one.", metavar="BUNDLE..."
        ),
    ],
    *,
    data: MaybeDataOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    like: Annotated[
        Path | None,
        typer.Option(
            help="A blend of models of the same methods, whose weights and threshold are taken "
            "over; no documents are needed.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    name: NameOption = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Measure it on dev and test too, and write the run into this folder.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Join saved models into one bundle, which holds them all.

    blend: any models trained on the same data; how much each counts for frequent, few-shot and
    zero-shot labels is chosen on the dev documents. ensemble-lwan: a bigru-lwan for the labels seen
    in training and a z-bigru-lwan for those that were not. shards: what `labelwise train --shard`
    has made, each shard once; the model is to the last bit the one that a single training gives.
    Nothing is trained.

    What was kept of the scores of members (NAME.scores.npz beside the bundle, as `labelwise
    reproduce` writes it) is not asked again; so a blend with networks that were trained on a GPU is
    weighed, and measured with --results, in a minute.

    With --like, for a model that ships: what was chosen for a twin that has not seen the documents
    to measure on holds for one that has.

    \b
    Examples:
      labelwise join blend svm.bundle minilm.bundle --data data/eurlex57k --out blend.bundle
      labelwise join ensemble-lwan lwan.bundle z.bundle --data data/eurlex57k --out both.bundle
      labelwise join blend svm-all.bundle minilm-all.bundle --like blend.bundle --out final.bundle
      labelwise join shards svm-*.bundle --data data/eurlex57k --out svm.bundle
      labelwise evaluate blend.bundle --data data/eurlex57k
    """
    from labelwise.experiments.join import join as join_bundles

    joined = join_bundles(
        method, members, data=data, more=more, summaries=summaries, thesaurus=thesaurus,
        every_concept=every_concept, like=like, out=out, name=name, results=results,
        command=command_line(),
    )  # fmt: skip
    if as_json:
        print_made({"method": joined.method.name, "bundle": str(out)}, joined.card)
        return
    _show(joined.method, out)
    note(f"Next: labelwise evaluate {out} --data {data or 'DATA'}")


def _show(joined: Method, out: Path) -> None:
    """The bundle and, below it, what dev has chosen."""
    card = joined.card
    shift = [f"{card['shift']:+.2f}"] if "shift" in card else []
    print_table(
        ["method", "labels", *(["shift of unseen labels"] if shift else []), "bundle"],
        [[joined.name, f"{len(joined.label_space):,}", *shift, out]],
        left=("method", "bundle"),
    )
    if "weights" in card:
        print_table(
            ["training documents", *(f"weight of {name}" for name in card["members"])],
            [
                [row["training documents"], *(f"{weight:.2f}" for weight in row["weights"])]
                for row in card["weights"]
            ],
        )
