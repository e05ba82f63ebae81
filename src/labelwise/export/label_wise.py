"""Label-wise attention as ONNX nodes, without ever holding its weights whole.

A Scan over the rows, and within it a Scan over blocks of labels: memory grows with neither. A row
is cut to its length first, so that there is no padding to mask.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelwise.export.eight_bits import in_7_bits, in_8_bits, product
from labelwise.export.graph import Graph, Value

BLOCK = 512
"""Labels scored at once: this × the tokens of one row are held, which stay in a CPU's cache."""

Floats = NDArray[np.float32]


def label_wise(
    graph: Graph,
    read: tuple[str, str],
    lengths: str,
    of_labels: tuple[Floats, Floats],
    *,
    int8: bool,
) -> str:
    """Σ_t a_lt (v_t · o_l), where a_l is the softmax of h_t · q_l over a row's tokens: (S, L).

    ``read`` are h and v, (S, T, any); ``of_labels`` are the queries and the outputs, (L, any).
    """
    queries, outputs = of_labels
    labels = len(queries)
    blocks = -(-labels // BLOCK)
    size = -(-labels // blocks)

    def stored(array: Floats) -> list[Value]:
        """In blocks, the last of them filled up with zeros: the weights and, in 8 bits, scales."""
        width = array.shape[1]
        padding = ((0, blocks * size - labels), (0, 0))
        block = np.pad(array, padding).reshape(blocks, size, width)
        if not int8:
            return [(graph.weight(block), "float32", [size, width])]
        small, scale = in_8_bits(block)
        shifted = (small.astype(np.int16) + 128).astype(np.uint8)
        return [
            (graph.constant(shifted), "uint8", [size, width]),
            (graph.constant(scale[..., None]), "float32", [size, 1]),
        ]

    of_queries = stored(queries)
    of_outputs = of_queries if outputs is queries else stored(outputs)

    def of_row(row: Graph, entries: list[str]) -> str:
        *tokens, length = entries
        end = row.add("Unsqueeze", length, row.whole(0))
        cut = [row.add("Slice", x, row.whole(0), end, row.whole(0)) for x in tokens]
        turned = [row.add("Transpose", x, perm=[1, 0]) for x in cut]  # (any, T)
        if int8:
            pairs = [in_7_bits(row, x) for x in turned]

            def of_block(block: Graph, entries: list[str]) -> str:
                q, q_scale, o, o_scale = entries
                (h, h_scale), (v, v_scale) = pairs[0], pairs[-1]
                scores = block.add("Mul", product(block, q, h), block.add("Mul", q_scale, h_scale))
                sums = _attend(block, scores, product(block, o, v))
                return block.add("Mul", sums, block.add("Mul", o_scale, v_scale))
        else:

            def of_block(block: Graph, entries: list[str]) -> str:
                q, o = entries
                scores = block.add("MatMul", q, turned[0])
                return _attend(block, scores, block.add("MatMul", o, turned[-1]))

        sums = row.scan(of_block, [*of_queries, *of_outputs], [size, 1])  # (blocks, size, 1)
        return row.add(
            "Slice", row.add("Reshape", sums, row.whole(-1)), row.whole(0), row.whole(labels)
        )

    rows: list[Value] = [
        (x, "float32", ["tokens", array.shape[1]]) for x, array in zip(read, of_labels, strict=True)
    ]
    distinct = rows[:1] if read[0] == read[1] else rows
    return graph.scan(of_row, [*distinct, (lengths, "int64", [])], [labels])


def _attend(block: Graph, scores: str, values: str) -> str:
    """Σ_t of softmax(scores) × values, both (labels, T): (labels, 1)."""
    a = block.add("Softmax", scores, axis=-1)
    return block.add("ReduceSum", block.add("Mul", a, values), block.whole(1))
