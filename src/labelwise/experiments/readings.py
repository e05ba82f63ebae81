"""What a saved model reads of an act, tried otherwise: nothing is trained, a dev file is scored."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from labelwise.corpus.skipped import Skipped
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.trial_records import Trial
from labelwise.experiments.labelled_file import measure_file, split_name
from labelwise.experiments.settings import named_in, parse_settings
from labelwise.experiments.worker import outcome_of
from labelwise.files import write_whole
from labelwise.methods import REGISTRY, Method, get

TRIALS = "trials.jsonl"


def try_readings(
    method: Method,
    path: Path,
    tried: Sequence[str],
    *,
    thesaurus: Thesaurus | None,
    card: Mapping[str, Any],
    skipped: Skipped | None = None,
) -> list[Trial]:
    """Measure a model on a dev file as it was trained, and with each of these changes."""
    if not method.readings:
        able = [name for name in REGISTRY if get(name).readings]
        raise LabelwiseError(
            f"{method.name} reads as it was trained; these methods can read otherwise: "
            f"{', '.join(able)}"
        )
    if split_name(path) != "dev":
        raise LabelwiseError(f"settings are chosen on dev, and {path.name} is not called so")
    changes: list[dict[str, Any]] = [{}, *(_changes(method, one) for one in tried)]
    own, kept, trials = method.settings, method.cache, []
    with tempfile.TemporaryDirectory(prefix="labelwise-") as words:  # which are the same each time
        try:
            method.cache = kept or Path(words)
            for number, changed in enumerate(changes):
                method.settings = replace(own, **changed)
                run, _ = measure_file(method, path, thesaurus=thesaurus, card=card, skipped=skipped)
                read = {name: asdict(method.settings)[name] for name in method.readings}
                outcome = outcome_of(run)
                value = outcome["figures"]["RP@5"]
                trials.append(Trial(number, run.method, read, "complete", value, **outcome))
        finally:
            method.settings, method.cache = own, kept
    return trials


def _changes(method: Method, text: str) -> dict[str, Any]:
    given = text.split(",")
    parsed = asdict(parse_settings(type(method.settings), given, method.name))
    names = [named_in(one) for one in given]
    for name in names:
        if name not in method.readings:
            raise LabelwiseError(
                f"'{name}' needs a training; what is read can be tried without: "
                f"{', '.join(method.readings)}"
            )
    return {name: parsed[name] for name in names}


def write_trials(folder: Path, trials: Sequence[Trial]) -> Path:
    """Keep them beside the runs of the model, where the report finds them."""
    path = folder / TRIALS
    write_whole(path, "".join(f"{one.line()}\n" for one in trials).encode())
    return path
