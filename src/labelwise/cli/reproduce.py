"""``labelwise reproduce``: every method, trained and measured; the table, the figure, the tests."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import (
    CacheOption,
    DrawOption,
    DropOption,
    EveryConceptOption,
    HideOption,
    MaybeDataOption,
    MoreOption,
    OnOption,
    ResourcesOption,
    SummariesOption,
    ThesaurusOption,
)


def reproduce(
    *,
    data: MaybeDataOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    prepared: Annotated[
        list[Path] | None,
        typer.Option(
            help="A corpus in numbers (`labelwise prepare`) in place of the data set, for the "
            "networks; may be repeated, in words and in the pieces of each encoder.",
            show_default=False,
        ),
    ] = None,
    vectors: Annotated[
        list[Path] | None,
        typer.Option(
            help="Other vectors for the one in words (`labelwise vectors --prepared`); may be "
            "repeated. A method takes those that its settings name.",
            show_default=False,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option("-m", "--methods", help="Names, by commas.", show_default="all"),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            help="How many: networks are trained with 0, 1, ..., others with 0. Or which: 3-4.",
            metavar="N|FIRST-LAST",
        ),
    ] = "5",
    jobs: Annotated[int, typer.Option(min=1, help="Trainings side by side.")] = 1,
    on: OnOption = None,
    resources: ResourcesOption = "cpus=1",
    out: Annotated[Path, typer.Option(help="Folder of runs and the report.")] = Path("results"),
    bundles: Annotated[Path, typer.Option(help="Folder of models, checkpoints and logs.")] = Path(
        "bundles"
    ),
    configs: Annotated[
        Path, typer.Option(help="Folder of settings: CONFIGS/DATA/METHOD.toml.")
    ] = Path("configs"),
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting for every method that has it; may be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="A network trains no longer, its learning rate falling to zero by then."),
    ] = None,
    stop_after: Annotated[
        float | None,
        typer.Option(help="Seconds after which all ends; called again, it goes on from there."),
    ] = None,
    hide: HideOption = None,
    draw: DrawOption = 0,
    drop_documents: DropOption = False,
    cache: CacheOption = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write the report at the end.")
    ] = True,
) -> None:
    """Train and measure every method, and write the table, the figure and the p-values.

    Takes the settings of each method from CONFIGS/DATA/METHOD.toml, or its defaults. What is
    finished (a run on the same data with the same settings) is not run again; what was interrupted
    goes on from its checkpoint. On a GPU several trainings share it. With --more, --thesaurus or
    --every-concept the data set is one of its own (eurlex57k+newlaw), which takes the settings of
    the data set alone unless it has some, as does one that was split by year. Its runs and bundles
    stand in folders of their own, and with --hide in folders that are named after the draw.

    \b
    Examples:
      labelwise reproduce --data data/eurlex57k
      labelwise reproduce --data data/eurlex57k --methods svm,tree --seeds 1
      labelwise reproduce --prepared prepared --methods bigru-lwan,han --jobs 3 --max-seconds 500
      labelwise reproduce --prepared prepared --methods z-bigru-lwan --hide 0.25 --draw 2
      labelwise reproduce --prepared in-minilm --prepared in-mpnet --methods blend --seeds 3-4
      labelwise reproduce --data data/eurlex57k --on ray --resources gpus=1 --jobs 8
      labelwise reproduce --data data/eurlex57k --more newlaw/train-titles.jsonl.xz --methods svm
    """
    from labelwise.experiments.corpora import open_corpus
    from labelwise.experiments.data import additions_of, hiding_of
    from labelwise.experiments.reproduce import reproduce as reproduce_corpus
    from labelwise.experiments.reproduce import seeds_of
    from labelwise.tuning.jobs import Jobs

    until = time.monotonic() + stop_after if stop_after else None
    hiding = hiding_of(hide, draw, drop_documents)
    additions = additions_of(more, summaries, thesaurus, every_concept)
    corpus = open_corpus(data, prepared or (), vectors or (), hiding, additions)
    given = [*(settings or ()), *([f"max_seconds={max_seconds:g}"] if max_seconds else ())]
    reproduce_corpus(
        corpus, methods=methods or (), seeds=seeds_of(seeds), jobs=Jobs(jobs, on, resources),
        out=out, bundles=bundles, configs=configs, given=given, until=until, cache=cache,
        report=report,
    )  # fmt: skip
