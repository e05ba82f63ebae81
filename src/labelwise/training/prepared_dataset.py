"""A whole data set in numbers: its three splits, and the record of what it was made from."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.evaluation.runs import DataRecord
from labelwise.files import write_whole
from labelwise.layers.encoder_files import find_encoder, read_tokenizer
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.vocabulary import Vocabulary
from labelwise.training.prepared import (
    NumberedSplit,
    Prepared,
    make_split,
    piece_split,
    prepare,
    prepare_pieces,
    write_prepared,
)


def prepare_in_words(
    dataset: Dataset,
    folder: Path,
    *,
    vectors: Path | None = None,
    dim: int = 100,
    min_count: int = 2,
    cache: Path | None = None,
) -> Prepared:
    """Write the data set in rows of a vocabulary, with the vectors of its words."""
    prepared = prepare(
        dataset.train,
        dataset.dev,
        dataset.label_space,
        vectors=vectors,
        dim=dim,
        min_count=min_count,
        cache=cache,
        thesaurus=_known(dataset),
    )
    assert isinstance(prepared.vocabulary, Vocabulary)  # of words, not of pieces
    corpus = tokenize_corpus(dataset.test, cache=cache)
    test = make_split(dataset.test, corpus, prepared.vocabulary, dataset.label_space)
    settings = {"dim": prepared.vectors.shape[1], "min_count": min_count}
    named = {"vectors": vectors.name} if vectors else {}
    _write(folder, dataset, prepared, test, settings | named)
    return prepared


def prepare_in_pieces(
    dataset: Dataset, folder: Path, encoder: str, most: int | None = None
) -> Prepared:
    """Write the data set in the word pieces of an encoder, the first ``most`` of each document."""
    pieces = read_tokenizer(find_encoder(encoder))
    space = dataset.label_space
    known = _known(dataset)
    prepared = prepare_pieces(dataset.train, dataset.dev, space, pieces, thesaurus=known, most=most)
    test = piece_split(dataset.test, pieces, space, most)
    _write(folder, dataset, prepared, test, {"encoder": Path(encoder).name})
    return prepared


def _known(dataset: Dataset) -> Thesaurus | None:
    """What the thesaurus says of the labels."""
    return dataset.thesaurus.about(dataset.label_space.ids) if dataset.thesaurus else None


def _write(
    folder: Path,
    dataset: Dataset,
    prepared: Prepared,
    test: NumberedSplit,
    settings: dict[str, Any],
) -> None:
    write_prepared(folder, prepared, test)
    record = {"data": asdict(DataRecord.of(dataset)), "settings": settings}
    write_whole(folder / "data.json", json.dumps(record).encode())
