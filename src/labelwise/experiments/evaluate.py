"""How good a model is: measured on a data set, group by group, or on any labelled file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labelwise.corpus.skipped import Skipped
from labelwise.corpus.thesaurus import read_thesaurus
from labelwise.errors import CallError, LabelwiseError, check_whole
from labelwise.evaluation.runs import Run
from labelwise.experiments.data import (
    additions_of,
    as_trained,
    commands,
    read_dataset,
    refuse_relabelled,
)
from labelwise.experiments.labelled_file import measure_file
from labelwise.experiments.measured import measure, measure_prepared
from labelwise.experiments.one_or_more import one_or_more
from labelwise.experiments.readings import check_readings, try_readings, write_trials
from labelwise.model import Model, load
from labelwise.progress import note

SPLITS = ("dev", "test")


def evaluate(
    bundle: str | Path | Model,
    *,
    data: str | Path | None = None,
    prepared: str | Path | None = None,
    on: str | Path | None = None,
    first_words: int | None = None,
    readings: str | Sequence[str] | None = None,
    more: str | Path | Sequence[str | Path] | None = None,
    summaries: bool = False,
    thesaurus: str | Path | None = None,
    every_concept: bool = False,
    split: str | Sequence[str] | None = None,
    results: str | Path | None = None,
    skip_bad: bool = False,
    command: str = "",
) -> Run:
    """Measure a model; with ``results``, write the run there.

    The options are those of `labelwise evaluate`. The figures of a run are
    ``run.measures["test"]["few"]["RP@5"]``. ``command`` is what the run says that it was made with,
    after what the model was.
    """
    if data is None and prepared is None and on is None:
        raise CallError(
            "--data (or LABELWISE_DATA), --prepared or --on is needed; in Python data, prepared or "
            "on"
        )
    if on is not None and (more or summaries or every_concept or split):
        raise CallError("--on measures on one file; of the others only --thesaurus fits")
    if first_words is not None and on is None:
        raise CallError("--first-words goes with --on")
    if first_words is not None:
        check_whole("first_words", first_words, 1)
    if readings and (on is None or first_words is not None or results is None):
        raise CallError("--try goes with --on and --results, and not with --first-words")
    model = bundle if isinstance(bundle, Model) else load(bundle)
    method, card = model.method, model.card
    splits = [str(one) for one in one_or_more(split) or SPLITS]
    if strange := [one for one in splits if one not in SPLITS]:
        raise LabelwiseError(f"'{strange[0]}' is not measured on; these are: {', '.join(SPLITS)}")
    command = commands(card, command)
    if on is None:
        named = model.name if isinstance(bundle, Model) else bundle
        refuse_relabelled(named, card, "measure it on a file with --on")
    if on is not None:
        if readings:
            check_readings(method, Path(on), one_or_more(readings))
        skipped = Skipped() if skip_bad else None
        known = read_thesaurus(Path(thesaurus)) if thesaurus else model.thesaurus
        run, documents = measure_file(
            method, Path(on), thesaurus=known, card=card, command=command, skipped=skipped,
            most_words=first_words,
        )  # fmt: skip
        if results is not None:
            documents.write(Path(results))
        if readings and results is not None:
            trials = try_readings(
                method, Path(on), one_or_more(readings), thesaurus=known, card=card,
                skipped=Skipped() if skip_bad else None,  # each reading skips the same ones again
            )  # fmt: skip
            note(f"wrote {write_trials(run.path(Path(results)).parent, trials)}")
        if skipped and skipped.count:
            note(skipped.summary())
    elif prepared is not None:
        run = measure_prepared(method, Path(prepared), splits, card=card, command=command)
    else:
        additions = additions_of(more, summaries, thesaurus, every_concept)
        dataset = read_dataset(Path(str(data)), additions, skip_bad=skip_bad)
        run = measure(method, as_trained(dataset, card), splits, card=card, command=command)
    if results is not None:
        run.write(results)
    return run
