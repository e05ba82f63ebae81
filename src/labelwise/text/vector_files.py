"""Files of word vectors: one written, two joined."""

from __future__ import annotations

import gzip
import io
import lzma
from pathlib import Path

import numpy as np

from labelwise.files import write_whole
from labelwise.text.vectors import Vectors


def write_vectors(path: str | Path, vectors: Vectors) -> None:
    """Write word2vec's text format, compressed where the name ends in .gz or .xz.

    Four decimals, as GloVe's files have: no network notices the rest.
    """
    path = Path(path)
    buffer = io.StringIO()
    buffer.write(f"{len(vectors)} {vectors.dim}\n")
    for word, row in zip(vectors.words, vectors.matrix.tolist(), strict=True):
        buffer.write(f"{word} {' '.join([f'{value:.4f}' for value in row])}\n")
    content = buffer.getvalue().encode()
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    elif path.suffix == ".xz":
        content = lzma.compress(content, preset=1)  # digits: more effort saves a few percent
    write_whole(path, content)


def join_vectors(first: Vectors, second: Vectors) -> Vectors:
    """Two vectors side by side for each word of either; zeros where one has none.

    >>> sea = Vectors(("sea", "fish"), np.array([[1.0], [2.0]], np.float32))
    >>> law = Vectors(("fish", "quota"), np.array([[5.0, 6.0], [7.0, 8.0]], np.float32))
    >>> both = join_vectors(sea, law)
    >>> both.words, both.matrix.tolist()
    (('sea', 'fish', 'quota'), [[1.0, 0.0, 0.0], [2.0, 5.0, 6.0], [0.0, 7.0, 8.0]])
    """
    words = tuple(dict.fromkeys((*first.words, *second.words)))
    matrix = np.zeros((len(words), first.dim + second.dim), dtype=np.float32)
    index = {word: row for row, word in enumerate(words)}
    matrix[[index[word] for word in first.words], : first.dim] = first.matrix
    matrix[[index[word] for word in second.words], first.dim :] = second.matrix
    return Vectors(words, matrix)
