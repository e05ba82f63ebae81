"""``labelwise data``: look at a data set, fetch the real one, make others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command import Command
from labelwise.cli.fetched_acts import fetch_acts
from labelwise.cli.options import CacheOption, DataOption, JsonOption, SkipBadOption
from labelwise.cli.output import console, print_json, print_table
from labelwise.errors import LabelwiseError
from labelwise.progress import note

data = typer.Typer(
    help="Look at a data set, fetch the real one, make a synthetic one, split one by year.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@data.command(cls=Command)
def describe(
    path: Annotated[
        Path,
        typer.Argument(
            envvar="LABELWISE_DATA",
            help="Folder of a data set, or any file or folder of documents.",
            show_default=False,
        ),
    ],
    figure: Annotated[
        Path | None, typer.Option(help="Draw the label frequencies: a name ending in .svg or .png.")
    ] = None,
    as_json: JsonOption = False,
    skip_bad: SkipBadOption = False,
) -> None:
    """Print documents, words, labels and groups of a data set.

    \b
    Examples:
      labelwise data describe data/eurlex57k
      labelwise data describe acts.jsonl --json --skip-bad
      labelwise data describe demo/synthetic --figure frequencies.svg
    """
    from labelwise.corpus.describe import describe as look
    from labelwise.corpus.describe import histogram_figure, render
    from labelwise.corpus.skipped import Skipped

    skipped = Skipped() if skip_bad else None
    found = look(path, skipped=skipped)
    if as_json:
        print_json(
            found.to_json()
            | ({"skipped": dict(sorted(skipped.reasons.items()))} if skipped else {})
        )
    else:
        render(found, console())
    if skipped and skipped.count:
        note(skipped.summary())
    if figure is not None:
        histogram_figure(found, figure)
        note(f"wrote {figure}")


@data.command(cls=Command)
def fetch(
    name: Annotated[str, typer.Argument(help="The data set: eurlex57k or cellar.", metavar="NAME")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder to put it in.", show_default="data/NAME")
    ] = None,
    first: Annotated[
        int | None, typer.Option("--from", help="cellar: the first year.", metavar="YEAR")
    ] = None,
    last: Annotated[
        int | None, typer.Option("--to", help="cellar: the last year.", metavar="YEAR")
    ] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(
            help="cellar: a type of acts, such as REG, DIR_IMPL or DEC; may be repeated.",
            show_default="regulations, directives and decisions of every kind",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=10, help="cellar: at most so many requests a second.", show_default="1"
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="cellar: at most so many acts in this call.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Download public data; a call that broke off goes on where it stopped.

    eurlex57k: the data set, CC-BY-SA-4.0. cellar: acts of the years --from to --to with their
    EUROVOC concepts, from the EU's Publications Office, one file a year, for `train --more`. The
    texts are (c) European Union, reusable with attribution.

    \b
    Examples:
      labelwise data fetch eurlex57k
      labelwise data fetch eurlex57k --out /data/eurlex57k
      labelwise data fetch cellar --from 2016 --to 2026
      labelwise data fetch cellar --from 2024 --to 2024 --type REG --type DIR --limit 100
    """
    from labelwise.corpus.fetch import fetch as download

    folder = out if out is not None else Path("data") / name
    if name == "cellar":
        fetch_acts(folder, first, last, types=type, rate=rate, limit=limit, as_json=as_json)
        return
    options = {"--from": first, "--to": last, "--type": type, "--rate": rate, "--limit": limit}
    if given := [option for option, value in options.items() if value]:
        raise LabelwiseError(f"{given[0]} is for cellar: {name} is fetched whole")
    new = download(name, folder)
    if as_json:
        print_json({"name": name, "folder": str(folder), "downloaded": new})
    else:
        print(f"{name} {'is' if new else 'was'} in {folder}, complete and checked")
        note(f"Next: labelwise data describe {folder}")


@data.command(cls=Command)
def make(
    *,
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("synthetic"),
    seed: Annotated[int, typer.Option(help="Same seed, same files.")] = 0,
    train: Annotated[int, typer.Option(min=1, help="Training documents.")] = 2400,
    dev: Annotated[int, typer.Option(min=1, help="Development documents.")] = 300,
    test: Annotated[int, typer.Option(min=1, help="Test documents.")] = 300,
    as_json: JsonOption = False,
) -> None:
    """Make a synthetic corpus: acts in the style of EU law, written by a seeded program.

    It serves tests and demonstrations. No figure measured on it says anything about real law.

    \b
    Examples:
      labelwise data make
      labelwise data make --out small --train 500 --dev 100 --test 100 --seed 7
    """
    from labelwise.corpus.synthetic import make_dataset

    make_dataset(out, seed=seed, train=train, dev=dev, test=test)
    sizes = {"train": train, "dev": dev, "test": test}
    if as_json:
        print_json({"folder": str(out), "seed": seed, "documents": sizes})
        return
    print_table(["synthetic corpus", *sizes], [[out, *sizes.values()]], left=("synthetic corpus",))
    note(f"Next: labelwise train svm --data {out} --out svm.bundle")


@data.command(cls=Command)
def split_by_year(
    *,
    data: DataOption,
    dev_from: Annotated[
        int, typer.Option(help="The first year of the dev documents; older ones are trained on.")
    ] = 2011,
    test_from: Annotated[int, typer.Option(help="The first year of the test documents.")] = 2013,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write.", show_default="DATA-by-year")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Split a data set anew by year: trained on older acts, measured on newer ones.

    The year is that of the CELEX number, which is the id. All documents of train, dev and test are
    taken, and the thesaurus is copied. The folder is a data set like any other, with figures of its
    own; it is called DATA-by-year, so that reports find the data set that it was made from, and
    settings that it has none of.

    \b
    Examples:
      labelwise data split-by-year --data data/eurlex57k --out data/eurlex57k-by-year
      labelwise data split-by-year --data data/eurlex57k --dev-from 2008 --test-from 2010
    """
    from labelwise.corpus.by_year import ENDING, Years, span
    from labelwise.corpus.by_year import split_by_year as write
    from labelwise.corpus.dataset import open_dataset

    years = Years(dev_from, test_from)
    dataset = open_dataset(data)
    folder = out if out is not None else Path(f"{dataset.name}{ENDING}")
    counts = write(dataset, years, folder)
    if as_json:
        print_json({"folder": str(folder), "years": counts})
        return
    print_table(
        ["split", "years", "documents"],
        [[split, span(of), f"{of.total():,}"] for split, of in counts.items()],
        left=("split", "years"),
    )
    note(f"Next: labelwise reproduce --data {folder} --methods svm")


@data.command(cls=Command)
def export(
    *,
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a data set as a folder of Parquet files with a card, for `datasets` and the Hub.

    `datasets.load_dataset("FOLDER")` reads it; `labels` is a configuration of its own. What may be
    passed on is for the licence of the data to say.

    \b
    Examples:
      labelwise data export --data demo/synthetic --out synthetic-parquet
      hf upload my-name/acts synthetic-parquet --repo-type dataset
    """
    from labelwise.corpus.dataset import open_dataset
    from labelwise.corpus.parquet_folder import write_parquet_folder
    from labelwise.corpus.skipped import Skipped

    skipped = Skipped() if skip_bad else None
    counts = write_parquet_folder(open_dataset(data, skipped=skipped), out)
    if skipped and skipped.count:
        note(skipped.summary())
    if as_json:
        print_json({"folder": str(out), "documents": counts})
        return
    print_table(["folder", *counts], [[out, *counts.values()]], left=("folder",))


@data.command(cls=Command)
def near_copies(
    *,
    data: DataOption,
    threshold: Annotated[
        float,
        typer.Option(
            min=0.3,
            max=1,
            help="The share of runs of five words that two documents have in common from which on "
            "one is a near-copy of the other (Jaccard).",
        ),
    ] = 0.5,
    results: Annotated[
        Path, typer.Option(help="Folder of runs; RESULTS/DATA/documents.json is written.")
    ] = Path("results"),
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the dev and test documents that a training document is nearly the same as.

    Writes their ids and those of the training documents beside the runs, for `labelwise report`:
    it shows every method on the documents that have no near-copy, and a data set that was split by
    year by year.

    \b
    Examples:
      labelwise data near-copies --data data/eurlex57k
      labelwise data near-copies --data data/eurlex57k-by-year --threshold 0.8 --results elsewhere
    """
    from labelwise.corpus.dataset import open_dataset
    from labelwise.experiments.near_copies import find_near_copies

    found = find_near_copies(open_dataset(data), threshold, cache)
    path = found.write(results)
    counts = {
        split: {"documents": len(of), "near-copies": int(found.copies(split).sum())}
        for split, of in found.splits.items()
    }
    if as_json:
        print_json({"threshold": threshold, "splits": counts})
    else:
        print_table(
            ["split", "documents", "near-copies"],
            [[split, *(f"{count:,}" for count in of.values())] for split, of in counts.items()],
            left=("split",),
        )
    note(f"wrote {path}")
