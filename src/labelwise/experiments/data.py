"""The data set of an experiment: read with all that is added to it, or as a bundle knew it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise.corpus.dataset import NOTHING, Additions, Dataset, open_dataset
from labelwise.corpus.hidden import Hiding, hide
from labelwise.corpus.more import repeated_note
from labelwise.corpus.skipped import Skipped
from labelwise.errors import CallError, LabelwiseError
from labelwise.experiments.one_or_more import one_or_more
from labelwise.progress import note


def read_dataset(
    path: Path,
    additions: Additions | None = None,
    *,
    skip_bad: bool,
    hiding: Hiding | None = None,
) -> Dataset:
    """A data set, all of it read, with a note on what was skipped or was there twice; or a view
    that hides labels."""
    skipped = Skipped() if skip_bad else None
    whole = open_dataset(path, additions or NOTHING, skipped=skipped)
    dataset = hide(whole, hiding) if hiding else whole
    _ = dataset.counts  # reads the splits
    if whole.repeated:
        note(repeated_note(whole.repeated))
    if skipped and skipped.count:
        note(skipped.summary())
    return dataset


def hiding_of_card(card: Mapping[str, Any]) -> Hiding | None:
    """The labels that were hidden from a bundle in training, by its card."""
    hidden = card.get("data", {}).get("hidden")
    return Hiding.from_json(hidden) if hidden else None


def refuse_relabelled(bundle: str | Path, card: Mapping[str, Any], instead: str) -> None:
    """Raise an error for a bundle whose labels are not those that it was trained with any more."""
    if new := card.get("relabelled"):
        raise LabelwiseError(
            f"{bundle} was relabelled to {new['name']}, so that its labels are not those that it "
            f"was trained with: {instead}"
        )


def as_trained(dataset: Dataset, card: Mapping[str, Any]) -> Dataset:
    """The view of a data set that a bundle was trained on, where labels were hidden from it.

    A bundle of a data set with additions is never measured among those of the data set alone, nor
    the other way round; nor is one of another data set, whose training documents may be the very
    ones that this one measures on.
    """
    trained = card.get("data", {})
    name = str((trained.get("hidden") or {}).get("data") or trained.get("name", ""))
    if name != dataset.name and name.partition("+")[0] == dataset.name.partition("+")[0]:
        raise LabelwiseError(
            f"the model was trained on {name}, not on {dataset.name}: give the same --more, "
            "--summaries, --thesaurus and --every-concept as in its training, or measure it on a "
            "file with --on"
        )
    hiding = hiding_of_card(card)
    view = hide(dataset, hiding) if hiding else dataset
    if trained.get("label_space", view.label_space.fingerprint) != view.label_space.fingerprint:
        raise LabelwiseError(
            f"the model was trained on {trained.get('name', 'other data')}, with other labels or "
            f"label counts than the data set {view.name} has now: give the data that it was "
            "trained on, or measure it on a file with --on"
        )
    return view


def view_of(dataset: Dataset, card: Mapping[str, Any]) -> Dataset:
    """The data set, or its view with the labels hidden that were hidden from a bundle."""
    hiding = hiding_of_card(card)
    known = hiding is not None and card["data"]["hidden"]["fingerprint"] == dataset.fingerprint
    return hide(dataset, hiding) if hiding is not None and known else dataset


def additions_of(
    more: str | Path | Sequence[str | Path] | None,
    summaries: bool,
    thesaurus: str | Path | None,
    every_concept: bool,
) -> Additions:
    """What the four options add to a data set."""
    known = Path(thesaurus) if thesaurus is not None else None
    return Additions(tuple(map(Path, one_or_more(more))), summaries, known, every_concept)


def hiding_of(hide: float | None, draw: int, drop: bool) -> Hiding | None:
    """The labels that the three options hide."""
    if hide is None:
        if draw or drop:
            raise CallError("--draw and --drop-documents go with --hide")
        return None
    if not isinstance(hide, (int, float)):
        raise LabelwiseError(f"hide is a share of the labels or a number of them, not {hide!r}")
    return Hiding(hide, draw, drop)


def commands(card: Mapping[str, Any], command: str) -> str:
    """What was typed to make a model, and after it what was typed now."""
    return f"{card.get('command', '')}\n{command}".strip()
