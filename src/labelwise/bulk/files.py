"""The records of files and folders, on this machine or at an address."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from labelwise.bulk.storage import storage_of
from labelwise.corpus.records import Record, records


class Files:
    """All records of several addresses, file after file."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._files = [
            (storage, file) for storage in map(storage_of, addresses) for file in storage.files()
        ]

    def facts(self) -> dict[str, Any]:
        """How many files and bytes, and a digest of their names and sizes."""
        told = hashlib.sha256()
        for _, file in self._files:
            told.update(f"{file.below}\0{file.size}\n".encode())
        return {
            "files": len(self._files),
            "bytes": sum(file.size for _, file in self._files),
            "digest": told.hexdigest(),
        }

    def records(self) -> Iterator[Record]:
        for storage, file in self._files:
            yield from records(file.name, partial(storage.open, file.name))
