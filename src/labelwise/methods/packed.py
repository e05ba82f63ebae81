"""A sparse matrix in few bytes: the gaps between its entries and a code for each value, deflated.

Entries are counted along the rows, one row after another, so that a gap says both row and column
and no row needs a beginning of its own. A gap is a byte, after as many bytes of 255 as it is 255s
longer. A value is one of at most 256 levels, a byte as well. Deflating spends fewer bits on the
gaps and levels that are frequent, and is undone at hundreds of megabytes a second.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.errors import BundleError, LabelwiseError
from labelwise.schema import FLOATS, array

LONG = 255
"""A byte that says: the gap goes on."""


def levels_of(values: NDArray[np.float32], step: float) -> NDArray[np.float32]:
    """Levels for these values, each ``step`` times the one before it, on both sides of zero.

    Rounding to the nearest moves a value by at most about half of ``step`` - 1 of itself.

    >>> levels_of(np.array([-0.5, 0.125, 0.3], dtype=np.float32), 2.0).tolist()
    [-0.5, -0.25, -0.125, 0.125, 0.25, 0.5]
    """
    sizes = np.abs(values[values != 0]).astype(np.float64)
    if not len(sizes):
        return np.zeros(0, dtype=np.float32)
    low, high = float(sizes.min()), float(sizes.max())
    count = int(np.ceil(np.log(high / low) / np.log(step))) + 1
    if 2 * count > 256:
        raise LabelwiseError(
            f"a step of {step:g} needs {2 * count} levels from {low:.2g} to {high:.2g}, and a byte "
            "has 256: take a larger step"
        )
    above = low * step ** np.arange(count)
    return np.concatenate([-above[::-1], above]).astype(np.float32)


def rounded(matrix: sp.csr_matrix, levels: NDArray[np.float32]) -> sp.csr_matrix:
    """The matrix with each value replaced by the nearest level."""
    made = matrix.copy()
    made.data = levels[_codes(matrix.data, levels)]
    return made


def pack(matrix: sp.csr_matrix, levels: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    """The arrays of a matrix whose values are levels.

    >>> matrix = sp.csr_matrix(np.array([[0, 0.5, 0], [0, 0, 0], [0, 0, -0.5]], dtype=np.float32))
    >>> arrays = pack(matrix, np.array([-0.5, 0.5], dtype=np.float32))
    >>> unpack(arrays, matrix.shape).toarray().tolist()
    [[0.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -0.5]]
    """
    matrix = matrix.sorted_indices()
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    gaps = np.diff(rows * matrix.shape[1] + matrix.indices, prepend=-1) - 1
    long, rest = np.divmod(gaps, LONG)
    steps = np.full(len(gaps) + int(long.sum()), LONG, dtype=np.uint8)
    steps[np.cumsum(long + 1) - 1] = rest
    return {
        "gaps": _deflated(steps),
        "codes": _deflated(_codes(matrix.data, levels)),
        "levels": levels,
    }


def unpack(arrays: Mapping[str, NDArray[Any]], shape: tuple[int, int]) -> sp.csr_matrix:
    """The matrix back from its arrays, in float32."""
    levels = array(arrays, "levels", (None,), FLOATS)
    steps, codes = _inflated(arrays, "gaps"), _inflated(arrays, "codes")
    # Where each entry stands along the rows: all steps up to it, and the entries before it.
    place = np.cumsum(steps, dtype=np.int64)[steps < LONG]
    if len(place) != len(codes):
        raise BundleError(f"{len(place):,} places for {len(codes):,} weights: train it again")
    place += np.arange(len(place))
    if len(place) and (codes.max() >= len(levels) or place[-1] >= shape[0] * shape[1]):
        raise BundleError(f"the weights are not those of {shape[0]:,} × {shape[1]:,} places")
    indptr = np.searchsorted(place, np.arange(shape[0] + 1, dtype=np.int64) * shape[1])
    place -= np.repeat(np.arange(shape[0], dtype=np.int64) * shape[1], np.diff(indptr))
    return sp.csr_matrix((levels[codes], place.astype(np.int32), indptr), shape=shape)


def _codes(values: NDArray[np.float32], levels: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The number of the nearest level of each value."""
    between = (levels[1:] + levels[:-1]) / 2
    return np.searchsorted(between, values).astype(np.uint8)


def _deflated(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # Huffman codes alone: in numbers as random as these, looking for repeats finds none.
    packer = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)
    return np.frombuffer(packer.compress(data.tobytes()) + packer.flush(), dtype=np.uint8)


def _inflated(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.uint8]:
    data = array(arrays, name, (None,), "u")
    try:
        return np.frombuffer(zlib.decompress(data.tobytes()), dtype=np.uint8)
    except zlib.error as error:
        raise BundleError(f"the array '{name}' cannot be inflated: {error}") from error
