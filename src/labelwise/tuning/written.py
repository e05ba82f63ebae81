"""The settings that did best on dev as a TOML file, with what was tried as its comments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from labelwise.evaluation.trial_records import Trial
from labelwise.tuning.study import best_of


def config_text(
    method: str, corpus: str, trials: Sequence[Trial], settings: Mapping[str, Any]
) -> str:
    """A file of settings: the table of trials, best first, then one ``name = value`` a line."""
    ended = sorted(trials, key=lambda one: (-(one.value or -1.0), one.trial))
    counts = {
        state: sum(one.state == state for one in trials)
        for state in ("complete", "pruned", "failed")
    }
    best = best_of(list(trials))
    lines = [
        f"{method} on {corpus}, chosen by `labelwise tune` on dev RP@5.",
        "",
        f"Tried: {counts['complete']} trials to their end, {counts['failed']} that failed, and "
        f"{counts['pruned']} given up early,",
        "being worse than the median after as many epochs. Dev RP@5 of each trial:",
        "",
        *_table(ended),
        "",
        f"Best: trial {best.trial}."
        + "".join(
            f" {name} {best.figures[name]:.4f}."
            for name in ("nDCG@5", "micro-F1")
            if name in best.figures
        ),
        *([f"Its epochs: {' '.join(f'{v:.4f}' for v in best.curve)}"] if best.curve else []),
    ]
    body = [f"{name} = {toml_value(value)}" for name, value in settings.items()]
    return "\n".join([*(f"# {line}".rstrip() for line in lines), "", *body]) + "\n"


def _table(trials: Sequence[Trial]) -> list[str]:
    names = list(dict.fromkeys(name for one in trials for name in one.settings))
    rows = [["trial", "RP@5", "state", "epochs", *names]]
    for one in trials:
        value = "-" if one.value is None else f"{one.value:.4f}"
        cells = [_shown(one.settings.get(name, "")) for name in names]
        rows.append([str(one.trial), value, one.state, str(len(one.curve) or "-"), *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def toml_value(value: Any) -> str:
    """A setting as TOML writes it; nothing is the word that `--set` takes for it.

    >>> [toml_value(value) for value in (None, True, 3, 0.0004, "glove.txt", (1, 2))]
    ['"none"', 'true', '3', '0.0004', '"glove.txt"', '[1, 2]']
    """
    if value is None:
        return '"none"'
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
