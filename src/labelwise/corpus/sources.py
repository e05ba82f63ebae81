"""Where records come from: files, plain or compressed, and the places in them that errors name."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, cast

from labelwise.corpus.document import Document
from labelwise.errors import InputError

COMPRESSED = (".gz", ".xz")
BOM = b"\xef\xbb\xbf"

MOST_UNPACKED = 100_000_000
"""Bytes that one document, line or JSON file may have that comes out of a compressed file: a file
of a few megabytes can unpack to thousands of times as many. No act is nearly as long."""


class Origin(NamedTuple):
    """A file, a line in it, or an entry of the list that it holds."""

    file: str | Path
    line: int | None = None
    entry: int | None = None

    def error(self, problem: str, field: str | None = None) -> InputError:
        file = f"{self.file}, entry {self.entry}" if self.entry else self.file
        return InputError(problem, file=file, line=self.line, field=field)

    @property
    def id(self) -> str:
        """The id of a document that has no other: the file's name, and where in it.

        >>> Origin("acts/train.tsv.gz", 12).id
        'train:12'
        """
        number = self.line or self.entry
        return f"{stem(self.file)}:{number}" if number else stem(self.file)


Item = tuple[Origin, Document | InputError]
"""What a reader of a format yields: a document, or what is wrong with the record in its place."""


def extension(name: str | Path) -> str:
    """The ending that tells the format, in lower case, without that of the compression.

    >>> extension("train.JSONL.xz")
    '.jsonl'
    """
    path = PurePath(name)
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    return path.suffix.lower()


def stem(name: str | Path) -> str:
    """The file's name without its endings: the id of a document that has no other.

    >>> stem("acts/32001R0001.html.gz")
    '32001R0001'
    """
    path = PurePath(name)
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    return path.stem


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """A file for reading, decompressed where its content is gzip or xz, whatever its name."""
    try:
        file = path.open("rb", buffering=1 << 16)
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", file=path) from error
    with file:
        yield decompressed(file, path)


def decompressed(stream: BinaryIO, name: str | Path) -> io.BufferedReader:
    """The stream with its gzip or xz compression undone, told by its first bytes."""
    buffered = (
        stream
        if isinstance(stream, io.BufferedReader)
        else io.BufferedReader(cast(Any, stream), 1 << 16)
    )
    magic = buffered.peek(6)
    if magic.startswith(b"\x1f\x8b"):
        return io.BufferedReader(cast(Any, gzip.GzipFile(fileobj=buffered)), 1 << 16)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return io.BufferedReader(cast(Any, lzma.LZMAFile(buffered)), 1 << 16)
    if extension(name) != PurePath(name).suffix.lower() and magic:
        raise InputError(
            "not compressed: its name says that it is, its content does not", file=name
        )
    return buffered


@contextmanager
def archive_errors(origin: Origin) -> Iterator[None]:
    """Say in plain words that a compressed file is cut or damaged."""
    try:
        yield
    except EOFError as error:
        after = f" after line {origin.line}" if origin.line else ""
        raise InputError(
            f"truncated archive: it ends{after} before its end mark; copy or download it again",
            file=origin.file,
        ) from error
    except (lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        after = f" after line {origin.line}" if origin.line else ""
        raise InputError(
            f"damaged archive: it cannot be unpacked{after} ({error}); copy or download it again",
            file=origin.file,
        ) from error


def sample(stream: io.BufferedReader, name: str | Path) -> bytes:
    """The first bytes, without taking them from the stream."""
    with archive_errors(Origin(name)):
        return stream.peek(4096)[:4096]


def whole(stream: io.BufferedReader, name: str | Path) -> bytes:
    """All of a stream, within a bound where it is unpacked."""
    most = _most(stream)
    with archive_errors(Origin(name)):
        data = stream.read() if most is None else stream.read(most + 1)
    if most is not None and len(data) > most:
        raise _too_large(Origin(name))
    return data


def _most(stream: io.BufferedReader) -> int | None:
    """The most bytes to take at once; None where the file itself is as large."""
    return MOST_UNPACKED if is_packed(stream) else None


def is_packed(stream: io.BufferedReader) -> bool:
    """Whether what is read is unpacked on the way."""
    return isinstance(stream.raw, gzip.GzipFile | lzma.LZMAFile)


def _too_large(origin: Origin) -> InputError:
    return origin.error(
        f"too large: unpacked it has more than {MOST_UNPACKED:,} bytes, which no act has; "
        "unpack it, and look what it is"
    )


def lines(stream: io.BufferedReader, name: str | Path) -> Iterator[tuple[Origin, bytes]]:
    """The lines with their places, numbered from 1, without a byte order mark."""
    number = 0
    most = _most(stream)
    while True:
        with archive_errors(Origin(name, number)):
            line = stream.readline() if most is None else stream.readline(most + 1)
        if not line:
            return
        number += 1
        if most is not None and len(line) > most:
            raise _too_large(Origin(name, number))
        yield Origin(name, number), line.removeprefix(BOM) if number == 1 else line


def decode(data: bytes, origin: Origin) -> str:
    """The text of UTF-8 bytes; the error names the first byte that is not."""
    try:
        return data.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = origin.line if origin.line is not None else before.count(b"\n") + 1
        column = error.start - before.rfind(b"\n")
        raise Origin(origin.file, line).error(
            f"wrong encoding: byte {column} of the line is 0x{data[error.start]:02X}, "
            "which is not UTF-8; save the file as UTF-8"
        ) from error
