"""Other word vectors for a corpus that is prepared already, in a small file of their own.

The tokens of a prepared corpus are rows of its vocabulary. Other vectors for the same rows weigh a
few megabytes (8 bits a number, with a size a row), where preparing the corpus again would write all
of it again.
"""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import InputError, LabelwiseError
from labelwise.files import ARCHIVE_FAULTS, write_whole
from labelwise.text.vectors import RANDOM, Vectors
from labelwise.text.vocabulary import PADDING, UNKNOWN, Vocabulary
from labelwise.training.prepared import Prepared


def write_vector_rows(
    file: Path, vectors: Vectors, vocabulary: Vocabulary, *, name: str, beside: bool = False
) -> int:
    """Write the vectors of the vocabulary's words; say how many have one.

    ``beside``: they stand beside the vectors of the prepared corpus, not in their place.
    """
    pairs = [
        (row, vectors.index[word])
        for row, word in enumerate(vocabulary.words)
        if row > UNKNOWN and word in vectors.index
    ]
    if not pairs:
        raise LabelwiseError(f"no word of the prepared corpus has a vector in {name}")
    rows, places = np.array(pairs, dtype=np.int64).T
    matrix = vectors.matrix[places]  # (R, E)
    size = np.maximum(np.abs(matrix).max(axis=1, keepdims=True) / 127, 1e-12)
    about = {"name": name, "vocabulary": vocabulary.fingerprint, "beside": beside}
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        rows=rows.astype(np.int32),
        size=size.astype(np.float32),
        matrix=np.rint(matrix / size).astype(np.int8),
    )
    write_whole(file, buffer.getvalue())
    return len(rows)


def rows_name(file: Path) -> str:
    """The name of the vectors in a file: what the setting ``vectors`` of a method calls them."""
    return str(_read(file)[0]["name"])


def with_vector_rows(prepared: Prepared, file: Path, seed: int = 0) -> tuple[Prepared, str]:
    """The prepared corpus with the vectors of the file, and their name.

    Words without any vector get small random rows, as they do when a corpus is prepared.
    """
    about, rows, matrix = _read(file)
    if about["vocabulary"] != prepared.vocabulary.fingerprint:
        raise InputError(
            "these vectors were written for another vocabulary than that of the prepared corpus: "
            "write them again for this one",
            file=file,
        )
    before = prepared.vectors.shape[1] if about["beside"] else 0
    shape = (len(prepared.vocabulary), before + matrix.shape[1])
    vectors = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    vectors *= np.float32(RANDOM)
    found = np.zeros(shape[0], dtype=np.bool_)
    found[rows] = True
    if before:
        found |= prepared.found
        vectors[found] = 0
        vectors[prepared.found, :before] = prepared.vectors[prepared.found]
    vectors[rows, before:] = matrix
    vectors[PADDING] = 0
    return dataclasses.replace(prepared, vectors=vectors, found=found), about["name"]


def _read(file: Path) -> tuple[dict[str, Any], NDArray[np.int32], NDArray[np.float32]]:
    try:
        with np.load(file, allow_pickle=False) as stored:
            about = json.loads(stored["about"].tobytes())
            matrix = stored["matrix"].astype(np.float32) * stored["size"]  # (R, E)
            return about, stored["rows"], matrix
    except ARCHIVE_FAULTS as error:
        raise InputError(
            f"these are not vectors for a prepared corpus ({error}): `labelwise vectors "
            "--prepared` writes them",
            file=file,
        ) from error
