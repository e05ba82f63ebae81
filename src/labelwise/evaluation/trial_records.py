"""What ``labelwise tune`` tried on dev, ``<data>/<method>/trials.jsonl``, as tables for the report.

A file has one trial a line; ``labelwise.tuning.trials`` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise.errors import InputError
from labelwise.evaluation.tables import NOTHING, Table, number

FIGURES = ("RP@5", "nDCG@5", "micro-F1", "few RP@5", "zero RP@5")

EXPLAINED = (
    "Trials of `labelwise tune --run`, the best first; figures are of dev. Settings that are the "
    "same in all trials of a table stand above it, those in which they differ are its columns, "
    "and what is not named has its default. A trial that trained fewer epochs than it was set for "
    "was ended by its patience or by the clock (`--max-seconds`), its learning rate having fallen "
    "to zero by then."
)


def trial_sections(folder: Path) -> list[str]:
    """A paragraph and a table for each method of a data set's folder that has trials."""
    sections = []
    for path in sorted(folder.glob("*/trials.jsonl")):
        try:
            lines = path.read_text("utf-8").splitlines()
            trials = [json.loads(line) for line in lines if line.strip()]
            trials.sort(key=lambda one: (-(one["value"] or 0.0), one["trial"]))
            sections += [_heading(path.parent.name, trials), _table(trials).markdown().rstrip()]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"these are not the trials that `labelwise tune` writes ({error!r}): run it again, "
                "or remove the file",
                file=path,
            ) from error
    return sections


def _heading(method: str, trials: Sequence[Mapping[str, Any]]) -> str:
    same = [f"{k} {_shown(v)}" for k, v in trials[0]["settings"].items() if not _varies(k, trials)]
    made = dict.fromkeys(_made(one["made"]) for one in trials if one.get("made"))
    of_all = f" In all: {', '.join(same)}." if same else ""
    return f"**{method}**.{of_all} Made with {'; '.join(made) or 'settings unknown'}."


def _made(made: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    return f"seed {made['seed']}, data `{made['data']}`, {made['device']}, {versions}"


def _table(trials: Sequence[Mapping[str, Any]]) -> Table:
    names = list(dict.fromkeys(name for one in trials for name in one["settings"]))
    names = [name for name in names if _varies(name, trials)]
    table = Table(["trial", *FIGURES, "epochs trained", *names])
    for one in trials:
        figures = {"RP@5": one["value"], **one["figures"]}
        shown = [number(figures[k]) if figures.get(k) is not None else NOTHING for k in FIGURES]
        title = f"{one['trial']}" + ("" if one["state"] == "complete" else f" ({one['state']})")
        epochs = str(len(one["curve"]) or NOTHING)
        settings = [_shown(one["settings"].get(name, "default")) for name in names]
        table.add([title, *shown, epochs, *settings])
    return table


def _varies(name: str, trials: Sequence[Mapping[str, Any]]) -> bool:
    return len({json.dumps(one["settings"].get(name, "default")) for one in trials}) > 1


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
