"""A data set in numbers, written to one small folder, from which networks are trained elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labelwise.corpus.dataset import Additions, open_dataset
from labelwise.corpus.more import Repeated, repeated_note
from labelwise.errors import CallError
from labelwise.progress import note
from labelwise.training.prepared_dataset import prepare_in_pieces, prepare_in_words


@dataclass(frozen=True)
class Written:
    """What was prepared."""

    data: str
    counts: dict[str, int]
    """Of documents, split by split, of words, and of the tokens of the training documents."""
    bytes: int
    repeated: Sequence[Repeated]
    """Of the additional documents those left out, for their ids are there already."""


def prepare(
    data: Path,
    additions: Additions,
    *,
    out: Path,
    vectors: Path | None = None,
    dim: int = 100,
    min_count: int = 2,
    encoder: str | None = None,
    most: int | None = None,
    cache: Path | None = None,
) -> Written:
    """Write a data set in rows of a vocabulary or, with ``encoder``, in the pieces of one."""
    if most is not None and encoder is None:
        raise CallError("--most goes with --encoder")
    if encoder is not None and vectors is not None:
        raise CallError("an encoder has its own vectors: --vectors or --encoder, not both")
    dataset = open_dataset(data, additions)
    if encoder is not None:
        made = prepare_in_pieces(dataset, out, encoder, most)
    else:
        made = prepare_in_words(
            dataset, out, vectors=vectors, dim=dim, min_count=min_count, cache=cache
        )
    if dataset.repeated:  # known when the documents have been read
        note(repeated_note(dataset.repeated))
    counts = {
        "train": len(made.train.ids),
        "dev": len(made.dev.ids),
        "test": len(dataset.test),
        "words": len(made.vocabulary),
        "training tokens": len(made.train.tokens),
    }
    size = sum(file.stat().st_size for file in out.iterdir())
    return Written(dataset.name, counts, size, dataset.repeated)
