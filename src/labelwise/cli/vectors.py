"""``labelwise vectors``: word vectors learned from the training documents, and files of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import CacheOption, JsonOption
from labelwise.cli.output import print_json, print_table
from labelwise.progress import note


def vectors(
    *,
    out: Annotated[
        Path,
        typer.Option(help="File to write: word2vec text, compressed if it ends in .gz or .xz."),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="LABELWISE_DATA",
            help="Folder of the data set, whose training documents are read.",
            show_default=False,
        ),
    ] = None,
    dim: Annotated[int, typer.Option(min=1, help="Numbers in a vector.")] = 200,
    min_count: Annotated[int, typer.Option(min=1, help="Of words that get a vector.")] = 5,
    window: Annotated[int, typer.Option(min=1, help="Words on either side at most.")] = 5,
    negatives: Annotated[int, typer.Option(min=1, help="Random words for each word.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the documents.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same vectors.")] = 0,
    cache: CacheOption = None,
    join: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            help="Learn nothing: put the vectors of two files side by side.",
            metavar="A B",
            show_default=False,
        ),
    ] = None,
    prepared: Annotated[
        Path | None,
        typer.Option(
            help="Learn nothing: cut the file of --vectors to a prepared corpus (an .npz).",
            show_default=False,
        ),
    ] = None,
    of: Annotated[
        Path | None,
        typer.Option("--vectors", help="The file to cut, with --prepared.", show_default=False),
    ] = None,
    beside: Annotated[
        bool,
        typer.Option("--beside", help="With --prepared: beside its vectors, not in their place."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Learn word vectors from the training documents (skip-gram), or join two files of vectors.

    Vectors learned from the documents know the numbers, abbreviations and trade words that
    vectors learned from other texts lack. Networks take the file as `--set vectors=FILE`.

    \b
    Examples:
      labelwise vectors --data data/eurlex57k --dim 200 --out own-200.txt.xz
      labelwise vectors --join glove.6B.100d.txt own-200.txt.xz --out both-300.txt.xz
      labelwise vectors --prepared prepared --vectors own-200.txt.xz --beside --out beside.npz
    """
    from labelwise.experiments.word_vectors import write_cut, write_joined, write_learned
    from labelwise.text.skipgram import SkipGram

    started = time.perf_counter()
    if (of is None) != (prepared is None):
        raise typer.BadParameter("--prepared and --vectors are given together, or neither is")
    if join is not None and prepared is not None:
        raise typer.BadParameter("--join and --prepared are two different tasks: choose one")
    if beside and prepared is None:
        raise typer.BadParameter("--beside goes with --prepared")
    if join is not None:
        made = write_joined(out, *join)
    elif prepared is not None and of is not None:
        made = write_cut(out, prepared, of, beside=beside)
    elif data is not None:
        how = SkipGram(
            dim=dim,
            window=window,
            negatives=negatives,
            min_count=min_count,
            epochs=epochs,
            seed=seed,
        )
        made = write_learned(out, data, how, cache=cache)
    else:
        raise typer.BadParameter("--data (or LABELWISE_DATA) is needed to learn vectors")
    seconds = time.perf_counter() - started
    if as_json:
        about = {"file": str(out), "words": len(made), "dim": made.dim}
        print_json({**about, "seconds": round(seconds, 1)})
        return
    print_table(
        ["words", "dim", "seconds", "MB", "file"],
        [[f"{len(made):,}", made.dim, f"{seconds:.1f}", f"{out.stat().st_size / 1e6:.1f}", out]],
        left=("file",),
    )
    if prepared is None:
        note(f"Next: labelwise train bigru-lwan --data DATA --out BUNDLE --set vectors={out}")
