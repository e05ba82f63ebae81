"""A trained network as one ONNX file that holds all it takes to tag a text: see docs/export.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

import labelwise
from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.files import write_whole
from labelwise.methods.base import Method
from labelwise.text.pieces import Pieces
from labelwise.text.tokenizer import PATTERN

if TYPE_CHECKING:
    from onnx import ModelProto

    from labelwise.export.graph import Graph
    from labelwise.methods.base_network import BaseNetworkMethod
    from labelwise.text.vocabulary import Vocabulary

OPSET, IR_VERSION = 17, 8
"""Of 2022: every runtime in use can read them."""
LARGEST = 2**31 - 1
"""Bytes that one ONNX file can hold."""


def write_onnx(method: Method, path: str | Path, *, int8: bool = False) -> int:
    """Write a trained network as an ONNX file, whole or not at all; the bytes written.

    With ``int8`` the word vectors and what belongs to a label are stored in 8 bits, and label-wise
    attention and a pretrained encoder multiply in 8 bits.
    """
    model = to_onnx(method, int8=int8)
    size: int = model.ByteSize()
    if size > LARGEST:
        raise LabelwiseError(
            f"the model would have {size / 1e9:.1f} GB, and an ONNX file holds 2: "
            + ("it has too many labels or words" if int8 else "export it with --int8")
        )
    path = Path(path)
    try:
        write_whole(path, model.SerializeToString(deterministic=True))
    except OSError as error:
        raise LabelwiseError(f"{path} cannot be written: {error.strerror}") from error
    return size


def to_onnx(method: Method, *, int8: bool = False) -> ModelProto:
    """A trained network as an ONNX model: ``tokens``, ``lengths`` (``counts``) to ``scores``."""
    check_exportable(method.name)
    from onnx import helper

    from labelwise.export.graph import Value
    from labelwise.export.networks import NETWORKS
    from labelwise.export.parts import Parts

    network = cast("BaseNetworkMethod", method)
    if network.calibration is not None:
        raise LabelwiseError(
            "an ONNX file holds no calibration: export the model as it was before `labelwise "
            "calibrate --on`"
        )
    parts = Parts(network, int8=int8)
    logits = NETWORKS[network.name](parts)
    if network.unseen is not None:
        logits = _placed(parts.graph, logits, network)
    parts.graph.add("Sigmoid", logits, output="scores")
    rows = "sections" if network.reading.by_section else "documents"
    inputs: list[Value] = [("tokens", "int64", [rows, "tokens"]), ("lengths", "int64", [rows])]
    if network.reading.by_section:
        inputs.append(("counts", "int64", ["documents"]))
    outputs: list[Value] = [("scores", "float32", ["documents", len(network.label_space)])]
    model = helper.make_model(
        parts.graph.proto(network.name, inputs, outputs),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="labelwise",
        producer_version=labelwise.__version__,
    )
    helper.set_model_props(model, about(network))
    return model


def _placed(graph: Graph, logits: str, network: BaseNetworkMethod) -> str:
    """The logits with those of unseen labels on the scale of the others."""
    assert network.unseen is not None
    unseen = network.label_space.counts == 0
    slope = np.where(unseen, network.unseen.slope, 1).astype(np.float32)
    offset = np.where(unseen, network.unseen.offset, 0).astype(np.float32)
    steeper = graph.add("Mul", logits, graph.constant(slope))
    return graph.add("Add", steeper, graph.constant(offset))


def check_exportable(name: str) -> None:
    """Raise an error for a method that cannot be exported; it says which can."""
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("exporting to ONNX", "onnx") from error
    from labelwise.export.networks import NETWORKS

    if name not in NETWORKS:
        raise LabelwiseError(
            f"{name} cannot be exported to ONNX: only single networks can, which read words as "
            f"numbers; these are {', '.join(NETWORKS)}"
        )


def about(network: BaseNetworkMethod) -> dict[str, str]:
    """What is needed besides the weights, as text: labels, words, how to cut a text, limits."""
    reading = network.reading
    limits = {"max_tokens": reading.max_tokens}
    if reading.by_section:
        limits |= {
            "section_tokens": reading.section_tokens,
            "max_sections": reading.max_sections,
        }
    labels = [[label.id, label.descriptor] for label in network.label_space.labels]
    return {
        "method": network.name,
        "threshold": repr(float(network.threshold)),
        **{name: str(limit) for name, limit in limits.items()},
        "labels": json.dumps(labels),
        **_cutting(network.vocabulary),
    }


def _cutting(vocabulary: Vocabulary | Pieces) -> dict[str, str]:
    """How a text becomes tokens, and these become numbers."""
    if isinstance(vocabulary, Pieces):
        # Some tokenizers cut a text off by themselves, or fill it up; ours never do.
        tokenizer = json.loads(vocabulary.written) | {"truncation": None, "padding": None}
        return {"tokenizer": json.dumps(tokenizer, ensure_ascii=False)}
    return {"words": json.dumps(vocabulary.words), "token_pattern": PATTERN.pattern}
