"""A sparse matrix by its rows, as the arrays of a bundle: in half precision, or whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.errors import BundleError
from labelwise.schema import FLOATS, array, places


def to_arrays(matrix: sp.csr_matrix) -> dict[str, NDArray[Any]]:
    """The three arrays of a matrix; fractions are halved.

    >>> arrays = to_arrays(sp.csr_matrix(np.array([[0, 0.5], [0, 0]], dtype=np.float32)))
    >>> from_arrays(arrays, (2, 2)).toarray().tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    small = np.uint16 if matrix.shape[1] <= 2**16 else np.int32
    data = matrix.data
    return {
        "data": data.astype(np.float16) if data.dtype.kind == "f" else data,
        "indices": matrix.indices.astype(small),
        "indptr": matrix.indptr.astype(np.int64),
    }


def from_arrays(
    arrays: Mapping[str, NDArray[Any]], shape: tuple[int, int], kinds: str = FLOATS
) -> sp.csr_matrix:
    """The matrix back from its arrays; fractions in float32."""
    data = array(arrays, "data", (None,), kinds)
    indices = places(arrays, "indices", shape[1], length=len(data))
    indptr = places(arrays, "indptr", len(data) + 1, length=shape[0] + 1)
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise BundleError("the array 'indptr' does not part the weights into rows")
    values = data.astype(np.float32) if data.dtype.kind == "f" else data
    return sp.csr_matrix((values, indices.astype(np.int32), indptr), shape=shape)


def parts_of(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with this one and a dot, without it."""
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)
    }


def named(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The other way round: each name with this one before it."""
    return {f"{name}.{key}": array for key, array in arrays.items()}
