"""Settings chosen on dev, on this machine or asked here and tried elsewhere."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelwise.errors import InputError, LabelwiseError
from labelwise.evaluation.trial_records import Trial, read_trials
from labelwise.experiments.configs import read_config
from labelwise.experiments.corpora import Corpus
from labelwise.experiments.jobs import worker_command
from labelwise.experiments.settings import named_in, typed
from labelwise.experiments.trainings import (
    Folders,
    Training,
    compared,
    job_of,
    prepared_for,
    training_settings,
)
from labelwise.files import write_whole
from labelwise.locks import locked
from labelwise.methods import Settings, get
from labelwise.progress import note
from labelwise.tuning.jobs import Jobs
from labelwise.tuning.space import Choice, Range, parse_vary, space_for
from labelwise.tuning.trials import falls_behind, read_curve

if TYPE_CHECKING:
    from labelwise.tuning.study import Study

WAIT = 5.0
"""Seconds to wait for another search on the same study."""

FAILURES = 3
"""Trials that may fail one after another; more would fail as well."""


def _alone_with(file: Path) -> AbstractContextManager[None]:
    """Within it no other process works on this study, or on this file of trials: it would take the
    trials that run for ones that were left."""
    busy = f"{file}: another `labelwise tune` is at work on it: wait for it, or name another file"
    return locked(file.with_name(f".{file.name}.lock"), busy, wait=WAIT)


@dataclass(frozen=True)
class Search:
    """What all trials of a method have in common."""

    method: str
    corpus: Corpus
    config: Path | None
    given: tuple[str, ...]
    seed: int
    cache: Path | None

    def space(self, vary: Sequence[str]) -> dict[str, Choice | Range]:
        """The space of the command line, or the method's own; with several vectors those too."""
        settings = get(self.method).Settings
        space = dict(map(parse_vary, vary)) if vary else space_for(self.method, settings)
        known = {field.name for field in fields(settings)}
        for name in space:
            if name not in known:
                raise LabelwiseError(f"there is no setting '{name}' of {self.method} to vary")
        fixed = {named_in(one) for one in self.given}
        space = {name: values for name, values in space.items() if name not in fixed}
        if self.corpus.rows and "vectors" not in {*space, *fixed}:
            own = prepared_for(self.method, self.corpus)
            names = [str(own.settings.get("vectors", "none") if own else "none"), *self.corpus.rows]
            space["vectors"] = Choice(tuple(names))
        if not space:
            raise LabelwiseError("every setting is fixed by --set: nothing is left to vary")
        return space

    def settings(self, chosen: Mapping[str, Any]) -> Settings:
        """The settings of a trial."""
        over = [f"{name}={typed(value)}" for name, value in chosen.items()]
        given = [*self.given, *over]
        return training_settings(self.method, self.seed, self.corpus, self.config, given)

    def compared(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of a trial that make its result."""
        return compared(asdict(self.settings(chosen)), get(self.method).Settings)

    def differing(self, chosen: Mapping[str, Any], trial: Trial) -> list[str]:
        """In what a trial that has ended was made otherwise than it would be here and now."""
        there = compared(trial.settings, get(self.method).Settings)
        here = self.compared(chosen)
        if "dim" not in trial.settings:  # that of the prepared corpus is not named
            here.pop("dim", None)
        apart = sorted(name for name, value in here.items() if there.get(name) != value)
        data = trial.made.get("data", self.corpus.run_fingerprint)
        return [*apart, *(["data"] if data != self.corpus.run_fingerprint else [])]

    def named(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a trial that somebody chose: in the file of settings, on the command
        line, in the prepared corpus or for this trial. All others have their defaults."""
        values = asdict(self.settings(chosen))
        names = {*chosen, *(named_in(one) for one in self.given)}
        names |= {*(read_config(self.config) if self.config is not None else ())}
        if (own := prepared_for(self.method, self.corpus)) is not None:
            names |= {name for name in own.settings if name != "dim"}
        names -= {"seed", "max_seconds"}
        return {name: value for name, value in values.items() if name in names}

    @contextmanager
    def study(self, file: Path, vary: Sequence[str]) -> Iterator[Study]:
        """The study of this search, with which no other process works meanwhile."""
        from labelwise.tuning.study import Study

        with _alone_with(file):
            space = self.space(vary)
            fixed = {"data": self.corpus.run_fingerprint, **self.compared({})}
            fixed = {name: value for name, value in fixed.items() if name not in space}
            name = self.corpus.run_name
            yield Study(file, self.method, name, space, self.seed, fixed=fixed)


def plan_trials(study: Study, count: int) -> list[Trial]:
    """So many trials, for another machine."""
    return [study.ask(planned=True) for _ in range(count)]


def tell(search: Search, study: Study, file: Path) -> None:
    """Tell the study what came back from another machine."""
    found = read_trials(file)
    for one in found:
        planned = study.settings_of(one.trial) if one.method == search.method else None
        if planned is not None and (differing := search.differing(planned, one)):
            raise InputError(
                f"trial {one.trial} was made with another {', '.join(differing)} than this study "
                "planned: tell the study that planned it, with the same options",
                file=file,
            )
    news = sum(study.tell(one) for one in found)
    note(f"{news} trials are new to the study, which has {len(study.trials())}")


def search(
    common: Search, study: Study, folder: Path, trials: int, jobs: Jobs, *, until: float | None
) -> None:
    """Ask, try, tell, until so many trials have ended."""
    if taken := study.take_up():
        note(f"{taken} trials that were left open are tried again")
    ended = study.trials()

    def ask() -> Trial | None:
        good = sum(one.state != "failed" for one in study.trials())
        return study.ask() if good + len(running) < trials else None

    running: set[int] = set()
    failures = 0  # in a row
    tried = _try_all(common, ask, folder, jobs, ended, running=running, until=until)
    with closing(tried):  # ends what still runs, whatever happens here
        for one in tried:
            study.tell(one)
            _say(one)
            failures = failures + 1 if one.state == "failed" else 0
            if failures == FAILURES:
                log = folder / f"trial-{one.trial}" / "worker.log"
                said = log.read_text("utf-8", "replace").strip().splitlines() or ["nothing"]
                raise LabelwiseError(f"{FAILURES} trials in a row failed; {log} says: {said[-1]}")


def run_planned(search: Search, file: Path, out: Path, jobs: Jobs, until: float | None) -> None:
    """Try the trials of a file; write each one that ends, and leave out those that have."""
    with _alone_with(out):
        _cut_half_line(out)
        _try_planned(search, file, out, jobs, until)


def _cut_half_line(out: Path) -> None:
    """Cut off the line that a killed process was writing: its trial is tried again."""
    if out.exists():
        written = out.read_bytes()
        whole = written[: written.rfind(b"\n") + 1]
        if whole != written:
            note(f"{out}: its last line was not written to its end, and is left out")
            write_whole(out, whole)


def _try_planned(search: Search, file: Path, out: Path, jobs: Jobs, until: float | None) -> None:
    known = read_trials(out) if out.exists() else []
    done = {one.trial: one for one in known if one.state != "failed"}
    planned = read_trials(file)
    waiting = [one for one in planned if one.trial not in done]
    for one in planned:
        if one.method != search.method:
            raise InputError(f"these are trials of {one.method}, not of {search.method}", file=file)
        search.settings(one.settings)
        if one.trial in done and (differing := search.differing(one.settings, done[one.trial])):
            raise InputError(
                f"trial {one.trial} stands here already, made with another {', '.join(differing)} "
                f"than {file} and the options of now ask for: give another file",
                file=out,
            )
    if done:
        note(f"{len(done)} trials are done already")
    left = iter(waiting)
    tried = _try_all(
        search, lambda: next(left, None), out.with_suffix(".trials"), jobs, known,
        running=set(), until=until,
    )  # fmt: skip
    with closing(tried), out.open("a", encoding="utf-8") as results:
        for one in tried:
            results.write(_as_told(search, one).line() + "\n")
            results.flush()
            os.fsync(results.fileno())
            _say(one)


def _as_told(search: Search, one: Trial) -> Trial:
    """The trial with all that it was tried with, for those who read of it elsewhere."""
    settings = search.named(one.settings)
    for name in ("vectors", "encoder"):
        if settings.get(name):
            settings[name] = Path(settings[name]).name  # where the file lay means nothing there
    return replace(one, settings=settings)


def _try_all(
    search: Search,
    ask: Callable[[], Trial | None],
    folder: Path,
    jobs: Jobs,
    ended: Sequence[Trial],
    *,
    running: set[int],
    until: float | None,
) -> Generator[Trial, None, None]:
    """Try what is asked for, side by side, and yield each trial that ends."""
    from labelwise.training.loop import RunFolder

    curves = {one.trial: one.curve for one in ended if one.state != "failed"}
    open_trials: dict[str, Trial] = {}
    folders = Folders(folder, folder, search.cache)

    def log_of(name: str) -> Path:
        return folder / name / "log.jsonl"

    with jobs.pool() as pool:
        while until is None or time.monotonic() < until:
            while pool.has_room and (trial := ask()) is not None:
                name = f"trial-{trial.trial}"
                settings = search.settings(trial.settings)
                training = Training(search.method, search.seed, settings, search.config)
                job = replace(
                    job_of(training, search.corpus, folders, ""),
                    run_dir=str(folder / name),
                    results=None,
                    bundle=None,
                    splits=["dev"],
                    outcome=str(folder / name / "outcome.json"),
                )
                if not RunFolder(folder / name).checkpoints:  # else the training goes on with it
                    log_of(name).unlink(missing_ok=True)
                file = job.write(folder / name / "job.json")
                pool.start(name, worker_command(file), folder / name / "worker.log")
                open_trials[name] = trial
                running.add(trial.trial)
            if not pool.running:
                return
            for name, code in pool.ended():
                trial = open_trials.pop(name)
                running.discard(trial.trial)
                made = _outcome(trial, folder / name, code)
                curves[trial.trial] = made.curve
                yield made
            for name in pool.running:
                trial, curve = open_trials[name], read_curve(log_of(name))
                others = [other for number, other in curves.items() if number != trial.trial]
                if falls_behind(curve, others):
                    pool.stop(name)
                    del open_trials[name]
                    running.discard(trial.trial)
                    curves[trial.trial] = curve
                    yield replace(trial, state="pruned", value=max(curve), curve=curve)


def _outcome(trial: Trial, folder: Path, code: int) -> Trial:
    """What became of a trial whose process has ended."""
    if code:
        return replace(trial, state="failed")
    try:
        outcome = json.loads((folder / "outcome.json").read_bytes())
        return replace(
            trial,
            state="complete",
            value=outcome["figures"]["RP@5"],
            curve=read_curve(folder / "log.jsonl"),
            **outcome,
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        note(f"{folder / 'outcome.json'}: what came of trial {trial.trial} is lost ({error})")
        return replace(trial, state="failed")


def _say(one: Trial) -> None:
    value = "" if one.value is None else f", dev RP@5 {one.value:.4f}"
    chosen = ", ".join(f"{name} {value}" for name, value in one.settings.items())
    note(f"trial {one.trial}: {one.state}{value} ({chosen})")


def best_settings(search: Search, study: Study) -> str:
    """The best settings as the text of a file: what was begun with, and what was chosen."""
    from labelwise.tuning.study import best_of
    from labelwise.tuning.written import config_text

    ended = study.trials()
    kept = search.named(best_of(ended).settings)
    return config_text(search.method, search.corpus.run_name, ended, kept)
