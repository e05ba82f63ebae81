"""A data set as a folder of Parquet files with a card, as `datasets` and the Hub read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelwise.corpus.batches import batches
from labelwise.corpus.dataset import SPLITS, Dataset
from labelwise.corpus.document import Document
from labelwise.corpus.eurlex57k import record
from labelwise.corpus.parquet import pyarrow
from labelwise.errors import LabelwiseError
from labelwise.files import write_whole

NAMES = {"train": "train", "dev": "validation", "test": "test"}
"""What `datasets` calls the splits."""

GROUP = 1000
"""Documents that are written together."""

COLUMNS = ("celex_id", "title", "header", "recitals", "attachments")
LISTS = ("main_body", "concepts")


def write_parquet_folder(dataset: Dataset, out: Path) -> dict[str, int]:
    """Write the splits, the labels and the card; how many documents each split has."""
    if out.exists() and any(out.iterdir()):
        raise LabelwiseError(f"{out}: the folder holds files already; name a new folder")
    pa, parquet = pyarrow("a folder of Parquet files")
    (out / "data").mkdir(parents=True, exist_ok=True)
    counts = {}
    for split in SPLITS:
        documents = getattr(dataset, split) if split in dataset.paths else ()
        if documents:
            _write(pa, parquet, documents, out / "data" / f"{NAMES[split]}.parquet")
            counts[NAMES[split]] = len(documents)
    labels = dataset.label_space.labels
    table = pa.table(
        {
            "id": [one.id for one in labels],
            "descriptor": [one.descriptor for one in labels],
            "group": [one.group for one in labels],
            "training_documents": [int(one.count) for one in labels],
        }
    )
    parquet.write_table(table, out / "labels.parquet")
    write_whole(out / "README.md", card(dataset, counts).encode())  # the last: all is there
    return counts


def card(dataset: Dataset, counts: dict[str, int]) -> str:
    """The data card: YAML that `datasets` reads, and what a person wants to know."""
    files = "".join(f"  - split: {name}\n    path: data/{name}.parquet\n" for name in counts)
    sizes = "\n".join(f"| {name} | {count:,} |" for name, count in counts.items())
    groups = {name: part.stop - part.start for name, part in dataset.label_space.groups.items()}
    return f"""---
pretty_name: {dataset.name}
task_categories:
- text-classification
task_ids:
- multi-label-classification
configs:
- config_name: default
  data_files:
{files}- config_name: labels
  data_files: labels.parquet
---

# {dataset.name}

Written by `labelwise data export` from a data set with the fingerprint {dataset.fingerprint}.

| split | documents |
| --- | --- |
{sizes}

A row is a document: `celex_id`, `title`, the zones `header`, `recitals`, `main_body` (one text an article) and `attachments`, and `concepts`, the ids of its gold labels. The configuration `labels` has the {len(dataset.label_space):,} labels ({", ".join(f"{count:,} {name}" for name, count in groups.items())}) in the order of labelwise, with descriptors and training documents.
"""  # noqa: E501


def _write(pa: Any, parquet: Any, documents: Sequence[Document], file: Path) -> None:
    text, texts = pa.string(), pa.list_(pa.string())
    schema = pa.schema([*((name, text) for name in COLUMNS), *((name, texts) for name in LISTS)])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for some in batches(documents, GROUP):
            writer.write_table(pa.Table.from_pylist([record(one) for one in some], schema=schema))
