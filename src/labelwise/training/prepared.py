"""A corpus prepared for the networks: all of it as numbers, in memory or in one small folder.

Preparing needs the documents and the word vectors, training only what is prepared. So a machine
without a GPU can prepare a corpus for one that has nothing but a GPU.
"""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import InputError, LabelwiseError
from labelwise.files import write_whole
from labelwise.text.flat_tokens import FlatTokens
from labelwise.text.pieces import Pieces
from labelwise.text.tokenized import TokenizedCorpus, tokenize_corpus
from labelwise.text.tokenizer import words
from labelwise.text.vectors import Vectors, read_vectors
from labelwise.text.vocabulary import PADDING, UNKNOWN, Vocabulary
from labelwise.training.numbered import Numbered, Reading, number

SPLIT_ARRAYS = ("tokens", "section_starts", "document_starts", "gold_starts", "gold_columns")


@dataclass(frozen=True, eq=False)
class NumberedSplit(FlatTokens):
    """Documents whose words are rows of the vocabulary, with their ids and gold labels."""

    ids: Sequence[str]
    gold: sp.csr_matrix  # documents × labels

    def rows(self, reading: Reading) -> Numbered:
        """The documents as a network reads them."""
        return replace(number(self, reading), ids=self.ids, gold=self.gold)

    @cached_property
    def digest(self) -> int:
        """Equal for equal numbers: a checkpoint is resumed only on the documents it has seen."""
        texts = self.tokens, self.section_starts, self.document_starts
        digest = 0
        for array in (*texts, self.gold.indptr, self.gold.indices):
            digest = zlib.crc32(np.ascontiguousarray(array).tobytes(), digest)
        return digest


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a network needs to be trained: numbered splits, word vectors, labels.

    Where the tokens are the word pieces of an encoder there are no vectors: the encoder has them.
    """

    label_space: LabelSpace
    vocabulary: Vocabulary | Pieces
    vectors: NDArray[np.float32]  # (V, E) by row of the vocabulary
    found: NDArray[np.bool_]  # (V,) whether the vector is a pre-trained one
    train: NumberedSplit
    dev: NumberedSplit
    thesaurus: Thesaurus | None = None
    """Alternative labels and broader concepts of the labels: encoders read them, and the loss
    ``hbm`` asks which labels have the same broader concept."""


def make_split(
    documents: Sequence[Document],
    corpus: TokenizedCorpus,
    vocabulary: Vocabulary,
    label_space: LabelSpace,
) -> NumberedSplit:
    return NumberedSplit(
        ids=[document.id for document in documents],
        tokens=vocabulary.numbers(corpus),
        section_starts=corpus.section_starts,
        document_starts=corpus.document_starts,
        gold=label_space.gold(documents),
    )


def prepare(
    train: Sequence[Document],
    dev: Sequence[Document],
    label_space: LabelSpace,
    *,
    vectors: str | Path | None = None,
    dim: int = 100,
    min_count: int = 1,
    seed: int = 0,
    cache: Path | None = None,
    thesaurus: Thesaurus | None = None,
) -> Prepared:
    """Tokenise and number the documents, and find the vector of each word.

    The vocabulary holds the words of the training documents that are frequent enough or have a
    vector, and those words of the descriptors that have one. Without a vector file all vectors are
    random, ``dim`` wide.
    """
    if vectors is not None and not Path(vectors).is_file():  # known before the documents are read
        raise InputError("there is no such file of word vectors (setting 'vectors')", file=vectors)
    corpus = tokenize_corpus(train, cache=cache)
    of_descriptors = {word for label in label_space.labels for word in words(label.descriptor)}
    if vectors is None:
        known = Vectors((), np.zeros((0, dim), dtype=np.float32))
        extra: Collection[str] = of_descriptors
    else:
        known = read_vectors(vectors, of_descriptors.union(corpus.words))
        if not len(known):
            raise InputError(
                "none of the words of the training documents has a vector here", file=vectors
            )
        extra = of_descriptors.intersection(known.words)
    vocabulary = Vocabulary.from_corpus(
        corpus, min_count=min_count, keep=frozenset(known.words), extra=extra
    )
    found = np.array([word in known.index for word in vocabulary.words])
    found[[PADDING, UNKNOWN]] = False
    return Prepared(
        label_space=label_space,
        vocabulary=vocabulary,
        vectors=known.matrix_for(vocabulary, seed),
        found=found,
        train=make_split(train, corpus, vocabulary, label_space),
        dev=make_split(dev, tokenize_corpus(dev, cache=cache), vocabulary, label_space),
        thesaurus=thesaurus,
    )


def piece_split(
    documents: Sequence[Document], pieces: Pieces, label_space: LabelSpace, most: int | None = None
) -> NumberedSplit:
    """The documents in word pieces: the first ``most`` of each."""
    flat = pieces.corpus(documents, most)
    return NumberedSplit(
        flat.tokens,
        flat.section_starts,
        flat.document_starts,
        ids=[document.id for document in documents],
        gold=label_space.gold(documents),
    )


def prepare_pieces(
    train: Sequence[Document],
    dev: Sequence[Document],
    label_space: LabelSpace,
    pieces: Pieces,
    *,
    thesaurus: Thesaurus | None = None,
    most: int | None = None,
) -> Prepared:
    """Cut the documents into the word pieces of an encoder."""
    return Prepared(
        label_space=label_space,
        vocabulary=pieces,
        vectors=np.zeros((0, 0), dtype=np.float32),
        found=np.zeros(0, dtype=np.bool_),
        train=piece_split(train, pieces, label_space, most),
        dev=piece_split(dev, pieces, label_space, most),
        thesaurus=thesaurus,
    )


def write_prepared(folder: Path, prepared: Prepared, test: NumberedSplit | None = None) -> None:
    """Write a prepared corpus: JSON for names, xz-compressed arrays for numbers.

    Vectors are kept in half precision, which no network notices.
    """
    # Which says that all is there: a corpus that is prepared again is none meanwhile.
    (folder / "arrays.json").unlink(missing_ok=True)
    splits = {"train": prepared.train, "dev": prepared.dev} | ({"test": test} if test else {})
    names = {
        "labels": prepared.label_space.to_json(),
        "vocabulary": prepared.vocabulary.to_json(),
        "ids": {name: list(split.ids) for name, split in splits.items()},
        "thesaurus": prepared.thesaurus.to_json() if prepared.thesaurus else None,
    }
    _write(folder / "names.json.xz", json.dumps(names).encode())
    arrays: dict[str, NDArray[Any]] = {
        "vectors": prepared.vectors.astype(np.float16),
        "found": prepared.found,
    }
    for name, split in splits.items():
        values = (
            split.tokens,
            split.section_starts,
            split.document_starts,
            split.gold.indptr.astype(np.int64),
            split.gold.indices.astype(np.int32),
        )
        arrays |= {f"{name}.{key}": value for key, value in zip(SPLIT_ARRAYS, values, strict=True)}
    shapes = {}
    for key, array in arrays.items():
        shapes[key] = [array.dtype.str, list(array.shape)]
        _write(folder / f"{key}.xz", np.ascontiguousarray(array).tobytes())
    write_whole(folder / "arrays.json", json.dumps(shapes).encode())


def read_record(folder: Path) -> dict[str, Any]:
    """What a prepared corpus was made of: the ``data`` and the ``settings``."""
    try:
        record: dict[str, Any] = json.loads((folder / "data.json").read_bytes())
        _ = record["data"]["name"], record["data"]["fingerprint"], {**record["settings"]}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(
            "this is not a prepared corpus, or not a whole one: `labelwise prepare` writes them",
            file=folder,
        ) from error
    return record


def read_prepared(folder: Path) -> tuple[Prepared, NumberedSplit | None]:
    """Read a prepared corpus and, where it has one, its test split."""
    if not (folder / "arrays.json").is_file():
        raise LabelwiseError(f"{folder} holds no prepared corpus: there is no arrays.json in it")
    try:
        return _read_prepared(folder)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(
            f"this prepared corpus is damaged ({type(error).__name__}: {error}): prepare it again",
            file=folder,
        ) from error


def _read_prepared(folder: Path) -> tuple[Prepared, NumberedSplit | None]:
    shapes = json.loads((folder / "arrays.json").read_text(encoding="utf-8"))
    arrays = {
        key: np.frombuffer(_read(folder / f"{key}.xz"), dtype=dtype).reshape(shape)
        for key, (dtype, shape) in shapes.items()
    }
    names = json.loads(_read(folder / "names.json.xz"))
    label_space = LabelSpace.from_json(names["labels"])

    def split(name: str) -> NumberedSplit:
        tokens, section_starts, document_starts, indptr, indices = (
            arrays[f"{name}.{key}"] for key in SPLIT_ARRAYS
        )
        ids = names["ids"][name]
        gold = sp.csr_matrix(
            (np.ones(len(indices), np.int8), indices, indptr), shape=(len(ids), len(label_space))
        )
        return NumberedSplit(tokens, section_starts, document_starts, ids, gold)

    vocabulary, thesaurus = names["vocabulary"], names.get("thesaurus")
    read_as = Pieces if "tokenizer" in vocabulary else Vocabulary
    prepared = Prepared(
        label_space=label_space,
        vocabulary=read_as.from_json(vocabulary),
        vectors=arrays["vectors"].astype(np.float32),
        found=arrays["found"],
        train=split("train"),
        dev=split("dev"),
        thesaurus=Thesaurus.from_json(thesaurus) if thesaurus else None,
    )
    return prepared, split("test") if "test" in names["ids"] else None


def _write(file: Path, content: bytes) -> None:
    # Four-byte numbers: tell the compressor where they begin.
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 2, "lp": 2, "pb": 2}]
    write_whole(file, lzma.compress(content, format=lzma.FORMAT_XZ, filters=filters))


def _read(file: Path) -> bytes:
    try:
        return lzma.decompress(file.read_bytes())
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise InputError(
            f"this part of a prepared corpus cannot be read ({error})", file=file
        ) from error
