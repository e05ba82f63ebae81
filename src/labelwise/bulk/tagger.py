"""A model as a callable that travels: Ray Data, Spark and the like send it to their workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Unpack

from labelwise import shipped
from labelwise.bulk.rows import Prediction, predictions_of
from labelwise.corpus.document import Document
from labelwise.corpus.plain_text import split_act
from labelwise.corpus.readers import json_document
from labelwise.corpus.sources import Origin
from labelwise.errors import LabelwiseError
from labelwise.model import Model, TagOptions, load


class Tagger:
    """Tags batches of records or texts; ``options`` are those of ``Model.tags``.

    It travels as the name of the bundle and its options: each worker loads the model once, when
    its first batch comes.
    """

    def __init__(self, bundle: str = shipped.NAME, **options: Unpack[TagOptions]) -> None:
        if options.get("evidence"):
            raise LabelwiseError("in bulk labels have no evidence: ask `tags` of a model for it")
        self.bundle, self.options = bundle, options

    @cached_property
    def model(self) -> Model:
        return load(self.bundle)

    def __getstate__(self) -> dict[str, Any]:
        return {"bundle": self.bundle, "options": self.options}

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Columns by name, with the keys of the JSON formats; with ``predictions`` among them."""
        columns = [_plain(column) for column in batch.values()]
        documents = []
        for number, values in enumerate(zip(*columns, strict=True), 1):
            row = {key: one for key, one in zip(batch, values, strict=True) if one is not None}
            documents.append(json_document(row, Origin("batch", entry=number)))
        return {**batch, "predictions": self.documents(documents)}

    def texts(self, texts: Iterable[str]) -> list[list[Prediction]]:
        """The labels of plain texts."""
        if isinstance(texts, str):  # a list of letters to Python
            raise LabelwiseError("a list of texts was expected, and this is one text")
        return self.documents(
            [Document(f"text {n}", *split_act(one)) for n, one in enumerate(texts, 1)]
        )

    def documents(self, documents: Sequence[Document]) -> list[list[Prediction]]:
        """The labels of each document, the best first."""
        return [predictions_of(one) for one in self.model.tags(documents, **self.options)]


def _plain(column: Any) -> list[Any]:
    """A column as Python has it: Ray gives arrays of NumPy."""
    return column.tolist() if hasattr(column, "tolist") else list(column)
