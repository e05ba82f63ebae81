"""Fetches EURLEX57K from its public distributions, checks it, and puts it in place."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from labelwise.corpus.dataset import SPLITS, Split, find_splits
from labelwise.corpus.download import DownloadError, download
from labelwise.corpus.eurlex57k import check_gold
from labelwise.corpus.eurlex57k import document as as_document
from labelwise.corpus.sources import COMPRESSED, Origin, lines, opened
from labelwise.corpus.thesaurus import read_thesaurus
from labelwise.errors import InputError, LabelwiseError
from labelwise.files import ARCHIVE_FAULTS, being_written, write_whole
from labelwise.progress import track

ARCHIVE_LIMIT = 1 << 30
UNPACKED_LIMIT = 4 << 30
DESCRIPTORS_LIMIT = 64 << 20
"""Bytes, several times what is due: more is not what was asked for."""


@dataclass(frozen=True)
class Download:
    """A public distribution: a zip archive of documents, and a file of descriptors."""

    archive: str
    descriptors: str
    descriptors_file: str
    """The name under which the descriptors are kept."""


EURLEX57K_SOURCES: tuple[Download, ...] = (
    Download(
        "https://archive.org/download/EURLEX57K/dataset.zip",
        "https://archive.org/download/EURLEX57K/eurovoc_concepts.jsonl",
        "eurovoc_concepts.jsonl",
    ),
    Download(  # the authors' own, one JSON file a document; reported incomplete at times
        "http://nlp.cs.aueb.gr/software_and_datasets/EURLEX57K/datasets.zip",
        "http://nlp.cs.aueb.gr/software_and_datasets/EURLEX57K/eurovoc_en.json",
        "EURLEX57K.json",
    ),
)

EURLEX57K_COUNTS: Mapping[str, int] = {"train": 45_000, "dev": 6_000, "test": 6_000}


class DamagedArchiveError(LabelwiseError):
    """An archive that is cut short, altered, or not what it should be."""


def fetch(name: str, folder: Path) -> bool:
    """Fetch a data set by its name; True if something was downloaded."""
    if name != "eurlex57k":
        raise LabelwiseError(f"no data set is called '{name}'; there are: cellar, eurlex57k")
    return fetch_eurlex57k(folder)


def fetch_eurlex57k(
    folder: Path,
    *,
    sources: Sequence[Download] = EURLEX57K_SOURCES,
    counts: Mapping[str, int] = EURLEX57K_COUNTS,
    timeout: float = 30.0,
    attempts: int = 4,
    pause: float = 1.0,
) -> bool:
    """Put ``train.jsonl``, ``dev.jsonl``, ``test.jsonl`` and the descriptors into the folder.

    Nothing is downloaded that is there already; an archive or a descriptor file that was placed
    there by hand is used. A file appears under its name only when it is complete and checked.
    ``counts`` are the documents that each split must have.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabelwiseError(f"{folder}: cannot be used as a folder ({error.strerror})") from error
    get = partial(download, timeout=timeout, attempts=attempts, pause=pause)
    fetched = False
    missing = _missing_splits(folder, counts)
    if missing:
        _from_first(
            sorted(sources, key=lambda source: not _archive(source, folder).exists()),
            folder,
            lambda source: _fetch_documents(source, folder, missing, counts, get),
        )
        fetched = True
    if not any(_has_descriptors(folder, source) for source in sources):
        _from_first(sources, folder, lambda source: _fetch_descriptors(source, folder, get))
        fetched = True
    return fetched


def _from_first(sources: Sequence[Download], folder: Path, use: Callable[[Download], None]) -> None:
    """Use the first source that works; if none does, say why, and how to do without a network."""
    failures: list[str] = []
    for source in sources:
        try:
            use(source)
        except (DownloadError, DamagedArchiveError) as error:
            failures.append(str(error))
        else:
            return
    first = sources[0]
    raise LabelwiseError(
        f"EURLEX57K could not be fetched ({'; '.join(failures)}): without a network, download "
        f"{first.archive} and {first.descriptors} on another machine, place both files in "
        f"{folder} and run the same command again"
    )


# --- documents -------------------------------------------------------------------------------


def _missing_splits(folder: Path, counts: Mapping[str, int]) -> list[Split]:
    """The splits that are not there yet; other documents in their place are never overwritten."""
    found = find_splits(folder)
    for split, path in found.items():
        count = _count(path)
        if count != counts[split]:
            raise LabelwiseError(
                f"{path} has {count:,} documents, not the {counts[split]:,} of EURLEX57K: "
                "name another folder, or move it away"
            )
    return [split for split in SPLITS if split not in found]


def _count(path: Path) -> int:
    """The documents of a split: one a line, or one a file."""
    if path.is_dir():
        return sum(1 for _ in path.glob("*.json*"))
    with opened(path) as stream:
        return sum(not line.isspace() for _, line in lines(stream, path))


def _archive(source: Download, folder: Path) -> Path:
    """Where the archive of a source lies while it is needed, or where the user placed it."""
    return folder / Path(urlsplit(source.archive).path).name


def _fetch_documents(
    source: Download,
    folder: Path,
    missing: Sequence[Split],
    counts: Mapping[str, int],
    get: Callable[..., None],
) -> None:
    archive = _archive(source, folder)
    if archive.exists():  # placed by hand: it is the user's, to keep or to delete
        try:
            _unpack(archive, folder, missing, counts)
        except DamagedArchiveError as error:
            raise LabelwiseError(f"{error}; delete the file and run the same command") from error
        return
    get(source.archive, archive, limit=ARCHIVE_LIMIT)
    try:
        _unpack(archive, folder, missing, counts)
    except DamagedArchiveError:
        # Perhaps parts of two versions were joined: once more, from the first byte.
        archive.unlink()
        get(source.archive, archive, limit=ARCHIVE_LIMIT)
        try:
            _unpack(archive, folder, missing, counts)
        except DamagedArchiveError as error:
            raise DamagedArchiveError(f"{source.archive}: {error}") from error
        finally:
            archive.unlink()
    else:
        archive.unlink()


def _unpack(
    archive: Path, folder: Path, missing: Sequence[Split], counts: Mapping[str, int]
) -> None:
    """Write the documents of an archive; the folder changes only when all of them are good."""
    with _open_zip(archive) as zipped, ExitStack() as stack:
        members = _members(zipped, archive)
        for split in missing:
            path = folder / f"{split}.jsonl"
            documents = _documents(zipped, members[split], archive)
            descriptor = stack.enter_context(being_written(path))
            found = _write(path, descriptor, track(documents, f"Unpacking {split}"))
            if found != counts[split]:
                raise DamagedArchiveError(
                    f"{archive} has {found:,} {split} documents, not {counts[split]:,}"
                )


def _open_zip(archive: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(archive)
    except ARCHIVE_FAULTS as error:
        size = archive.stat().st_size
        raise DamagedArchiveError(
            f"{archive} is no complete zip archive: it was cut short or is something else "
            f"({size:,} bytes)"
        ) from error


def _members(zipped: zipfile.ZipFile, archive: Path) -> dict[str, list[zipfile.ZipInfo]]:
    """The members that hold documents, by split: ``train.jsonl``, or ``train/*.json`` by name.

    Others (a read-me, what macOS adds) are left alone. No member's name is ever used as a path;
    an archive with names that point outside is refused all the same.
    """
    members: dict[str, list[zipfile.ZipInfo]] = {split: [] for split in SPLITS}
    for member in sorted(zipped.infolist(), key=lambda member: member.filename):
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or str(path)[1:2] == ":":
            raise DamagedArchiveError(
                f"{archive} holds a file that would lie outside the folder, '{member.filename}'"
            )
        if member.is_dir() or path.name.startswith(".") or "__MACOSX" in path.parts:
            continue
        if path.suffix == ".jsonl" and path.stem in members:
            members[path.stem].append(member)
        elif path.suffix == ".json" and path.parent.name in members:
            members[path.parent.name].append(member)
    for split, found in members.items():
        if not found:
            raise DamagedArchiveError(f"{archive} has no {split} documents")
        if len(found) > 1 and any(member.filename.endswith(".jsonl") for member in found):
            raise DamagedArchiveError(f"{archive} has more than one file of {split} documents")
    size = sum(member.file_size for found in members.values() for member in found)
    if size > UNPACKED_LIMIT:
        raise DamagedArchiveError(
            f"{archive} would unpack to {size:,} bytes, more than the {UNPACKED_LIMIT:,} due"
        )
    return members


def _documents(
    zipped: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], archive: Path
) -> Iterator[bytes]:
    """The documents of a split, each as one line of JSON, each id once."""
    ids: set[str] = set()
    for member in members:
        for number, text in enumerate(_records(zipped, member, archive), start=1):
            origin = Origin(f"{archive}, {member.filename}, document {number}")
            try:
                record = json.loads(text)
                if not isinstance(record, dict):
                    raise origin.error("this is no document")
                id = as_document(record, origin).id
                check_gold(record, origin)
            except InputError as error:
                raise DamagedArchiveError(str(error)) from error
            except (ValueError, RecursionError) as error:
                raise DamagedArchiveError(f"{origin.file}: broken JSON ({error})") from error
            if id in ids:
                raise DamagedArchiveError(f"{origin.file}: {id} is there twice")
            ids.add(id)
            yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _records(zipped: zipfile.ZipFile, member: zipfile.ZipInfo, archive: Path) -> Iterator[bytes]:
    """The lines of a JSONL member, or the whole of a JSON one; checksums are checked."""
    try:
        with zipped.open(member) as stream:
            if member.filename.endswith(".jsonl"):
                for line in stream:
                    if not line.isspace():
                        yield line
            else:
                yield stream.read()
    except ARCHIVE_FAULTS as error:
        raise DamagedArchiveError(f"{archive}, {member.filename} is damaged ({error})") from error


def _write(path: Path, descriptor: int, lines: Iterator[bytes]) -> int:
    """Write the lines and make sure that they are on the disk; returns how many there were."""
    count = 0
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            for line in lines:
                stream.write(line)
                count += 1
        os.fsync(descriptor)
    except OSError as error:
        raise LabelwiseError(f"{path}: cannot be written ({error.strerror})") from error
    return count


# --- descriptors -----------------------------------------------------------------------------


def _has_descriptors(folder: Path, source: Download) -> bool:
    """Whether they are there, plain or compressed; if they cannot be read, that is an error."""
    names = (source.descriptors_file + ending for ending in ("", *COMPRESSED))
    return any(read_thesaurus(folder / name).concepts for name in names if (folder / name).exists())


def _fetch_descriptors(source: Download, folder: Path, get: Callable[..., None]) -> None:
    with tempfile.TemporaryDirectory(prefix=".descriptors-", dir=folder) as staging:
        staged = Path(staging) / source.descriptors_file
        get(source.descriptors, staged, limit=DESCRIPTORS_LIMIT)
        try:
            read_thesaurus(staged)
        except InputError as error:
            raise DownloadError(
                f"{source.descriptors}: these are no descriptors ({error.problem})"
            ) from error
        write_whole(folder / source.descriptors_file, staged.read_bytes())
