"""Files that are there whole or not at all, whatever happens while they are written.

A file is written beside its place, put on the disk and then renamed into its place, and the folder
is put on the disk too: a reader never sees half a file, and what was said to be written is still
there after a power cut. What a killed process left beside is removed by the next that writes there.
"""

from __future__ import annotations

import errno
import json
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from labelwise.locks import try_lock

ARCHIVE_FAULTS: tuple[type[Exception], ...] = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, KeyError),
    *(RuntimeError, NotImplementedError),  # encrypted, or packed in a way that is not known
)
"""What reading a zip archive raises, or arrays in one, where it is damaged."""

HALF = "wrong encoding: half a character (a lone surrogate)"

BESIDE = ".writing-"
"""How the names of files that are being written begin."""

_ESCAPED_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def is_whole(*texts: str) -> bool:
    """Whether texts can be written down: in memory one may hold half a character, which JSON and
    markup can name.

    >>> is_whole("æther", chr(0xD800)), is_whole("æther")
    (False, True)
    """
    try:
        for text in texts:
            if not text.isascii():
                text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_json(data: bytes) -> Any:
    """What a file in JSON holds; a ValueError says what is wrong with it."""
    try:
        found = json.loads(data.decode())
    except RecursionError as error:
        raise ValueError("brackets are nested too deeply") from error
    if _ESCAPED_HALF.search(data) and not is_whole(json.dumps(found, ensure_ascii=False)):
        raise ValueError(HALF)
    return found


def write_whole(path: Path, content: bytes, *, kept: bool = True) -> None:
    """Write a file, its folder with it where it is missing.

    One that is not to be ``kept``, for it is old a moment later, does not wait for the disk.
    """
    with (
        being_written(path, kept=kept) as descriptor,
        os.fdopen(descriptor, "wb", closefd=False) as file,
    ):
        file.write(content)


def write_together(contents: dict[Path, bytes]) -> None:
    """Write files that belong together, of which the last one says that they are there.

    All are on the disk before the first takes its place. A process that ends within the moment
    until the last has taken its own leaves none, never some old and some new.
    """
    *_, last = contents
    with ExitStack() as stack:  # which ends the blocks in reverse order
        for path, content in reversed(contents.items()):
            descriptor = stack.enter_context(being_written(path))
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(content)
            os.fsync(descriptor)
        last.unlink(missing_ok=True)


@contextmanager
def being_written(path: Path, *, kept: bool = True) -> Iterator[int]:
    """A file to write to, as its descriptor; it takes its place when the block ends well.

    A pipe or a device is written to as it is, for it has no place to be renamed into.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        descriptor = os.open(path, os.O_WRONLY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
        return
    remove_left(path.parent)
    beside, descriptor = _open_beside(path.parent)
    try:
        try:
            yield descriptor
            if kept:
                os.fsync(descriptor)
            if os.name != "nt":
                beside.replace(path)  # until it is closed the lock says that it is not left behind
        finally:
            os.close(descriptor)
        if os.name == "nt":  # which renames no open file
            beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if kept:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, where the file system can be asked to."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def remove_left(folder: Path) -> None:
    """Remove the files that killed processes were writing: those that nobody holds the lock of."""
    for left in folder.glob(f"{BESIDE}*"):
        with suppress(OSError):
            descriptor = os.open(left, os.O_RDWR)
            try:
                if try_lock(descriptor):
                    left.unlink()
            finally:
                os.close(descriptor)


def _open_beside(folder: Path) -> tuple[Path, int]:
    while True:
        beside = folder / f"{BESIDE}{uuid4().hex}"
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        # Another process may have taken it for one that was left, a moment before the lock.
        if try_lock(descriptor) and os.fstat(descriptor).st_nlink:
            return beside, descriptor
        os.close(descriptor)
        beside.unlink(missing_ok=True)


def finite(value: Any) -> Any:
    """What is written as JSON, with NaN and infinity, which JSON does not have, as None."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value
