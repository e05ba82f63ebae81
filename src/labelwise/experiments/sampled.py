"""What the commands that look at a sample of documents share: the sample, and the record."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelwise.errors import LabelwiseError
from labelwise.files import finite
from labelwise.progress import one_bar

if TYPE_CHECKING:
    from labelwise.corpus.dataset import Dataset
    from labelwise.corpus.document import Document
    from labelwise.methods import Method


def sample(dataset: Dataset, split: str, size: int, seed: int) -> list[Document]:
    """So many documents of a split, drawn at random, in their own order."""
    documents: Sequence[Document] = getattr(dataset, split)
    if not documents:
        raise LabelwiseError(f"the data set {dataset.name} has no {split} documents")
    return drawn(documents, size, seed)


def drawn(documents: Sequence[Document], size: int, seed: int = 0) -> list[Document]:
    """So many of them, or all if there are fewer."""
    import numpy as np

    size = min(size, len(documents))
    chosen = np.random.default_rng(seed).choice(len(documents), size, replace=False)
    return [documents[at] for at in sorted(chosen.tolist())]


@contextmanager
def counted(documents: Sequence[Document], description: str) -> Iterator[Iterator[Document]]:
    """The documents one by one, with a bar."""
    with one_bar(description, len(documents)) as advance:

        def each() -> Iterator[Document]:
            for document in documents:
                yield document
                advance(1)

        yield each()


def record_of(
    method: Method,
    dataset: Dataset,
    card: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    started: float,
    command: str,
) -> dict[str, Any]:
    """What was found, with all that it was found with."""
    from labelwise.evaluation.runs import DataRecord, current_versions
    from labelwise.experiments.labelled_file import named_among

    fingerprint = method.label_space.fingerprint
    data = dataclasses.replace(DataRecord.of(dataset), label_space=fingerprint)
    return {
        "method": named_among(method, card, data.fingerprint),
        "seed": int(method.settings.seed),
        **found,
        "settings": dataclasses.asdict(method.settings),
        "data": dataclasses.asdict(data),
        "versions": current_versions(),
        "seconds": round(time.perf_counter() - started, 3),
        "command": command,
    }


def write_record(results: Path, kind: str, record: Mapping[str, Any]) -> Path:
    """Write RESULTS/DATA/METHOD/KIND-seed-N.json, beside the runs."""
    from labelwise.files import write_whole

    name = f"{kind}-seed-{record['seed']}.json"
    path = results / str(record["data"]["name"]) / str(record["method"]) / name
    text = json.dumps(finite(dict(record)), indent=1, ensure_ascii=False)
    write_whole(path, f"{text}\n".encode())
    return path
