"""``labelwise prepare``: a data set in numbers, for a machine that has a GPU and little else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import (
    CacheOption,
    DataOption,
    EveryConceptOption,
    JsonOption,
    MoreOption,
    SummariesOption,
    ThesaurusOption,
)
from labelwise.cli.output import print_json, print_table
from labelwise.progress import note


def prepare(
    data: DataOption,
    *,
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    vectors: Annotated[
        Path | None,
        typer.Option(help="Word vectors: GloVe or word2vec text.", show_default="random ones"),
    ] = None,
    dim: Annotated[int, typer.Option(min=1, help="Width of vectors without a file.")] = 100,
    min_count: Annotated[
        int,
        typer.Option(min=1, help="How often a word without a vector must stand in the documents."),
    ] = 2,
    encoder: Annotated[
        str | None,
        typer.Option(help="Folder of a pretrained encoder, whose pieces are the tokens."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, help="Pieces of an encoder kept of a document.")
    ] = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a data set in numbers: one small folder, from which networks are trained elsewhere.

    Tokenising, counting words and reading vectors is work for a CPU. EURLEX57K takes about five
    minutes on two cores, most of it compression, and gives some 50 MB. `labelwise reproduce
    --prepared` trains from the folder. For the methods that read with a pretrained encoder the
    documents are cut into the pieces of its tokenizer.

    \b
    Examples:
      labelwise prepare --data data/eurlex57k --vectors glove.6B.100d.txt --out prepared
      labelwise prepare --data data/eurlex57k --encoder encoders/all-MiniLM-L6-v2 --most 1020 \\
          --out prepared-pieces
      labelwise reproduce --prepared prepared --methods bigru-lwan
    """
    from labelwise.corpus.more import by_file
    from labelwise.experiments.data import additions_of
    from labelwise.experiments.prepare import prepare as prepare_data

    additions = additions_of(more, summaries, thesaurus, every_concept)
    made = prepare_data(
        data, additions, out=out, vectors=vectors, dim=dim, min_count=min_count, encoder=encoder,
        most=most, cache=cache,
    )  # fmt: skip
    if as_json:
        told = {"folder": str(out), "data": made.data, **made.counts, "bytes": made.bytes}
        print_json({**told, "repeated": by_file(made.repeated)})
        return
    print_table(
        [*made.counts, "MB", "folder"],
        [[*(f"{count:,}" for count in made.counts.values()), f"{made.bytes / 1e6:.1f}", out]],
        left=("folder",),
    )
    note(f"Next: labelwise reproduce --prepared {out}")
