"""The parts of the networks as ONNX nodes: what stands in ``labelwise.layers``, once more.

Shapes as there: D documents, S rows (sections, or whole documents), T tokens, K sections of the
longest document, E width of a word vector, H width of an encoded token, L labels.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from labelwise.export.eight_bits import in_8_bits
from labelwise.export.graph import TYPES, Graph
from labelwise.export.label_wise import label_wise
from labelwise.methods.base_network import BaseNetworkMethod
from labelwise.methods.network import NetworkSettings
from labelwise.methods.saved_weights import widened

Floats = NDArray[np.float32]


class Parts:
    """Nodes made from the arrays of a trained network, by the names they have in its state.

    The inputs are ``tokens`` (S, T) and ``lengths`` (S,) and, for networks that read section by
    section, ``counts`` (D,): how many of the rows, which follow each other, are a document's.
    What stands behind a row's length is not read, and a row of length 0 is one unknown word.
    """

    def __init__(self, method: BaseNetworkMethod, *, int8: bool) -> None:
        self.method, self.int8 = method, int8
        # Of a bundle in 8 bits, what its bytes stand for.
        weights = widened(method.state().arrays)
        self.arrays: Mapping[str, Floats] = {name: x.numpy() for name, x in weights.items()}
        settings = method.settings
        self.scale_by_length = isinstance(settings, NetworkSettings) and settings.scale_by_length
        self.graph = g = Graph()
        given = self.is_real("lengths", g.add("Shape", "tokens", start=1, end=2))
        self.tokens = g.add("Where", given, "tokens", g.constant(np.int64(method.reading.unknown)))
        self.lengths = g.add("Max", "lengths", g.constant(np.int64(1)))

    def is_real(self, lengths: str, longest: str) -> str:
        """True where a row still has a token: (rows,) and (1,) to (rows, longest)."""
        g = self.graph
        last = g.add("Squeeze", longest)
        within = g.add("Range", g.constant(np.int64(0)), last, g.constant(np.int64(1)))
        return g.add("Less", within, g.add("Unsqueeze", lengths, g.whole(1)))

    def words(self) -> str:
        """The vector of each word: (S, T, E)."""
        g, vectors = self.graph, self.arrays["words.weight"]
        if not self.int8:
            return g.add("Gather", g.weight(vectors), self.tokens)
        small, scales = in_8_bits(vectors)
        x = g.add("Gather", g.constant(small), self.tokens)
        scale = g.add("Gather", g.constant(scales[:, None]), self.tokens)
        return g.add("Mul", g.add("Cast", x, to=TYPES["float32"]), scale)

    def bigru(self, name: str, x: str, lengths: str) -> str:
        """(S, T, E) and (S,) to (S, T, 2 units), each row at its own length in both directions."""
        g = self.graph
        lengths = g.add("Cast", lengths, to=TYPES["int32"])
        x = g.add("Transpose", x, perm=[1, 0, 2])  # (T, S, E), as the operator wants it
        layer = 0
        while f"{name}.layers.{layer}.weight_ih_l0" in self.arrays:
            weights = self._directions(f"{name}.layers.{layer}.weight_ih_l0")  # (2, 3 units, E)
            recurrent = self._directions(f"{name}.layers.{layer}.weight_hh_l0")
            biases = [
                self._directions(f"{name}.layers.{layer}.bias_{of}_l0") for of in ("ih", "hh")
            ]
            h = g.add(
                "GRU",
                x,
                g.weight(weights),
                g.weight(recurrent),
                g.weight(np.concatenate(biases, axis=1)),
                lengths,
                direction="bidirectional",
                hidden_size=recurrent.shape[2],
                linear_before_reset=1,  # the reset gate acts on the product, as in PyTorch
            )  # (T, 2, S, units)
            h = g.add("Transpose", h, perm=[0, 2, 1, 3])
            x = g.add("Reshape", h, g.whole(0, 0, -1))
            layer += 1
        return g.add("Transpose", x, perm=[1, 0, 2])

    def _directions(self, name: str) -> Floats:
        """Both directions, and the gates in the operator's order: update, reset, new."""
        both = np.stack([self.arrays[name], self.arrays[f"{name}_reverse"]])
        reset, update, new = np.split(both, 3, axis=1)
        return np.concatenate([update, reset, new], axis=1)

    def cnn(self, name: str, x: str) -> str:
        """(S, T, E) to (S, T, filters); beyond either end of a row stand zeros."""
        g = self.graph
        real = self._real_columns()
        x = g.add("Transpose", x, perm=[0, 2, 1])  # (S, E, T)
        layer = 0
        while (weight := f"{name}.layers.{layer}.weight") in self.arrays:
            kernel = self.arrays[weight].shape[2]
            before = (kernel - 1) // 2
            x = g.add(
                "Conv",
                g.add("Mul", x, real),
                g.weight(self.arrays[weight]),
                g.weight(self.arrays[f"{name}.layers.{layer}.bias"]),
                pads=[before, kernel - 1 - before],
            )
            x = g.add("Tanh", x)
            layer += 1
        return g.add("Transpose", x, perm=[0, 2, 1])

    def dilated_cnn(self, name: str, x: str) -> str:
        """(S, T, E) to (S, T, filters), block by block; beyond either end of a row stand zeros."""
        g = self.graph
        real = self._real_columns()
        x = g.add("Transpose", self.linear(f"{name}.project", x), perm=[0, 2, 1])  # (S, H, T)
        block = 0
        while (layer := f"{name}.blocks.{block}.convolve") + ".weight" in self.arrays:
            width = len(self.arrays[f"{layer}.bias"]) // 2
            weight = self.arrays[f"{layer}.weight"].reshape(2 * width, -1, width)
            weight = weight.transpose(0, 2, 1)  # outputs × inputs × words, as the operator wants it
            kernel, dilation = weight.shape[2], 2**block
            before = (kernel - 1) // 2 * dilation
            pads = [before, (kernel - 1) * dilation - before]
            masked = g.add("Mul", x, real)
            a, b = (
                g.add(
                    "Conv",
                    masked,
                    g.weight(weight[part]),
                    g.weight(self.arrays[f"{layer}.bias"][part]),
                    pads=pads,
                    dilations=[dilation],
                )
                for part in (slice(width), slice(width, None))
            )
            x = g.add("Add", x, g.add("Mul", g.add("Tanh", a), g.add("Sigmoid", b)))
            block += 1
        return g.add("Transpose", x, perm=[0, 2, 1])

    def _real_columns(self) -> str:
        """1 where a row still has a token, else 0: (S, 1, T)."""
        g = self.graph
        real = self.is_real(self.lengths, g.add("Shape", self.tokens, start=1, end=2))
        return g.add("Cast", g.add("Unsqueeze", real, g.whole(1)), to=TYPES["float32"])

    def self_attention(self, name: str, h: str, lengths: str) -> str:
        """One attention a row: (rows, T, H) and (rows,) to (rows, H)."""
        g = self.graph
        hidden = h
        if f"{name}.hidden.weight" in self.arrays:
            hidden = g.add("Tanh", self.linear(f"{name}.hidden", h))
        scores = g.add("MatMul", hidden, g.weight(self.arrays[f"{name}.query"][:, None]))
        scores = g.add("Squeeze", scores, g.whole(2))  # (rows, T)
        real = self.is_real(lengths, g.add("Shape", h, start=1, end=2))
        scores = g.add("Where", real, scores, g.constant(np.float32(-np.inf)))
        a = g.add("Unsqueeze", g.add("Softmax", scores, axis=1), g.whole(1))
        d = g.add("Squeeze", g.add("MatMul", a, h), g.whole(1))
        return self.scaled(d, lengths)

    def scaled(self, x: str, lengths: str) -> str:
        """Divided by the length where the setting asks for it: (rows, any) and (rows,)."""
        if not self.scale_by_length:
            return x
        g = self.graph
        length = g.add("Cast", lengths, to=TYPES["float32"])
        return g.add("Div", x, g.add("Unsqueeze", length, g.whole(1)))

    def linear(self, name: str, x: str) -> str:
        """(..., H) to (..., units)."""
        g = self.graph
        product = g.add("MatMul", x, self.transposed(self.arrays[f"{name}.weight"]))
        if f"{name}.bias" not in self.arrays:
            return product
        return g.add("Add", product, g.weight(self.arrays[f"{name}.bias"]))

    def transposed(self, weight: Floats) -> str:
        """A matrix turned around; in 8 bits it is widened once, when the model is loaded."""
        g = self.graph
        if not self.int8:
            return g.weight(weight.T)
        small, scales = in_8_bits(weight)
        wide = g.add("Cast", g.constant(small.T), to=TYPES["float32"])
        return g.add("Mul", wide, g.constant(scales))

    def label_wise(
        self, h: str, queries: Floats, outputs: Floats, bias: Floats, values: str | None = None
    ) -> str:
        """Each label reads each row with attention of its own: (S, T, H) to (S, L)."""
        g = self.graph
        sums = label_wise(g, (h, values or h), self.lengths, (queries, outputs), int8=self.int8)
        return g.add("Add", self.scaled(sums, self.lengths), g.weight(bias))

    def starts(self) -> str:
        """The first row of each document: (D,)."""
        return self.graph.add("CumSum", "counts", self.graph.constant(np.int64(0)), exclusive=1)

    def pad_sections(self, sections: str) -> str:
        """The rows of each document beside each other: (S, H) to (D, K, H)."""
        g = self.graph
        longest = g.add("ReduceMax", "counts", keepdims=0)
        within = g.add("Range", g.constant(np.int64(0)), longest, g.constant(np.int64(1)))
        rows = g.add("Add", g.add("Unsqueeze", self.starts(), g.whole(1)), within)  # (D, K)
        # Behind a document's last row stands any other: nothing reads there.
        last = g.add("Sub", g.add("Shape", self.tokens, start=0, end=1), g.whole(1))
        return g.add("Gather", sections, g.add("Min", rows, last))

    def max_over_sections(self, logits: str) -> str:
        """The highest logit of each label among a document's own rows: (S, L) to (D, L)."""
        g = self.graph
        starts = self.starts()

        def highest(inner: Graph, entries: list[str]) -> str:
            start, end = (inner.add("Unsqueeze", x, g.whole(0)) for x in entries)
            own = inner.add("Slice", logits, start, end, g.whole(0))
            return inner.add("ReduceMax", own, axes=[0], keepdims=0)

        ends = g.add("Add", starts, "counts")
        return g.scan(highest, [(starts, "int64", []), (ends, "int64", [])], ["labels"])
