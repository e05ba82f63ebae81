"""Pre-trained word vectors: readers for the text formats of GloVe and word2vec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.sources import Origin, decode, lines, opened, sample
from labelwise.errors import InputError
from labelwise.text.vocabulary import PADDING, UNKNOWN, Vocabulary

BLOCK = 1024
"""Vectors turned into numbers at a time."""

RANDOM = 0.1
"""Standard deviation of the rows of words without a vector: small beside GloVe's own, 0.4."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors, in the order of the file they come from."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]  # (words, dim)
    duplicates: int = 0
    """Later lines for a word already read: the first line of a word counts."""

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dim(self) -> int:
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """From a word to its row of ``matrix``."""
        return {word: row for row, word in enumerate(self.words)}

    def matrix_for(self, vocabulary: Vocabulary, seed: int = 0) -> NDArray[np.float32]:
        """(len(vocabulary), dim) the vectors by row of the vocabulary.

        Words without a vector, and the unknown word, get small random rows, the same for the
        same seed; the padding is zeros.
        """
        random = np.random.default_rng(seed)
        shape = (len(vocabulary), self.dim)
        matrix = random.standard_normal(shape, dtype=np.float32) * np.float32(RANDOM)
        rows = np.array([self.index.get(word, -1) for word in vocabulary.words], dtype=np.int64)
        rows[[PADDING, UNKNOWN]] = -1
        matrix[rows >= 0] = self.matrix[rows[rows >= 0]]
        matrix[PADDING] = 0
        return matrix


def read_vectors(path: str | Path, words: Iterable[str] | None = None) -> Vectors:
    """Read the vectors of the words asked for, or of all words.

    The file is GloVe text (a word and its numbers a line) or word2vec text (the same, after a
    first line with the number of words and of dimensions), plain, gzip or xz. It is read as a
    stream, and what was not asked for is not kept.
    """
    path = Path(path)
    wanted = None if words is None else frozenset(words)
    found: dict[str, None] = {}
    duplicates = 0
    blocks: list[NDArray[np.float32]] = []
    pending: list[tuple[Origin, bytes]] = []
    numbers = b""
    for origin, word, numbers in _records(path):
        if wanted is not None and word not in wanted:
            continue
        if word in found:
            duplicates += 1
            continue
        found[word] = None
        pending.append((origin, numbers))
        if len(pending) == BLOCK:
            blocks.append(_parse(pending))
            pending = []
    if pending:
        blocks.append(_parse(pending))
    nothing = np.zeros((0, len(numbers.split())), dtype=np.float32)
    return Vectors(tuple(found), np.concatenate([nothing, *blocks]), duplicates)


def _records(path: Path) -> Iterator[tuple[Origin, str, bytes]]:
    """Place, word and numbers (as text, as many as they should be) of each line."""
    with opened(path) as stream:
        if sample(stream, path).startswith(b"PK\x03\x04"):
            raise InputError("a zip archive; unpack it and name the text file inside", file=path)
        dim = promised = None
        records = 0
        for origin, content in lines(stream, path):
            head, *rest = content.split(None, 1) or [b""]
            if not head:
                continue
            if dim is None and (header := _header(content)):
                promised, dim = header
                continue
            numbers = rest[0].rstrip() if rest else b""
            dim = dim or len(numbers.split())
            if not dim:
                raise origin.error("a word without a vector")
            records += 1
            # Counting the spaces is much faster than splitting, and nearly always right.
            if numbers.count(b" ") + 1 != dim and (columns := len(numbers.split())) != dim:
                if columns > dim and not any(map(_is_number, numbers.split()[: columns - dim])):
                    continue  # GloVe 840B has a few words with spaces inside; no token has
                raise origin.error(
                    f"{columns} numbers after the word, but the vectors of this file have {dim}"
                )
            yield origin, decode(head, origin), numbers
    if not records:
        raise InputError("there are no vectors in it", file=path)
    if promised is not None and promised != records:
        raise InputError(
            f"its first line promises {promised} vectors, but there are {records}; copy or "
            "download it again",
            file=path,
        )


def _header(content: bytes) -> tuple[int, int] | None:
    """Number of words and of dimensions, where the line is the first of a word2vec file."""
    columns = content.split()
    if len(columns) == 2 and all(column.isdigit() for column in columns):
        return int(columns[0]), int(columns[1])
    return None


def _parse(rows: Sequence[tuple[Origin, bytes]]) -> NDArray[np.float32]:
    """(rows, dim) the numbers of many lines at once; one by one only to name what is wrong."""
    try:
        block = np.loadtxt([numbers for _, numbers in rows], np.float32, comments=None, ndmin=2)
        if np.isfinite(block).all():
            return block
    except ValueError:
        pass
    origin, numbers = next(row for row in rows if not all(map(_is_number, row[1].split())))
    wrong = next(number for number in numbers.split() if not _is_number(number))
    raise origin.error(f"'{wrong.decode('utf-8', 'replace')}' is not a number")


def _is_number(text: bytes) -> bool:
    try:
        return bool(np.isfinite(np.loadtxt([text], np.float32, comments=None)))
    except ValueError:
        return False
