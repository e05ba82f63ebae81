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
from labelwise.methods import REGISTRY, Method, Settings, get

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
    """Measure a model on a dev file as it was trained, and with each of these changes.

    What is made of others reads as they do: a change is one to all of them that have the setting.
    """
    ways = check_readings(method, path, tried)
    readers = _readers(method)
    own = [(reader, reader.settings, reader.cache) for reader in readers.values()]
    trials = []
    with tempfile.TemporaryDirectory(prefix="labelwise-") as words:  # which are the same each time
        try:
            for number, way in enumerate(ways):
                for (reader, _, cache), settings in zip(own, way, strict=True):
                    reader.settings, reader.cache = settings, cache or Path(words)
                run, _ = measure_file(method, path, thesaurus=thesaurus, card=card, skipped=skipped)
                outcome = outcome_of(run)
                value = outcome["figures"]["RP@5"]
                trials.append(
                    Trial(number, run.method, _read(readers), "complete", value, **outcome)
                )
        finally:
            for reader, settings, cache in own:
                reader.settings, reader.cache = settings, cache
    return trials


def check_readings(method: Method, path: Path, tried: Sequence[str]) -> list[list[Settings]]:
    """The settings of each reader as it was trained, and for each change; before anything is
    measured, what cannot be tried is refused."""
    readers = _readers(method)
    if not readers:
        able = [name for name in REGISTRY if get(name).readings]
        raise LabelwiseError(
            f"{method.name} reads as it was trained; these methods can read otherwise: "
            f"{', '.join(able)}"
        )
    if split_name(path) != "dev":
        raise LabelwiseError(f"settings are chosen on dev, and {path.name} is not called so")
    return [_changed(readers, one) for one in ("", *tried)]


def _readers(method: Method) -> dict[str, Method]:
    """What reads the documents and may do so otherwise, by name: the method or, of one that is made
    of others, those of them that can; those of one name by their numbers too."""
    found = [method] if method.readings else _among(method.parts)
    names = [one.name for one in found]
    return {
        one.name if names.count(one.name) == 1 else f"{number}/{one.name}": one
        for number, one in enumerate(found, start=1)
    }


def _among(parts: Sequence[Method]) -> list[Method]:
    return [one for part in parts for one in ([part] if part.readings else _among(part.parts))]


def _changed(readers: Mapping[str, Method], text: str) -> list[Settings]:
    """The settings of each reader with what the text changes for those that have it."""
    given = text.split(",") if text else []
    able = list(dict.fromkeys(name for one in readers.values() for name in one.readings))
    for name in map(named_in, given):
        if name not in able:
            learned = any(name in asdict(one.settings) for one in readers.values())
            problem = f"'{name}' needs a training" if learned else f"there is no setting '{name}'"
            raise LabelwiseError(f"{problem}; what is read can be tried without: {', '.join(able)}")
    found = []
    for one in readers.values():
        own = [assignment for assignment in given if named_in(assignment) in one.readings]
        parsed = asdict(parse_settings(type(one.settings), own, one.name))
        found.append(replace(one.settings, **{name: parsed[name] for name in map(named_in, own)}))
    return found


def _read(readers: Mapping[str, Method]) -> dict[str, Any]:
    """What documents are read by now; of several readers with the name of each."""
    return {
        setting if len(readers) == 1 else f"{name}.{setting}": getattr(one.settings, setting)
        for name, one in readers.items()
        for setting in one.readings
    }


def write_trials(folder: Path, trials: Sequence[Trial]) -> Path:
    """Keep them beside the runs of the model, where the report finds them."""
    path = folder / TRIALS
    write_whole(path, "".join(f"{one.line()}\n" for one in trials).encode())
    return path
