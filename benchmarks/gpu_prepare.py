"""Prepares a data set for a machine that has a GPU and little else: one small folder of numbers.

    python benchmarks/gpu_prepare.py --data $LABELWISE_DATA/eurlex57k \
        --vectors $LABELWISE_DATA/vectors/glove.6B.100d.eurlex57k.txt.xz --out prepared

Tokenising, counting words and reading vectors is work for a CPU. EURLEX57K takes about five minutes
on two cores, most of it compression, and gives some 50 MB. `labelwise reproduce --prepared` trains
from the folder. For the methods that read with a pretrained encoder the corpus is cut into the
pieces of its tokenizer, the first so many of each document:

    python benchmarks/gpu_prepare.py --data $LABELWISE_DATA/eurlex57k \
        --encoder encoders/all-MiniLM-L6-v2 --most 1020 --out prepared-pieces
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from labelwise.corpus.dataset import Additions, Dataset, open_dataset
from labelwise.corpus.more import repeated_note
from labelwise.evaluation.runs import DataRecord
from labelwise.layers.encoder_files import find_encoder, read_tokenizer
from labelwise.text.tokenized import tokenize_corpus
from labelwise.training.prepared import (
    Prepared,
    Split,
    make_split,
    piece_split,
    prepare,
    prepare_pieces,
    write_prepared,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data set")
    parser.add_argument("--more", type=Path, action="append", help="more training documents")
    parser.add_argument("--summaries", action="store_true", help="in --more are documents too")
    parser.add_argument("--thesaurus", type=Path, help="in place of the data set's own")
    parser.add_argument("--every-concept", action="store_true", help="of the thesaurus is a label")
    parser.add_argument("--vectors", type=Path, help="word vectors, GloVe or word2vec text")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--dim", type=int, default=100, help="width of vectors without a file")
    parser.add_argument("--min-count", type=int, default=2, help="of words without a vector")
    parser.add_argument("--cache", type=Path, help="folder for the tokenised corpus")
    parser.add_argument("--encoder", help="folder of an encoder, whose pieces are the tokens")
    parser.add_argument("--most", type=int, help="pieces kept of a document")
    given = parser.parse_args()
    more = tuple(given.more or ())
    additions = Additions(more, given.summaries, given.thesaurus, given.every_concept)
    dataset = open_dataset(given.data, additions)
    if given.encoder:
        prepared, test, settings = in_pieces(dataset, given.encoder, given.most)
    else:
        prepared, test, settings = in_words(dataset, given)
    write_prepared(given.out, prepared, test)
    record = {"data": asdict(DataRecord.of(dataset)), "settings": settings}
    (given.out / "data.json").write_text(json.dumps(record), encoding="utf-8")
    size = sum(file.stat().st_size for file in given.out.iterdir())
    if dataset.repeated:
        print(repeated_note(dataset.repeated))
    print(
        f"{given.out}: {len(prepared.train.ids):,} + {len(prepared.dev.ids):,} + "
        f"{len(test.ids):,} documents, {len(prepared.vocabulary):,} words, "
        f"{len(prepared.train.tokens):,} training tokens, {size / 1e6:.1f} MB"
    )


def in_words(dataset: Dataset, given: argparse.Namespace) -> tuple[Prepared, Split, dict[str, Any]]:
    prepared = prepare(
        dataset.train,
        dataset.dev,
        dataset.label_space,
        vectors=given.vectors,
        dim=given.dim,
        min_count=given.min_count,
        cache=given.cache,
    )
    corpus = tokenize_corpus(dataset.test, cache=given.cache)
    test = make_split(dataset.test, corpus, prepared.vocabulary, dataset.label_space)
    settings = {"dim": prepared.vectors.shape[1], "min_count": given.min_count}
    if given.vectors:
        settings["vectors"] = given.vectors.name
    return prepared, test, settings


def in_pieces(
    dataset: Dataset, encoder: str, most: int | None
) -> tuple[Prepared, Split, dict[str, Any]]:
    pieces = read_tokenizer(find_encoder(encoder))
    space = dataset.label_space
    named = dataset.thesaurus.about(space.ids) if dataset.thesaurus else None
    prepared = prepare_pieces(dataset.train, dataset.dev, space, pieces, thesaurus=named, most=most)
    test = piece_split(dataset.test, pieces, space, most)
    return prepared, test, {"encoder": Path(encoder).name}


if __name__ == "__main__":
    main()
