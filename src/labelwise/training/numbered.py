"""Documents as the rows of numbers that a network reads, and the labels it is to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.text.flat_tokens import FlatTokens
from labelwise.text.vocabulary import UNKNOWN


@dataclass(frozen=True, eq=False)
class Reading:
    """How much of a document is read, and whether its sections are read apart, or pieces of it."""

    max_tokens: int
    by_section: bool = False
    max_sections: int = 0
    section_tokens: int = 0
    piece_tokens: int = 0
    """The longest row of a document that is read in pieces, one after another; 0: it is not."""
    stride: int = 0
    """From the beginning of a piece to that of the next: less than a piece, and they overlap."""
    unknown: int = UNKNOWN
    """What is read where a document has no token."""


@dataclass(frozen=True, eq=False)
class Numbered:
    """D documents of S rows: a row is a section, a piece or, for a flat method, the whole document.

    Rows are cut from one flat array and never copied. Empty sections are no rows. A document
    without a token has one row of one unknown word, so that it can be scored like any other.
    """

    tokens: NDArray[np.int32]  # (N,) rows of the embedding
    starts: NDArray[np.int64]  # (S,) where each row begins in tokens
    lengths: NDArray[np.int64]  # (S,) its tokens, at least one
    first: NDArray[np.int64]  # (D + 1,) the first row of each document
    ids: Sequence[str] = ()
    """Of documents to learn from, and their gold labels (documents × labels)."""
    gold: sp.csr_matrix = field(default_factory=lambda: sp.csr_matrix((0, 0)))

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def longest(self) -> NDArray[np.int64]:
        """(D,) the tokens of each document's longest row."""
        longest: NDArray[np.int64] = np.maximum.reduceat(self.lengths, self.first[:-1])
        return longest


def number(flat: FlatTokens, reading: Reading) -> Numbered:
    """Cut documents, whose tokens are numbered, into rows.

    >>> tokens = np.arange(2, 12, dtype=np.int32)
    >>> flat = number(FlatTokens(tokens, np.array([0, 4, 4, 10]), np.array([0, 3, 3])),
    ...               Reading(max_tokens=8))
    >>> flat.starts.tolist(), flat.lengths.tolist(), flat.tokens[-1]
    ([0, 10], [8, 1], 1)
    """
    tokens, section_starts = flat.tokens, flat.section_starts
    document_starts, documents = flat.document_starts, len(flat)
    if reading.by_section:
        owner = np.repeat(np.arange(documents), np.diff(document_starts))
        starts, lengths = section_starts[:-1], np.diff(section_starts)
        kept = lengths > 0
        owner, starts, lengths = owner[kept], starts[kept], lengths[kept]
        kept = np.arange(len(owner)) - np.searchsorted(owner, owner) < reading.max_sections
        owner, starts, lengths = owner[kept], starts[kept], lengths[kept]
        lengths = np.minimum(lengths, reading.section_tokens)
        before = np.cumsum(lengths) - lengths  # tokens read before each row
        before -= before[np.searchsorted(owner, owner)]  # ... of its document
        lengths = np.minimum(lengths, reading.max_tokens - before)
    else:
        owner = np.arange(documents)
        starts = section_starts[document_starts[:-1]]
        lengths = np.minimum(section_starts[document_starts[1:]] - starts, reading.max_tokens)
    if reading.piece_tokens:
        owner, starts, lengths = _pieces(owner, starts, lengths, reading)
    kept = lengths > 0
    owner, starts, lengths = owner[kept], starts[kept], lengths[kept]

    empty = np.setdiff1d(np.arange(documents), owner)
    owner = np.concatenate([owner, empty])
    order = np.argsort(owner, kind="stable")
    return Numbered(
        tokens=np.concatenate([tokens, np.array([reading.unknown], dtype=np.int32)]),
        starts=np.concatenate([starts, np.full(len(empty), len(tokens))])[order].astype(np.int64),
        lengths=np.concatenate([lengths, np.ones(len(empty), np.int64)])[order].astype(np.int64),
        first=np.searchsorted(owner[order], np.arange(documents + 1)).astype(np.int64),
    )


def _pieces(
    owner: NDArray[np.int64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    reading: Reading,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows cut into pieces, the last of which ends where the row does."""
    more = np.maximum(lengths - reading.piece_tokens, 0)  # what the first piece leaves
    counts = 1 + -(-more // reading.stride)
    row = np.repeat(np.arange(len(lengths)), counts)
    before = (np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)) * reading.stride
    left = lengths[row] - before
    return owner[row], starts[row] + before, np.minimum(left, reading.piece_tokens)


def gold_columns(gold: Any) -> NDArray[np.int64]:
    """The gold labels of each document, filled up with a column that is no label: (D, most).

    >>> gold_columns(sp.csr_matrix([[1, 0, 1], [0, 1, 0]])).tolist()
    [[0, 2], [1, 3]]
    """
    counts = np.diff(gold.indptr)
    columns = np.full((gold.shape[0], max(1, counts.max(initial=1))), gold.shape[1], dtype=np.int64)
    rows = np.repeat(np.arange(gold.shape[0]), counts)
    columns[rows, np.arange(len(rows)) - gold.indptr[rows]] = gold.indices
    return columns
