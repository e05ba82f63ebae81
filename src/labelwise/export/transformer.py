"""A pretrained encoder as ONNX nodes: what stands in ``labelwise.layers.transformer``, once more.

A Scan over the documents: each is cut to its length and into its pieces there, so that memory does
not grow with their number. Shapes: K pieces of up to P tokens, with those that open and close them,
of which only the last piece may be padded; M tokens that label-wise attention reads.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from labelwise.export.eight_bits import in_8_bits, product, rows_in_8_bits
from labelwise.export.graph import Graph, Value
from labelwise.export.parts import Parts
from labelwise.methods.encoder import EncoderMethod

SEVEN_BITS = 63
"""The largest number that a weight of the encoder becomes; ``eight_bits`` says why."""


class Transformer:
    """Nodes made from the arrays of a trained encoder."""

    def __init__(self, parts: Parts) -> None:
        method = cast(EncoderMethod, parts.method)
        self.parts, self.graph = parts, parts.graph
        self.network, self.reading = method.network, method.reading
        self.shape = self.network.encoder.shape

    def encoded(self) -> tuple[str, str]:
        """The tokens of all pieces (D, M, H), without those that open and close them, and how many
        each document has (D,): those of an overlap count twice."""
        g, parts, reading = self.graph, self.parts, self.reading
        piece, stride = (g.constant(np.int64(n)) for n in (reading.piece_tokens, reading.stride))
        zero, one = (g.constant(np.int64(n)) for n in (0, 1))
        more = g.add("Max", g.add("Sub", parts.lengths, piece), zero)  # what the first piece leaves
        rounding_up = g.add("Add", more, g.constant(np.int64(reading.stride - 1)))
        others = g.add("Div", rounding_up, stride)  # (D,) pieces after the first
        again = g.constant(np.int64(reading.piece_tokens - reading.stride))
        read = g.add("Add", parts.lengths, g.add("Mul", others, again))
        longest = g.add("ReduceMax", read, keepdims=0)

        # The vectors that open and close a piece stand before those of the text.
        special = g.weight(parts.arrays["words.weight"][list(self.network.special)])
        positions = g.weight(parts.arrays["encoder.positions"])
        by_distance = self._by_distance()

        def of_document(d: Graph, entries: list[str]) -> str:
            x, length, others, read = entries
            columns = d.add("Add", d.add("Min", length, piece), g.constant(np.int64(2)))
            at = d.add("Range", zero, columns, one)  # (P,)
            rows = d.add("Range", zero, d.add("Add", others, one), one)
            starts = d.add("Unsqueeze", d.add("Mul", rows, stride), g.whole(1))  # (K, 1)
            own = d.add("Min", d.add("Sub", length, starts), piece)  # (K, 1) tokens of each piece
            is_token = d.add("And", d.add("Greater", at, zero), d.add("LessOrEqual", at, own))
            # The text's first token stands in the third row, and in the second column.
            inside = d.add("Add", d.add("Add", starts, at), one)
            index = d.add("Where", is_token, inside, d.add("Min", at, one))  # (K, P)
            x = d.add("Gather", d.add("Concat", special, x, axis=0), index)
            x = d.add("Add", x, d.add("Gather", positions, at))
            x = self._normed(d, "encoder.norm", x)  # (K, P, H)

            is_there = d.add("LessOrEqual", at, d.add("Add", own, one))
            nothing, never = g.constant(np.float32(0)), g.constant(np.float32(-np.inf))
            mask = d.add("Where", is_there, nothing, never)
            mask = d.add("Unsqueeze", mask, g.whole(1, 2))  # (K, 1, 1, P)
            if by_distance is not None:
                near = d.add("Gather", d.add("Gather", by_distance, at, axis=1), at, axis=2)
                mask = d.add("Add", mask, near)  # (K, heads, P, P)
            for layer in range(self.shape.layers):
                x = self._layer(d, f"encoder.layers.{layer}", x, mask)

            flat = d.add("Reshape", x, g.whole(-1, self.shape.width))
            kept = d.add("Compress", flat, d.add("Reshape", is_token, g.whole(-1)), axis=0)
            missing = d.add("Unsqueeze", d.add("Sub", longest, read), g.whole(0))
            return d.add("Pad", kept, d.add("Concat", g.whole(0, 0), missing, g.whole(0), axis=0))

        width = self.shape.width
        inputs: list[Value] = [
            (parts.words(), "float32", ["tokens", width]),
            *((one, "int64", []) for one in (parts.lengths, others, read)),
        ]
        return g.scan(of_document, inputs, ["read", width]), read

    def _by_distance(self) -> str | None:
        """What MPNet adds for the distance of two tokens: (heads, P, P) for the longest piece."""
        table = self.network.encoder.by_distance()  # (heads, 2 reach + 1)
        if table is None:
            return None
        g, reach = self.graph, table.shape[1] // 2
        most = g.add("ReduceMax", self.parts.lengths, keepdims=0)
        most = g.add("Min", most, g.constant(np.int64(self.reading.piece_tokens)))
        most = g.add("Add", most, g.constant(np.int64(2)))
        at = g.add("Range", g.constant(np.int64(0)), most, g.constant(np.int64(1)))
        distance = g.add("Sub", at, g.add("Unsqueeze", at, g.whole(1)))  # from row to column
        distance = g.add("Max", distance, g.constant(np.int64(-reach)))
        distance = g.add("Min", distance, g.constant(np.int64(reach)))
        index = g.add("Add", distance, g.constant(np.int64(reach)))
        return g.add("Gather", g.weight(table.detach().cpu().numpy()), index, axis=1)

    def _layer(self, d: Graph, name: str, x: str, mask: str) -> str:
        """Attention and a wide product, each added to what came in, and normed: (K, P, H)."""
        g, heads = self.graph, self.shape.heads
        width = self.shape.width // heads
        qkv = self._linear(d, f"{name}.read", x)
        qkv = d.add("Reshape", qkv, g.whole(0, 0, 3, heads, width))
        qkv = d.add("Transpose", qkv, perm=[2, 0, 3, 1, 4])  # (3, K, heads, P, width)
        q, k, v = (d.add("Gather", qkv, g.constant(np.int64(n)), axis=0) for n in range(3))
        q = d.add("Mul", q, g.constant(np.float32(1 / math.sqrt(width))))
        scores = d.add("MatMul", q, d.add("Transpose", k, perm=[0, 1, 3, 2]))
        a = d.add("Softmax", d.add("Add", scores, mask), axis=-1)
        a = d.add("Transpose", d.add("MatMul", a, v), perm=[0, 2, 1, 3])
        a = d.add("Reshape", a, g.whole(0, 0, self.shape.width))
        x = d.add("Add", x, self._linear(d, f"{name}.together", a))
        x = self._normed(d, f"{name}.norm_between", x)
        y = _gelu(d, self._linear(d, f"{name}.widen", x))
        x = d.add("Add", x, self._linear(d, f"{name}.narrow", y))
        return self._normed(d, f"{name}.norm", x)

    def _linear(self, d: Graph, name: str, x: str) -> str:
        """(..., in) to (..., out); in 8 bits, a token and an output each have a scale."""
        g, arrays = self.graph, self.parts.arrays
        weight, bias = arrays[f"{name}.weight"], g.weight(arrays[f"{name}.bias"])
        if not self.parts.int8:
            return d.add("Add", d.add("MatMul", x, g.weight(weight.T)), bias)
        small, scales = in_8_bits(weight, SEVEN_BITS)
        shifted, own = rows_in_8_bits(d, x)
        found = d.add("Mul", product(d, shifted, g.constant(small.T)), own)
        return d.add("Add", d.add("Mul", found, g.constant(scales)), bias)

    def _normed(self, d: Graph, name: str, x: str) -> str:
        g, arrays = self.graph, self.parts.arrays
        weight, bias = (g.weight(arrays[f"{name}.{what}"]) for what in ("weight", "bias"))
        return d.add("LayerNormalization", x, weight, bias, epsilon=self.shape.epsilon)


def _gelu(d: Graph, x: str) -> str:
    """x Φ(x), in the operators that every opset has."""
    e = d.add("Erf", d.add("Div", x, d.constant(np.float32(math.sqrt(2)))))
    e = d.add("Add", e, d.constant(np.float32(1)))
    return d.add("Mul", d.add("Mul", x, e), d.constant(np.float32(0.5)))
