"""A small writer of ONNX graphs: nodes that name their outputs, constants, and Scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

TYPES = {
    "float32": TensorProto.FLOAT,
    "int8": TensorProto.INT8,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
}

SMALL = 8
"""Entries up to which it is worth looking whether a constant is there already."""

Value = tuple[str, str, Sequence[int | str]]
"""A name, a type, and the shape: numbers where they are fixed, words where they are not."""


@dataclass
class Graph:
    """A graph that grows node by node. A body of Scan shares the names and constants of its parent.

    >>> graph = Graph()
    >>> doubled = graph.add("Mul", "x", graph.constant(np.float32(2)))
    >>> [node.op_type for node in graph.nodes], doubled
    (['Mul'], 'Mul_1')
    """

    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    known: dict[tuple[Any, ...] | None, str] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=count)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """One node more; the name of its output, which it finds itself unless it is given."""
        name = output or self.name(operator)
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def name(self, stem: str) -> str:
        return f"{stem}_{next(self.numbers)}"

    def constant(self, value: Any) -> str:
        """An array as it is; equal small ones are stored once."""
        array = np.asarray(value, order="C")
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= SMALL else None
        if key in self.known:
            return self.known[key]
        name = self.name("constant")
        self.constants.append(numpy_helper.from_array(array, name))
        if key is not None:
            self.known[key] = name
        return name

    def whole(self, *numbers: int) -> str:
        """A list of whole numbers, as shapes and axes are given."""
        return self.constant(np.array(numbers, np.int64))

    def weight(self, array: NDArray[np.float32]) -> str:
        """A float32 array, stored in half precision where that loses nothing.

        A runtime widens it once, when it loads the model.
        """
        array = np.asarray(array, np.float32)
        with np.errstate(over="ignore"):
            half = array.astype(np.float16)
        if not np.array_equal(half.astype(np.float32), array):
            return self.constant(array)
        return self.add("Cast", self.constant(half), to=TYPES["float32"])

    def scan(
        self,
        body: Callable[[Graph, list[str]], str],
        inputs: Sequence[Value],
        shape: Sequence[int | str],
    ) -> str:
        """Run the body on the first entries of all inputs, on the second ones, and so on.

        The inputs have the types and shapes of an entry. The body's results, float32 of the given
        shape, are stacked.
        """
        inner = Graph([], self.constants, self.known, self.numbers)
        entries = [(self.name("entry"), type, shape) for _, type, shape in inputs]
        result = body(inner, [name for name, _, _ in entries])
        graph = inner.proto("body", entries, [(result, "float32", shape)], with_constants=False)
        names = [name for name, _, _ in inputs]
        return self.add("Scan", *names, body=graph, num_scan_inputs=len(names))

    def proto(
        self,
        name: str,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        *,
        with_constants: bool = True,
    ) -> GraphProto:
        constants = self.constants if with_constants else []
        return helper.make_graph(
            self.nodes, name, [_info(x) for x in inputs], [_info(x) for x in outputs], constants
        )


def _info(value: Value) -> ValueInfoProto:
    name, type, shape = value
    return helper.make_tensor_value_info(name, TYPES[type], shape)
