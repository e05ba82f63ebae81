"""Trials: settings that ``labelwise tune`` tries and what dev says of them, one a line of a file.

Those kept as ``<data>/<method>/trials.jsonl`` stand in the report as tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from labelwise.errors import InputError
from labelwise.evaluation.runs import Run
from labelwise.evaluation.tables import NO_BETTER, NOTHING, Table, marked

FIGURES = ("RP@5", "nDCG@5", "micro-F1", "few RP@5", "zero RP@5")

EXPLAINED = (
    "Trials of `labelwise tune --run`, which trains, or of `labelwise evaluate --try`, where a "
    "trained model reads otherwise; the best first, figures are of dev. Settings that are the "
    "same in all trials of a table stand above it, those in which they differ are its columns, "
    "and what is not named has its default. A trial that trained fewer epochs than it was set for "
    "was ended by its patience or by the clock (`--max-seconds`), its learning rate having fallen "
    f"to zero by then. {NO_BETTER}"
)


State = Literal["planned", "complete", "pruned", "failed"]


@dataclass(frozen=True)
class Trial:
    """Settings that are tried, and how it went."""

    trial: int
    method: str
    settings: dict[str, Any]
    state: State = "planned"
    value: float | None = None  # dev RP@5, the best of its epochs
    curve: list[float] = field(default_factory=list)  # dev RP@5 by epoch
    figures: dict[str, float] = field(default_factory=dict)  # on dev, few- and zero-shot too
    made: dict[str, Any] = field(default_factory=dict)  # seed, data, versions, device, seconds

    def line(self) -> str:
        """The trial as a line of JSON."""
        return json.dumps(asdict(self))


def read_trials(path: Path) -> list[Trial]:
    """The trials of a file, one a line; the last line of a trial counts."""
    found: dict[int, Trial] = {}
    for at, text in enumerate(_lines(path), start=1):
        if not text.strip():
            continue
        try:
            trial = Trial(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise InputError(
                "this is not a trial: `labelwise tune --plan` and `--run` write them",
                file=path,
                line=at,
            ) from error
        found[trial.trial] = trial
    return list(found.values())


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from file
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the trials cannot be read ({error})", file=path) from error


def trial_sections(folder: Path, runs: Sequence[Run]) -> list[str]:
    """A paragraph and a table for each method of a data set's folder that has trials. What is no
    better than chance, by the runs of the same data, is marked."""
    sections = []
    on_dev = [run for run in runs if "dev" in run.measures]
    chance = {name: _highest_chance(on_dev, name) for name in FIGURES}
    for path in sorted(folder.glob("*/trials.jsonl")):
        if trials := sorted(read_trials(path), key=lambda one: (-(one.value or 0.0), one.trial)):
            sections += [_heading(trials), _table(trials, chance).markdown().rstrip()]
    return sections


def _highest_chance(runs: Sequence[Run], figure: str) -> float:
    """What a figure of dev must exceed to show skill; NaN where no run tells."""
    group, _, measure = figure.rpartition(" ")
    return runs[0].chance_interval("dev", group or "all", measure)[1] if runs else float("nan")


def _heading(trials: Sequence[Trial]) -> str:
    same = [f"{k} {_shown(v)}" for k, v in trials[0].settings.items() if not _varies(k, trials)]
    made = dict.fromkeys(_made(one.made) for one in trials if one.made)
    of_all = f" In all: {', '.join(same)}." if same else ""
    return f"**{trials[0].method}**.{of_all} Made with {'; '.join(made) or 'settings unknown'}."


def _made(made: Mapping[str, Any]) -> str:
    versions = (f"{name} {number}" for name, number in made["versions"].items())
    device = [made["device"]] if made["device"] else []  # what reads otherwise was trained before
    return ", ".join([f"seed {made['seed']}", f"data `{made['data']}`", *device, *versions])


def _table(trials: Sequence[Trial], chance: Mapping[str, float]) -> Table:
    names = list(dict.fromkeys(name for one in trials for name in one.settings))
    names = [name for name in names if _varies(name, trials)]
    table = Table(["trial", *FIGURES, "epochs trained", *names])
    for one in trials:
        figures = {"RP@5": one.value, **one.figures}
        values = {name: figures.get(name) for name in FIGURES}
        shown = [NOTHING if of is None else marked(of, chance[name]) for name, of in values.items()]
        title = f"{one.trial}" + ("" if one.state == "complete" else f" ({one.state})")
        settings = [_shown(one.settings.get(name, "default")) for name in names]
        table.add([title, *shown, str(len(one.curve) or NOTHING), *settings])
    return table


def _varies(name: str, trials: Sequence[Trial]) -> bool:
    return len({json.dumps(one.settings.get(name, "default")) for one in trials}) > 1


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
