"""Files by address: a path of this machine, or an address that fsspec knows (``s3://``, ``gs://``).

A file that is written is there whole or not at all: it is written beside its place and renamed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from labelwise.corpus.readers import document_files
from labelwise.corpus.sources import decompressed, opened
from labelwise.errors import InputError, MissingExtraError
from labelwise.files import BESIDE, write_whole


class File(NamedTuple):
    """A file of an input: its whole name, what of it stands below the address, and its bytes."""

    name: str
    below: str
    size: int


class Storage(Protocol):
    """What lies at an address: a file, or a folder."""

    def files(self) -> list[File]:
        """The files that may hold documents, in the order of their names."""

    def open(self, name: str) -> AbstractContextManager[io.BufferedReader]:
        """One of these files for reading, with its compression undone."""

    def names(self) -> set[str]:
        """The names of the files in the folder; none where there is no folder yet."""

    def read(self, name: str) -> bytes: ...

    def write(self, name: str, content: bytes) -> None: ...


def storage_of(address: str) -> Storage:
    return Remote(address) if "://" in address else Local(address)


def _is_hidden(below: str) -> bool:
    """Notes of other programs: ``.crc`` files, and Spark's ``_SUCCESS``."""
    return any(part.startswith((".", "_")) for part in below.split("/"))


class Local:
    """A path of this machine."""

    def __init__(self, address: str) -> None:
        self._path = Path(address)

    def files(self) -> list[File]:
        path = self._path
        if not path.exists():
            raise InputError("there is no such file or folder", file=path)
        if path.is_file():
            return [File(str(path), path.name, path.stat().st_size)]
        found = [(one, one.relative_to(path).as_posix()) for one in document_files(path)]
        return [
            File(str(one), below, one.stat().st_size)
            for one, below in found
            if not _is_hidden(below)
        ]

    def open(self, name: str) -> AbstractContextManager[io.BufferedReader]:
        return opened(Path(name))

    def names(self) -> set[str]:
        return {one.name for one in self._path.iterdir()} if self._path.is_dir() else set()

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        write_whole(self._path / name, content)


class Remote:
    """An address of fsspec, with the settings that it finds in the environment."""

    def __init__(self, address: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingExtraError(f"the address {address}", "bulk") from error
        self._address = address
        self._system: Any
        try:
            self._system, self._root = url_to_fs(address)
        except (ImportError, ValueError) as error:  # a scheme that needs a package, or none
            raise InputError(f"cannot be reached: {error}", file=address) from error

    def files(self) -> list[File]:
        found = self._system.find(self._root, detail=True)
        if not found:
            raise InputError("there is no such file or folder", file=self._address)
        root = str(self._root).rstrip("/")
        below = {name: name.removeprefix(root).lstrip("/") for name in sorted(found)}
        return [
            File(name, rest or name.rsplit("/", 1)[-1], int(found[name]["size"]))
            for name, rest in below.items()
            if not _is_hidden(rest)
        ]

    @contextmanager
    def open(self, name: str) -> Iterator[io.BufferedReader]:
        with self._system.open(name, "rb") as file:
            yield decompressed(file, name)

    def names(self) -> set[str]:
        self._system.invalidate_cache()
        if not self._system.isdir(self._root):
            return set()
        return {name.rsplit("/", 1)[-1] for name in self._system.ls(self._root, detail=False)}

    def read(self, name: str) -> bytes:
        return bytes(self._system.cat_file(f"{self._root}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        self._system.makedirs(self._root, exist_ok=True)
        beside = f"{self._root}/{BESIDE}{uuid4().hex}"
        self._system.pipe_file(beside, content)
        self._system.mv(beside, f"{self._root}/{name}")
