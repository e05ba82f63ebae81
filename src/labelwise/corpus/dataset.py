"""A data set: the train, dev and test documents of a folder, with their thesaurus and labels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.readers import document_files, read
from labelwise.corpus.skipped import Skipped
from labelwise.corpus.sources import COMPRESSED
from labelwise.corpus.thesaurus import Thesaurus, read_thesaurus
from labelwise.errors import InputError
from labelwise.progress import track

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

_SPLIT_NAMES: dict[Split, tuple[str, ...]] = {
    "train": ("train",),
    "dev": ("dev", "valid", "val", "validation", "validate"),
    "test": ("test",),
}
_SPLIT_ENDINGS = (".jsonl", ".ndjson", ".json", ".tsv", ".csv")
_THESAURUS_FILES = (
    *("EURLEX57K.json", "eurovoc_concepts.jsonl"),
    *("descriptors.json", "descriptors.jsonl", "descriptors.csv", "descriptors.tsv"),
    *("thesaurus.ttl", "thesaurus.rdf", "thesaurus.json", "thesaurus.csv", "thesaurus.tsv"),
)
_SKOS_ENDINGS = (".ttl", ".rdf", ".nt", ".skos")


@dataclass(frozen=True)
class Dataset:
    """Documents in three splits. What is asked for is read when it is first asked for.

    No document is in two splits, and with a thesaurus every gold label is one of its concepts:
    otherwise an InputError is raised, or recorded in ``skipped`` and the document left out.
    """

    name: str
    paths: dict[Split, Path]
    """The file or folder of each split that there is."""
    thesaurus_path: Path | None = None
    skipped: Skipped | None = None
    _seen: dict[str, Split] = field(default_factory=dict, repr=False)

    @cached_property
    def train(self) -> Sequence[Document]:
        return self._load("train")

    @cached_property
    def dev(self) -> Sequence[Document]:
        return self._load("dev")

    @cached_property
    def test(self) -> Sequence[Document]:
        return self._load("test")

    @cached_property
    def thesaurus(self) -> Thesaurus | None:
        return read_thesaurus(self.thesaurus_path) if self.thesaurus_path else None

    @cached_property
    def label_space(self) -> LabelSpace:
        """Grouped by the training documents; labels of dev and test alone are zero-shot."""
        descriptors = self.thesaurus.descriptors if self.thesaurus else None
        return LabelSpace.from_documents(self.train, (*self.dev, *self.test), descriptors)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the files of the splits in their order, as they are stored."""
        digest = hashlib.sha256()
        for split in SPLITS:
            if split in self.paths:
                path = self.paths[split]
                for file in document_files(path) if path.is_dir() else [path]:
                    with file.open("rb") as stream:
                        while block := stream.read(1 << 20):
                            digest.update(block)
        return digest.hexdigest()[:16]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many documents each split has, and how many labels there are in all."""
        return {
            "train": len(self.train),
            "dev": len(self.dev),
            "test": len(self.test),
            "labels": len(self.label_space),
        }

    def _load(self, split: Split) -> tuple[Document, ...]:
        if split not in self.paths:
            return ()
        if self.skipped is not None:
            # What is left out of a split must not depend on which split is asked for first.
            for earlier in SPLITS[: SPLITS.index(split)]:
                getattr(self, earlier)
        kept = []
        for document in track(read(self.paths[split], skipped=self.skipped), f"Reading {split}"):
            try:
                kept.append(self._checked(document, split))
            except InputError as error:
                if self.skipped is None:
                    raise
                self.skipped.record(error)
        return tuple(kept)

    def _checked(self, document: Document, split: Split) -> Document:
        other = self._seen.setdefault(document.id, split)
        if other != split:
            raise InputError(
                f"duplicate id: document '{document.id}' is in {other} and in {split}; "
                "a document may be in one split only",
                file=self.paths[split],
            )
        if self.thesaurus is None or all(one in self.thesaurus.concepts for one in document.labels):
            return document
        return replace(
            document,
            labels=tuple(
                dict.fromkeys(self._known(label, document, split) for label in document.labels)
            ),
        )

    def _known(self, label: str, document: Document, split: Split) -> str:
        """The id of a label that may be given by its preferred label or its URI."""
        assert self.thesaurus is not None
        if label in self.thesaurus.concepts:
            return label
        if label in self.thesaurus.ids:
            return self.thesaurus.ids[label]
        raise InputError(
            f"label missing from the thesaurus: document '{document.id}' has the label '{label}', "
            f"which is not in {self.thesaurus_path}",
            file=self.paths[split],
        )


def open_dataset(
    path: str | Path, *, thesaurus: Path | None = None, skipped: Skipped | None = None
) -> Dataset:
    """The data set in a folder, or in its sub-folder ``eurlex57k``.

    The folder holds ``train``, ``dev`` and ``test``, each a file (``train.jsonl.xz``,
    ``train.tsv``, ...) or a folder of files, and where the labels have names a thesaurus:
    ``EURLEX57K.json``, ``eurovoc_concepts.jsonl``, ``descriptors.json`` or ``.csv``, a SKOS file.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError("there is no such folder; a data set is a folder", file=folder)
    if not find_splits(folder) and (folder / "eurlex57k").is_dir():
        folder = folder / "eurlex57k"
    paths = find_splits(folder)
    if "train" not in paths:
        raise InputError(
            "there is no data set in this folder: it should hold train, dev and test, "
            "as files (train.jsonl, train.jsonl.xz, train.tsv, ...) or as folders",
            file=folder,
        )
    if thesaurus is not None and not thesaurus.is_file():
        raise InputError("there is no such thesaurus file", file=thesaurus)
    found = thesaurus if thesaurus is not None else _find_thesaurus(folder)
    return Dataset(folder.resolve().name, paths, found, skipped)


def find_splits(folder: Path) -> dict[Split, Path]:
    """The file or folder of each split in a folder; none if it is no data set."""
    found: dict[Split, Path] = {}
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    for split, names in _SPLIT_NAMES.items():
        matching = [
            entry
            for entry in entries
            if (entry.name in names if entry.is_dir() else _is_split_file(entry, names))
        ]
        if len(matching) > 1:
            raise InputError(
                f"the {split} documents are there twice, as "
                f"{' and as '.join(one.name for one in matching)}: keep one of them",
                file=folder,
            )
        if matching:
            found[split] = matching[0]
    return found


def _is_split_file(path: Path, names: tuple[str, ...]) -> bool:
    bare = path.with_suffix("") if path.suffix in COMPRESSED else path
    return bare.stem in names and bare.suffix in _SPLIT_ENDINGS


def _find_thesaurus(folder: Path) -> Path | None:
    for name in _THESAURUS_FILES:
        for ending in ("", *COMPRESSED):
            if (folder / (name + ending)).is_file():
                return folder / (name + ending)
    for path in sorted(folder.iterdir()):
        bare = path.with_suffix("") if path.suffix in COMPRESSED else path
        if bare.suffix in _SKOS_ENDINGS:
            return path
    return None
