"""A data set: the train, dev and test documents of a folder, with their thesaurus and labels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.more import MEASURED, Repeated, check_more, more_name, read_more
from labelwise.corpus.readers import document_files, read
from labelwise.corpus.relabelling import date_in
from labelwise.corpus.skipped import Skipped
from labelwise.corpus.sources import COMPRESSED, stem
from labelwise.corpus.thesaurus import Thesaurus, read_thesaurus
from labelwise.errors import InputError, LabelwiseError
from labelwise.progress import track

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

_SPLIT_NAMES: dict[Split, tuple[str, ...]] = {
    "train": ("train",),
    "dev": MEASURED[:-1],
    "test": MEASURED[-1:],
}
_SPLIT_ENDINGS = (".jsonl", ".ndjson", ".json", ".tsv", ".csv")
_THESAURUS_FILES = (
    *("EURLEX57K.json", "eurovoc_concepts.jsonl"),
    *("descriptors.json", "descriptors.jsonl", "descriptors.csv", "descriptors.tsv"),
    *("thesaurus.ttl", "thesaurus.rdf", "thesaurus.json", "thesaurus.csv", "thesaurus.tsv"),
)
_SKOS_ENDINGS = (".ttl", ".rdf", ".nt", ".skos")


@dataclass(frozen=True)
class Additions:
    """What a data set is opened with besides its folder. Each makes it a data set of its own."""

    more: tuple[Path, ...] = ()
    """Files or folders of further training documents."""
    summaries: bool = False
    """Whether their summaries are training documents besides."""
    thesaurus: Path | None = None
    """In place of the thesaurus in the folder."""
    every_concept: bool = False
    """Whether every concept of the thesaurus is a label, not only those that a document has."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the name of the data set is lengthened by."""
        return (
            *dict.fromkeys(map(more_name, self.more)),
            *(("summaries",) if self.summaries else ()),
            *((stem(self.thesaurus),) if self.thesaurus else ()),
            *(("every-concept",) if self.every_concept else ()),
        )

    @property
    def dated_thesaurus(self) -> dict[str, str | None] | None:
        """The name and the date of the thesaurus that was given, as its file is called."""
        if self.thesaurus is None:
            return None
        name = stem(self.thesaurus)
        return {"name": name, "date": date_in(name)}

    def to_json(self) -> dict[str, Any]:
        return {
            "more": [str(path) for path in self.more],
            "summaries": self.summaries,
            "thesaurus": str(self.thesaurus) if self.thesaurus else None,
            "every_concept": self.every_concept,
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Additions:
        return cls(
            tuple(Path(path) for path in written["more"]),
            written["summaries"],
            Path(written["thesaurus"]) if written["thesaurus"] else None,
            written["every_concept"],
        )


NOTHING = Additions()


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
    additions: Additions = NOTHING
    repeated: list[Repeated] = field(default_factory=list)
    """Of the additional documents those left out, for their ids are there already; known when the
    training documents are."""
    _seen: dict[str, Split] = field(default_factory=dict, repr=False)

    @cached_property
    def train(self) -> Sequence[Document]:
        return (*self._own_train, *self._more())

    @cached_property
    def _own_train(self) -> tuple[Document, ...]:
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
        """Grouped by the training documents; labels of dev and test alone are zero-shot, and so
        are the other concepts of the thesaurus where every concept is a label."""
        descriptors = self.thesaurus.descriptors if self.thesaurus else None
        space = LabelSpace.from_documents(self.train, (*self.dev, *self.test), descriptors)
        if not self.additions.every_concept:
            return space
        if self.thesaurus is None:
            raise LabelwiseError(
                f"the data set {self.name} has no thesaurus whose concepts could be labels"
            )
        others = {id: self.thesaurus.descriptors[id] for id in self.thesaurus.assignable}
        return space.with_labels({k: v for k, v in others.items() if k not in space.index})

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the files of the splits in their order, as they are stored, and of what the
        data set was opened with besides."""
        given = self.additions
        splits = [self.paths[split] for split in SPLITS if split in self.paths]
        asked = [name for name in ("summaries", "every_concept") if getattr(given, name)]
        return digest_of(
            (*splits, *given.more, *((given.thesaurus,) if given.thesaurus else ())),
            " ".join(asked),
        )

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
                getattr(self, "_own_train" if earlier == "train" else earlier)
        path = self.paths[split]
        documents = track(read(path, skipped=self.skipped, gold=True), f"Reading {split}")
        return self._kept((path, self._in_one_split(document, split)) for document in documents)

    def _more(self) -> tuple[Document, ...]:
        """The additional training documents, which are in no split."""
        if not self.additions.more:
            return ()
        _ = self._own_train, self.dev, self.test  # all ids are known now
        found, repeated = read_more(
            self.additions.more,
            self._seen,
            summaries=self.additions.summaries,
            skipped=self.skipped,
        )
        self.repeated[:] = repeated
        return self._kept(found)

    def _kept(self, found: Iterable[tuple[Path, Document | InputError]]) -> tuple[Document, ...]:
        """The documents, with labels that the thesaurus knows; what is wrong is raised or kept."""
        kept = []
        for path, document in found:
            try:
                if isinstance(document, InputError):
                    raise document
                kept.append(self._with_known_labels(document, path))
            except InputError as error:
                if self.skipped is None:
                    raise
                self.skipped.record(error)
        return tuple(kept)

    def _in_one_split(self, document: Document, split: Split) -> Document | InputError:
        other = self._seen.setdefault(document.id, split)
        if other == split:
            return document
        return InputError(
            f"duplicate id: document '{document.id}' is in {other} and in {split}; "
            "a document may be in one split only",
            file=self.paths[split],
        )

    def _with_known_labels(self, document: Document, path: Path) -> Document:
        if self.thesaurus is None or all(one in self.thesaurus.concepts for one in document.labels):
            return document
        labels: dict[str, None] = {}
        for label in document.labels:
            known = self.thesaurus.today(label)
            if not known:
                raise InputError(
                    f"label missing from the thesaurus: document '{document.id}' has the label "
                    f"'{label}', which is not in {self.thesaurus_path}",
                    file=path,
                )
            labels |= dict.fromkeys(known)
        return replace(document, labels=tuple(labels))


def open_dataset(
    path: str | Path,
    additions: Additions = NOTHING,
    *,
    skipped: Skipped | None = None,
) -> Dataset:
    """The data set in a folder, or in its sub-folder ``eurlex57k``.

    The folder holds ``train``, ``dev`` and ``test``, each a file (``train.jsonl.xz``,
    ``train.tsv``, ...) or a folder of files, and where the labels have names a thesaurus:
    ``EURLEX57K.json``, ``eurovoc_concepts.jsonl``, ``descriptors.json`` or ``.csv``, a SKOS file.
    With additions it is a data set of another name: ``eurlex57k+newlaw``.
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
    check_more(additions.more)
    if additions.thesaurus is not None and not additions.thesaurus.is_file():
        raise InputError("there is no such thesaurus file", file=additions.thesaurus)
    if additions.summaries and not additions.more:
        raise LabelwiseError("summaries are those of more documents: give --more too")
    name = "+".join((folder.resolve().name, *additions.names))
    return Dataset(name, paths, additions.thesaurus or _find_thesaurus(folder), skipped, additions)


def digest_of(paths: Iterable[Path], also: str = "") -> str:
    """A short digest of files, and of all files of folders, as they are stored."""
    digest = hashlib.sha256()
    for path in paths:
        for file in document_files(path) if path.is_dir() else [path]:
            with file.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
    digest.update(also.encode())
    return digest.hexdigest()[:16]


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
