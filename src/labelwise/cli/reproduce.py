"""``labelwise reproduce``: every method, trained and measured; the table, the figure, the tests."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.options import (
    CacheOption,
    DrawOption,
    DropOption,
    EveryConceptOption,
    HideOption,
    MoreOption,
    SummariesOption,
    ThesaurusOption,
    additions_of,
    hiding_of,
)
from labelwise.cli.output import note
from labelwise.errors import LabelwiseError

if TYPE_CHECKING:
    from labelwise.cli.trainings import Corpus, Places, Training


def reproduce(
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="LABELWISE_DATA",
            help="Folder of the data set: train, dev and test, and the descriptors.",
            show_default=False,
        ),
    ] = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    prepared: Annotated[
        Path | None,
        typer.Option(
            help="A corpus in numbers (`labelwise prepare`), for the networks.",
            show_default=False,
        ),
    ] = None,
    vectors: Annotated[
        list[Path] | None,
        typer.Option(
            help="Other vectors for it (`labelwise vectors --prepared`); may be repeated. A "
            "method takes those that its settings name.",
            show_default=False,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option("-m", "--methods", help="Names, by commas.", show_default="all"),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Networks are trained with seeds 0, 1, ...; others with 0.")
    ] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="Trainings side by side.")] = 1,
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
      labelwise reproduce --data data/eurlex57k --more newlaw/train-titles.jsonl.xz --methods svm
    """
    from labelwise.cli.trainings import (
        Places,
        method_names,
        open_corpus,
        trainings,
        unfinished,
    )
    from labelwise.corpus.by_year import ENDING

    until = time.monotonic() + stop_after if stop_after else None
    hiding = hiding_of(hide, draw, drop_documents)
    additions = additions_of(more, summaries, thesaurus, every_concept)
    corpus = open_corpus(data, prepared, vectors or (), hiding, additions)
    given = [*(settings or ()), *([f"max_seconds={max_seconds:g}"] if max_seconds else ())]
    names = method_names(methods or (), corpus)
    wanted = {one.name: one for one in trainings(names, seeds, corpus, configs, given)}
    _check_given(given, wanted)
    if hiding or "+" in corpus.name or corpus.name.endswith(ENDING):
        bundles = bundles / corpus.run_name
    places = Places(out, bundles, cache)
    waiting = unfinished(wanted, corpus, places)
    for name, one in wanted.items():
        if name not in waiting:
            note(f"{one.title}: finished before")
    failed, left = _run_all(waiting, corpus, places, jobs, _command(corpus, given), until=until)
    if left:
        note(
            f"stopped with {len(left)} of {len(wanted)} trainings to go: call the same command "
            "again to go on"
        )
    elif report and any((out / corpus.run_name).rglob("seed-*.json")):
        from labelwise.evaluation.report import report as write_report

        for path in write_report(out / corpus.run_name):
            note(f"wrote {path}")
    if failed:
        raise LabelwiseError(
            f"{len(failed)} of {len(wanted)} trainings failed ({', '.join(failed)}): their logs "
            f"are in {bundles}"
        )


def _check_given(given: Sequence[str], wanted: Mapping[str, Training]) -> None:
    """A setting that no method has is a slip of the pen."""
    for one in given:
        name = one.partition("=")[0].strip().replace("-", "_")
        if not any(hasattr(training.settings, name) for training in wanted.values()):
            raise LabelwiseError(f"none of the methods has a setting '{name}'")


def _run_all(
    waiting: Mapping[str, Training],
    corpus: Corpus,
    places: Places,
    jobs: int,
    command: str,
    *,
    until: float | None,
) -> tuple[list[str], list[str]]:
    """Run the trainings side by side; the names of those that failed, and of those left."""
    from labelwise.cli.trainings import job_of
    from labelwise.cli.worker import worker_command
    from labelwise.tuning.processes import Pool, shared_gpu

    left, failed = dict(waiting), list[str]()
    began: dict[str, float] = {}
    with shared_gpu(jobs), Pool(jobs) as pool:
        while (left or pool.running) and (until is None or time.monotonic() < until):
            for name, one in list(left.items()):
                if any(member in failed for member in one.members):
                    failed.append(name)
                    del left[name]
                    note(f"{one.title}: left out, for a member failed")
                elif pool.has_room and not {*left, *pool.running}.intersection(one.members):
                    file = job_of(one, corpus, places, command).write(places.job(name))
                    pool.start(name, worker_command(file), places.log(name))
                    began[name] = time.monotonic()
                    del left[name]
                    note(f"{one.title}: started")
            for name, code in pool.ended():
                said = places.log(name).read_text("utf-8", "replace").strip().splitlines()
                if code:
                    failed.append(name)
                    note(f"{waiting[name].title}: failed ({said[-1] if said else code})")
                else:
                    places.job(name).unlink()
                    took = time.monotonic() - began[name]
                    note(f"{waiting[name].title}: {took:.0f} s; {'; '.join(said[-2:])}")
        return failed, [*pool.running, *left]


def _command(corpus: Corpus, given: Sequence[str]) -> str:
    """What makes the runs again; the places of files and the order of work do not matter."""
    words = ["labelwise", "reproduce", *(("--prepared", "PREPARED") if not corpus.data else ())]
    given_data = corpus.additions
    for path in given_data.more:
        words += ["--more", f"{path.resolve().parent.name}/{path.name}"]
    words += ["--summaries"] if given_data.summaries else []
    words += ["--thesaurus", given_data.thesaurus.name] if given_data.thesaurus else []
    words += ["--every-concept"] if given_data.every_concept else []
    if hiding := corpus.hiding:
        words += ["--hide", f"{hiding.amount:g}", "--draw", str(hiding.draw)]
        words += ["--drop-documents"] if hiding.drop else []
    return shlex.join([*words, *(word for one in given for word in ("--set", one))])
