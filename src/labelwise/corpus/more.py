"""More training documents than a data set has: files beside it, and what they make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labelwise.corpus import eurlex57k
from labelwise.corpus.celex import act_id
from labelwise.corpus.document import Document
from labelwise.corpus.json_records import JSON_FORMATS, read_json
from labelwise.corpus.readers import document_files, read
from labelwise.corpus.skipped import Skipped
from labelwise.corpus.sources import extension, opened, stem
from labelwise.errors import InputError
from labelwise.progress import track

MEASURED = ("dev", "valid", "val", "validation", "validate", "test")
"""Files of these names hold documents to measure on, which are never trained on."""


@dataclass(frozen=True)
class Repeated:
    """A document that was left out, for one with the same id is there already."""

    id: str
    file: Path
    kept: str
    """Where the other one is: a split, or a file."""


def check_more(paths: Sequence[Path]) -> None:
    """Say at once which of these cannot be more training documents."""
    for path in paths:
        if not path.exists():
            raise InputError("there is no such file or folder of more documents", file=path)
        for file in [path, *(document_files(path) if path.is_dir() else ())]:
            if part := _measured(file):
                raise InputError(
                    f"documents called {part} are for measuring and are not trained on; give "
                    "files of training documents, or another name if these are",
                    file=file,
                )


def _measured(path: Path) -> str | None:
    """The word in a file's name that says that it is measured on, as the first of it or the last.

    >>> _measured(Path("newlaw/dev.jsonl.xz")), _measured(Path("newlaw-dev.jsonl"))
    ('dev', 'dev')
    >>> _measured(Path("newlaw/train-titles.jsonl")), _measured(Path("on-the-test-of-time.jsonl"))
    (None, None)
    """
    words = re.split(r"[-_. ]", stem(path))
    return next((word for word in (words[0], words[-1]) if word.lower() in MEASURED), None)


def more_name(path: Path) -> str:
    """What more documents are called: their folder where the file is its ``train``, else the file.

    >>> more_name(Path("newlaw/train-titles.jsonl.xz")), more_name(Path("acts-2024.jsonl"))
    ('newlaw', 'acts-2024')
    """
    own = stem(path)
    return path.resolve().parent.name if own.partition("-")[0] == "train" else own


def read_more(
    paths: Sequence[Path],
    splits: Mapping[str, str],
    *,
    summaries: bool = False,
    skipped: Skipped | None = None,
) -> tuple[list[tuple[Path, Document]], list[Repeated]]:
    """The documents of all paths whose ids are in no split, and those that were left out.

    Of two with one id, as of an act's title and its text, the longer is kept; however a CELEX
    number is written, it is one. With ``summaries`` the summary of an act is a document besides,
    with the same labels.
    """
    splits = {act_id(id): split for id, split in splits.items()}
    found: dict[str, tuple[Path, Document]] = {}
    repeated: list[Repeated] = []
    for path in paths:
        labelled: list[bool] = []
        documents = read(path, skipped=skipped, gold=True, repeats=True)
        for document in track(documents, f"Reading {path.name}"):
            labelled.append(bool(document.labels))
            id = act_id(document.id)
            if id in splits:
                repeated.append(Repeated(document.id, path, splits[id]))
                continue
            longer = (path, replace(document, id=id))
            if id in found:
                shorter, longer = sorted((found[id], longer), key=lambda one: len(one[1].text))
                repeated.append(Repeated(shorter[1].id, shorter[0], str(longer[0])))
            found[id] = longer
        if labelled and not any(labelled):
            raise InputError("no document of it has a gold label to learn from", file=path)
    acts = list(found.values())
    if summaries:
        for path in paths:
            for document in _summaries(path):
                id = act_id(document.id)
                own = replace(document, id=f"{id}-summary")
                if id in found and own.id not in found:
                    found[own.id] = (path, own)
                    acts.append((path, own))
    return acts, repeated


def _summaries(path: Path) -> Iterator[Document]:
    """The summaries of the records that have one; what is wrong with a record is said by then."""
    for file in document_files(path) if path.is_dir() else [path]:
        if extension(file) in JSON_FORMATS:
            with opened(file) as stream:
                for _, item in read_json(stream, file, eurlex57k.summary):
                    if isinstance(item, Document) and item.sections:
                        yield item


def by_file(repeated: Sequence[Repeated]) -> list[dict[str, Any]]:
    """The ids of all documents that were left out, file by file and by where the others are."""
    found: dict[tuple[Path, str], list[str]] = {}
    for one in repeated:
        found.setdefault((one.file, one.kept), []).append(one.id)
    return [{"file": str(file), "kept": kept, "ids": ids} for (file, kept), ids in found.items()]


def repeated_note(repeated: Sequence[Repeated]) -> str:
    """Which documents were left out, file by file; the first ten of each by name."""
    lines = []
    for left_out in by_file(repeated):
        file, kept, ids = left_out["file"], left_out["kept"], left_out["ids"]
        rest = f" and {len(ids) - 10} more" if len(ids) > 10 else ""
        lines.append(
            f"left out {len(ids)} document{'s' if len(ids) > 1 else ''} of {file}, whose id is in "
            f"{kept} already: {', '.join(ids[:10])}{rest}"
        )
    return "\n".join(lines)
