"""Every method, trained and measured side by side; what is finished is not done again."""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from labelwise.corpus.by_year import ENDING
from labelwise.errors import CallError, LabelwiseError
from labelwise.evaluation.report import report as write_report
from labelwise.experiments.corpora import Corpus
from labelwise.experiments.jobs import worker_command
from labelwise.experiments.settings import named_in
from labelwise.experiments.staleness import unfinished
from labelwise.experiments.trainings import Folders, Training, job_of, method_names, trainings
from labelwise.progress import note
from labelwise.tuning.jobs import Jobs


def reproduce(
    corpus: Corpus,
    *,
    methods: Sequence[str],
    seeds: Sequence[int],
    jobs: Jobs,
    out: Path,
    bundles: Path,
    configs: Path,
    given: Sequence[str],
    until: float | None,
    cache: Path | None,
    report: bool,
) -> None:
    """Train and measure every method that is not finished, and write the report."""
    names = method_names(methods, corpus)
    wanted = {one.name: one for one in trainings(names, seeds, corpus, configs, given)}
    _check_given(given, wanted)
    if corpus.hiding or "+" in corpus.name or corpus.name.endswith(ENDING):
        bundles = bundles / corpus.run_name
    folders = Folders(out, bundles, cache)
    waiting = unfinished(wanted, corpus, folders)
    for name, one in wanted.items():
        if name not in waiting:
            note(f"{one.title}: finished before")
    failed, left = _run_all(waiting, corpus, folders, jobs, _command(corpus, given), until=until)
    if left:
        note(
            f"stopped with {len(left)} of {len(wanted)} trainings to go: call the same command "
            "again to go on"
        )
    elif report and any((out / corpus.run_name).rglob("seed-*.json")):
        for path in write_report(out / corpus.run_name):
            note(f"wrote {path}")
    if failed:
        raise LabelwiseError(
            f"{len(failed)} of {len(wanted)} trainings failed ({', '.join(failed)}): their logs "
            f"are in {bundles}"
        )


def seeds_of(given: str) -> range:
    """So many seeds from 0 on, or those from the first to the last.

    >>> seeds_of("5"), seeds_of("3-4"), seeds_of("7-7")
    (range(0, 5), range(3, 5), range(7, 8))
    """
    first, between, last = given.strip().partition("-")
    if first.isdecimal() and (last.isdecimal() if between else int(first) > 0):
        found = range(int(first), int(last) + 1) if between else range(int(first))
        if found:
            return found
    raise CallError(f"--seeds is how many, as 5, or which, as 3-4, not '{given}'")


def _check_given(given: Sequence[str], wanted: Mapping[str, Training]) -> None:
    """A setting that no method has is a slip of the pen."""
    known = {field.name for one in wanted.values() for field in dataclasses.fields(one.settings)}
    for one in given:
        name = named_in(one)
        if name not in known:
            raise LabelwiseError(f"none of the methods has a setting '{name}'")


def _run_all(
    waiting: Mapping[str, Training],
    corpus: Corpus,
    folders: Folders,
    jobs: Jobs,
    command: str,
    *,
    until: float | None,
) -> tuple[list[str], list[str]]:
    """Run the trainings side by side; the names of those that failed, and of those left."""
    left, failed = dict(waiting), list[str]()
    began: dict[str, float] = {}
    with jobs.pool() as pool:
        while (left or pool.running) and (until is None or time.monotonic() < until):
            for name, one in list(left.items()):
                if any(member in failed for member in one.members):
                    failed.append(name)
                    del left[name]
                    note(f"{one.title}: left out, for a member failed")
                elif pool.has_room and not {*left, *pool.running}.intersection(one.members):
                    file = job_of(one, corpus, folders, command).write(folders.job(name))
                    pool.start(name, worker_command(file), folders.log(name))
                    began[name] = time.monotonic()
                    del left[name]
                    note(f"{one.title}: started")
            for name, code in pool.ended():
                said = folders.log(name).read_text("utf-8", "replace").strip().splitlines()
                if code:
                    failed.append(name)
                    note(f"{waiting[name].title}: failed ({said[-1] if said else code})")
                else:
                    folders.job(name).unlink()
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
