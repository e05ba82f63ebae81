"""``labelwise tune``: settings chosen on dev, on this machine or asked here and tried elsewhere."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import (
    CacheOption,
    DevOption,
    DrawOption,
    DropOption,
    EveryConceptOption,
    HideOption,
    MoreOption,
    OnOption,
    PreparedOption,
    ResourcesOption,
    SummariesOption,
    ThesaurusOption,
)
from labelwise.cli.train import MethodArgument
from labelwise.files import write_whole
from labelwise.progress import note


def tune(
    method: MethodArgument,
    *,
    data: DevOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    prepared: PreparedOption = None,
    vectors: Annotated[
        list[Path] | None,
        typer.Option(
            help="Other vectors for it, each a value of the setting 'vectors' to try.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, earlier ones included.")] = 30,
    jobs: Annotated[int, typer.Option(min=1, help="Trials side by side.")] = 1,
    on: OnOption = None,
    resources: ResourcesOption = "cpus=1",
    study: Annotated[
        Path, typer.Option(help="The file of the study; called again, it goes on.")
    ] = Path("tune.db"),
    out: Annotated[
        Path | None,
        typer.Option(help="File for the best settings.", show_default="standard output"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="A TOML file of the settings to begin with.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting for all trials.", metavar="NAME=VALUE"),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            help="Search these settings in place of the method's own space; may be repeated.",
            metavar="NAME=VALUE,VALUE or NAME=LOW..HIGH",
        ),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Seconds that a network trains at most.")
    ] = None,
    stop_after: Annotated[
        float | None, typer.Option(help="Seconds after which no trial is begun or goes on.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search and of every training.")] = 0,
    plan: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Try nothing: print so many trials, for --run elsewhere.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Try the trials of this file; no study is needed.", show_default=False),
    ] = None,
    tell: Annotated[
        Path | None,
        typer.Option(help="Tell the study what came back from --run.", show_default=False),
    ] = None,
    hide: HideOption = None,
    draw: DrawOption = 0,
    drop_documents: DropOption = False,
    cache: CacheOption = None,
) -> None:
    """Search settings on the dev documents; the test documents are never scored.

    A tree-structured Parzen estimator (optuna) proposes settings; a trial that after some epochs is
    worse on dev than the median of the others is given up. The study is a file and can be resumed.
    A machine without optuna can try what another one plans, and the study is told afterwards.

    \b
    Examples:
      labelwise tune bigru-lwan --data data/eurlex57k --trials 30 --jobs 3 --out bigru-lwan.toml
      labelwise tune svm --data data/eurlex57k --vary C=0.1..10 --vary min_count=2,3,5
      labelwise tune han --data data/eurlex57k --on ray --resources cpus=2,gpus=0.5 --jobs 16
      labelwise tune han --prepared prepared --plan 12 > trials.jsonl
      labelwise tune han --prepared prepared --run trials.jsonl --jobs 3 --out results.jsonl
      labelwise tune han --prepared prepared --tell results.jsonl --out han.toml
    """
    from labelwise.experiments.corpora import open_corpus
    from labelwise.experiments.data import additions_of, hiding_of
    from labelwise.experiments.tune import Search, best_settings, plan_trials, run_planned
    from labelwise.experiments.tune import search as search_settings
    from labelwise.experiments.tune import tell as tell_study
    from labelwise.tuning.jobs import Jobs

    if sum(one is not None for one in (plan, run, tell)) > 1:
        raise typer.BadParameter("--plan, --run and --tell are three different tasks: choose one")
    hiding = hiding_of(hide, draw, drop_documents)
    additions = additions_of(more, summaries, thesaurus, every_concept)
    corpus = open_corpus(data, [prepared] if prepared else [], vectors or (), hiding, additions)
    given = [*(settings or ()), *([f"max_seconds={max_seconds:g}"] if max_seconds else ())]
    search = Search(method, corpus, config, tuple(given), seed, cache)
    search.settings({})  # says at once what is wrong with them
    until = time.monotonic() + stop_after if stop_after else None
    side_by_side = Jobs(jobs, on, resources)
    if run is not None:
        if out is None:
            raise typer.BadParameter("--run needs --out, a file for what comes of the trials")
        run_planned(search, run, out, side_by_side, until)
        return
    with search.study(study, vary or ()) as kept:
        if plan is not None:
            for one in plan_trials(kept, plan):
                print(one.line())
            return
        if tell is not None:
            tell_study(search, kept, tell)
        else:
            folder = study.with_suffix(".trials")
            search_settings(search, kept, folder, trials, side_by_side, until=until)
        text = best_settings(search, kept)
    if out is None:
        sys.stdout.write(text)
        return
    write_whole(out, text.encode())
    note(f"wrote {out}")
