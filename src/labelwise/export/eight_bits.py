"""Numbers in 8 bits: a quarter of the memory, and products that run twice as fast or more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelwise.export.graph import TYPES, Graph

LOWEST_SCALE = 1e-30
"""The scale of a row of zeros, which divides by it."""


def in_8_bits(
    x: NDArray[np.float32], most: int = 127
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """An array (..., rows, n) as whole numbers up to ``most``, and what to multiply a row by.

    >>> small, scale = in_8_bits(np.array([[31.9, -63.5], [0.0, 0.0]], np.float32))
    >>> small.tolist(), scale.round(3).tolist()
    ([[64, -127], [0, 0]], [0.5, 0.0])
    """
    scale = np.maximum(np.abs(x).max(-1) / most, LOWEST_SCALE).astype(np.float32)
    return np.round(x / scale[..., None]).astype(np.int8), scale


def in_7_bits(graph: Graph, x: str) -> tuple[str, str]:
    """The same as nodes for a whole array, as int8 from -63 to 63, with its scale.

    Where a processor has no instruction for it, pairs of products with an unsigned byte are summed
    in 16 bits: 2 × 255 × 63 still fits, 2 × 255 × 127 would be cut off.
    """
    largest = graph.add("ReduceMax", graph.add("Abs", x), keepdims=0)
    scale = graph.add("Div", largest, graph.constant(np.float32(63)))
    scale = graph.add("Max", scale, graph.constant(np.float32(LOWEST_SCALE)))
    return graph.add("QuantizeLinear", x, scale, graph.constant(np.int8(0))), scale


def rows_in_8_bits(graph: Graph, x: str) -> tuple[str, str]:
    """(..., n) as unsigned bytes, shifted up by 128, and the scale of each row (..., 1).

    What it is multiplied with has to have 7 bits, for the reason above.
    """
    largest = graph.add("ReduceMax", graph.add("Abs", x), axes=[-1], keepdims=1)
    scale = graph.add("Div", largest, graph.constant(np.float32(127)))
    scale = graph.add("Max", scale, graph.constant(np.float32(LOWEST_SCALE)))
    whole = graph.add("Div", x, scale)
    one, shift = graph.constant(np.float32(1)), graph.constant(np.uint8(128))
    return graph.add("QuantizeLinear", whole, one, shift), scale


def product(graph: Graph, shifted: str, small: str) -> str:
    """A matrix of unsigned bytes, shifted up by 128, times one of signed bytes, in float32."""
    whole = graph.add("MatMulInteger", shifted, small, graph.constant(np.uint8(128)))
    return graph.add("Cast", whole, to=TYPES["float32"])
