"""Whether an exported model scores as the method does that it was made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document, Section
from labelwise.errors import MissingExtraError
from labelwise.methods.base import Scores
from labelwise.methods.base_network import BaseNetworkMethod
from labelwise.text.flat_tokens import FlatTokens
from labelwise.text.pieces import Pieces
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.vocabulary import Vocabulary
from labelwise.training.numbered import Numbered, number

Inputs = Mapping[str, NDArray[np.int64]]
"""``tokens``, ``lengths`` and, where sections are read apart, ``counts``."""


def onnx_inputs(method: BaseNetworkMethod, documents: Sequence[Document]) -> Inputs:
    """Documents as the exported model reads them: padded rows of numbers and their lengths."""
    # The exported model cuts a document into pieces by itself.
    rows = number(_flat(method, documents), replace(method.reading, piece_tokens=0))
    given = {"tokens": _padded(rows), "lengths": rows.lengths}
    return given | ({"counts": np.diff(rows.first)} if method.reading.by_section else {})


def _flat(method: BaseNetworkMethod, documents: Sequence[Document]) -> FlatTokens:
    vocabulary = method.vocabulary
    if isinstance(vocabulary, Pieces):
        return vocabulary.corpus(documents, method.reading.max_tokens)
    corpus = tokenize_corpus(documents, jobs=1)
    return corpus.renumbered(vocabulary.numbers(corpus))


def open_onnx(path: str | Path, *, threads: int = 0) -> Callable[[Inputs], Scores]:
    """An exported model under onnxruntime, with as many threads as it likes unless told."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("running an exported model", "onnx") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])

    def scores(inputs: Inputs) -> Scores:
        found: Scores = session.run(["scores"], dict(inputs))[0]
        return found

    return scores


def in_float32(method: BaseNetworkMethod) -> BaseNetworkMethod:
    """The same network scoring on the CPU in float32, whatever it would choose by itself."""
    exact = copy(method)
    exact.settings = replace(method.settings, device="cpu", precision="float32")
    return exact


def largest_difference(method: BaseNetworkMethod, path: str | Path) -> float:
    """How far the file's scores are from the method's in float32, on a few made-up documents.

    Their words are drawn from the vocabulary. One is empty, the others have one to a hundred words
    in up to three sections, so that most rows are padded; where pieces are read, one has several.
    """
    random = np.random.default_rng(0)
    sizes = [(0,), (1,), (2, 1), (17, 0, 40), (method.reading.piece_tokens + 100,)]
    words = _words(method.vocabulary)
    documents = [
        Document(
            str(place),
            "",
            tuple(Section("article", " ".join(random.choice(words, size))) for size in sections),
        )
        for place, sections in enumerate(sizes)
    ]
    theirs = open_onnx(path)(onnx_inputs(method, documents))
    return float(np.abs(theirs - in_float32(method).scores(documents)).max())


def _words(vocabulary: Vocabulary | Pieces) -> Sequence[str]:
    if isinstance(vocabulary, Pieces):
        return list(json.loads(vocabulary.written)["model"]["vocab"])
    return vocabulary.words[1:]


def _padded(rows: Numbered) -> NDArray[np.int64]:
    tokens = np.zeros((len(rows.lengths), rows.lengths.max()), np.int64)
    for row, start, length in zip(tokens, rows.starts, rows.lengths, strict=True):
        row[:length] = rows.tokens[start : start + length]
    return tokens
