"""Documents from files, folders and standard input, a batch at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelwise.cli.output import note
from labelwise.errors import InputError, LabelwiseError

if TYPE_CHECKING:
    from labelwise.corpus.dataset import Additions, Dataset
    from labelwise.corpus.document import Document
    from labelwise.corpus.hidden import Hiding
    from labelwise.corpus.polite import Polite
    from labelwise.corpus.skipped import Skipped


def read_inputs(paths: Sequence[Path], *, skip_bad: bool) -> Iterator[Document]:
    """The documents of all paths in order; ``-`` is standard input. What is no file and names an
    act is fetched."""
    from labelwise.corpus.named_act import asked_once, named_act
    from labelwise.corpus.readers import read_stream
    from labelwise.corpus.skipped import Skipped

    skipped = Skipped() if skip_bad else None
    polite = asked_once()
    count = 0
    for path in paths:
        if str(path) == "-":
            documents = read_stream(sys.stdin.buffer, skipped=skipped)
        elif not os.path.lexists(path) and (celex := named_act(str(path))) is not None:
            documents = _fetched(celex, polite, skipped)
        else:
            documents = _read(path, skipped)
        for document in documents:
            count += 1
            yield document
    if skipped and skipped.count:
        note(skipped.summary())
    if not count:
        names = ", ".join("standard input" if str(path) == "-" else str(path) for path in paths)
        raise LabelwiseError(f"no document was read from {names}")


def _read(path: Path, skipped: Skipped | None) -> Iterator[Document]:
    from labelwise.corpus.readers import read

    try:
        yield from read(path, skipped=skipped)
    except InputError as error:  # of the path itself: it is not there, or an empty folder
        if skipped is None:
            raise
        skipped.record(error)


def _fetched(celex: str, polite: Polite, skipped: Skipped | None) -> Iterator[Document]:
    from labelwise.corpus.named_act import UnknownActError, fetch_act

    note(f"{celex} is fetched from the Publications Office")
    try:
        yield fetch_act(celex, polite)
    except UnknownActError as error:
        if skipped is None:
            raise
        skipped.record(error)


def read_dataset(
    path: Path,
    additions: Additions | None = None,
    *,
    skip_bad: bool,
    hiding: Hiding | None = None,
) -> Dataset:
    """A data set, all of it read, with a note on what was skipped or was there twice; or a view
    that hides labels."""
    from labelwise.corpus.dataset import NOTHING, open_dataset
    from labelwise.corpus.hidden import hide
    from labelwise.corpus.more import repeated_note
    from labelwise.corpus.skipped import Skipped

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
    from labelwise.corpus.hidden import Hiding

    hidden = card.get("data", {}).get("hidden")
    return Hiding.from_json(hidden) if hidden else None


def refuse_relabelled(bundle: Path, card: Mapping[str, Any], instead: str) -> None:
    """Raise an error for a bundle whose labels are not those that it was trained with any more."""
    if new := card.get("relabelled"):
        raise LabelwiseError(
            f"{bundle} was relabelled to {new['name']}, so that its labels are not those that it "
            f"was trained with: {instead}"
        )


def as_trained(dataset: Dataset, card: Mapping[str, Any]) -> Dataset:
    """The view of a data set that a bundle was trained on, where labels were hidden from it.

    A bundle of a data set with additions is never measured among those of the data set alone, nor
    the other way round.
    """
    from labelwise.corpus.hidden import hide

    trained = card.get("data", {})
    name = str((trained.get("hidden") or {}).get("data") or trained.get("name", ""))
    if name != dataset.name and name.partition("+")[0] == dataset.name.partition("+")[0]:
        raise LabelwiseError(
            f"the model was trained on {name}, not on {dataset.name}: give the same --more, "
            "--summaries, --thesaurus and --every-concept as in its training, or measure it on a "
            "file with --on"
        )
    hiding = hiding_of_card(card)
    if hiding is None or card["data"]["hidden"]["fingerprint"] != dataset.fingerprint:
        return dataset
    return hide(dataset, hiding)
