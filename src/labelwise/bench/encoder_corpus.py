"""What the training of an encoder is measured on: a prepared corpus, else random pieces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError
from labelwise.text.pieces import Pieces
from labelwise.training.prepared import NumberedSplit, read_prepared

SHARES = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
PIECES = (60, 349, 426, 545, 719, 1214, 2110, 2775, 6000)
"""So many of EURLEX57K's training documents have at most so many of MiniLM's word pieces."""

GOLD = 5  # labels of a document


def split_of(
    folder: Path | None, documents: int, labels: int, rows: int
) -> tuple[NumberedSplit, Any]:
    """The training documents of a prepared corpus and what is told of them; without such a folder,
    random ones, and None."""
    if folder is None or not (folder / "data.json").is_file():
        return random_split(documents, labels, rows), None
    prepared, _ = read_prepared(folder)
    if not isinstance(prepared.vocabulary, Pieces):
        raise LabelwiseError(
            f"{folder} is prepared in words, and encoders read word pieces: prepare it with "
            "`labelwise prepare --encoder`"
        )
    record = json.loads((folder / "data.json").read_text("utf-8"))
    return prepared.train, record["data"]


def random_split(documents: int, labels: int, rows: int) -> NumberedSplit:
    """Documents as long as those of EURLEX57K, of random pieces and with random labels."""
    random = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(lengths(documents))]).astype(np.int64)
    tokens = random.integers(min(1_000, rows // 2), rows, starts[-1]).astype(np.int32)
    gold = random.integers(0, labels, (documents, GOLD))
    each = np.repeat(np.arange(documents), GOLD)
    matrix = sp.csr_matrix(
        (np.ones(documents * GOLD, np.int8), (each, gold.ravel())), shape=(documents, labels)
    )
    ids = [str(number) for number in range(documents)]
    return NumberedSplit(ids, tokens, starts, np.arange(documents + 1), matrix)


def lengths(documents: int) -> NDArray[np.int64]:
    """Word pieces of so many documents like those of EURLEX57K, the shortest first.

    >>> lengths(4).tolist()
    [445, 632, 966, 1960]
    """
    share = (np.arange(documents) + 0.5) / documents
    return np.interp(share, SHARES, PIECES).astype(np.int64)
