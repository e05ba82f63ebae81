"""Files that clients send: unpacked within bounds, read in memory, never written."""

from __future__ import annotations

import io
import lzma
import re
import zlib
from itertools import islice

from labelwise.corpus.document import Document
from labelwise.corpus.readers import read_stream
from labelwise.corpus.sources import COMPRESSED
from labelwise.errors import InputError, MissingExtraError
from labelwise.serving.problems import ProblemError

PIECE = 1 << 16
XZ_MEMORY = 1 << 27
"""Bytes that unpacking an xz file may take for its dictionary: 128 MB, twice the largest preset."""


def read_upload(data: bytes, name: str, *, most: int, limit: int) -> tuple[list[Document], bool]:
    """At most so many documents of a file, and whether it holds more.

    ``limit`` bounds the size of the file after unpacking.
    """
    shown = _safe(name)
    for ending in COMPRESSED:
        shown = shown.removesuffix(ending)
    stream = io.BytesIO(_unpacked(data, limit))
    try:
        documents = list(islice(read_stream(stream, shown), most + 1))
    except InputError as error:
        raise ProblemError(422, "unreadable-file", _sentence(error), field="file") from error
    except MissingExtraError as error:
        raise ProblemError(
            422,
            "unreadable-file",
            "this service was installed without what reads such files: send text or HTML",
            field="file",
        ) from error
    except (RecursionError, MemoryError) as error:
        raise ProblemError(
            422, "unreadable-file", "the file is nested too deeply or too large", field="file"
        ) from error
    return documents[:most], len(documents) > most


def _safe(name: str) -> str:
    """The last part of a name, without anything but plain characters: it tells the format, and
    names a document that has no other id.

    >>> _safe("../../etc/act 1.html"), _safe("C:\\\\acts\\\\32001R0001.xml")
    ('act 1.html', '32001R0001.xml')
    """
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w. ()+-]", "_", last)[-100:].strip(". ") or "file"


def _sentence(error: InputError) -> str:
    """The problem with line and field, as the readers say it."""
    where = [f"line {error.line}"] if error.line is not None else []
    where += [f"field '{error.field}'"] if error.field is not None else []
    return f"{', '.join(where)}: {error.problem}" if where else f"the file {_verb(error.problem)}"


def _verb(problem: str) -> str:
    """Problems begin with a verb ("holds no text") or are a phrase ("broken JSON: ...")."""
    first = problem.split(" ", 1)[0]
    return problem if first in {"is", "holds", "only", "declares"} else f"cannot be read: {problem}"


def _unpacked(data: bytes, limit: int) -> bytes:
    """The content of a gzip or xz file, however often it is wrapped, up to the limit."""
    for _ in range(3):
        if data.startswith(b"\x1f\x8b"):
            data = _inflate(data, limit)
        elif data.startswith(b"\xfd7zXZ\x00"):
            data = _unxz(data, limit)
        else:
            return data
    raise ProblemError(
        422, "unreadable-file", "the file is compressed more than twice", field="file"
    )


def _inflate(data: bytes, limit: int) -> bytes:
    """All members of a gzip file."""
    out = bytearray()
    try:
        while data.startswith(b"\x1f\x8b"):
            unpack = zlib.decompressobj(wbits=31)
            while not unpack.eof:
                if not data:
                    raise _damaged("it is cut off")
                out += unpack.decompress(data, limit + 1 - len(out))
                if len(out) > limit:
                    raise _too_large(limit)
                data = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
    except zlib.error as error:
        raise _damaged(str(error)) from error
    return bytes(out)


def _unxz(data: bytes, limit: int) -> bytes:
    """All streams of an xz file."""
    out = bytearray()
    try:
        while data.startswith(b"\xfd7zXZ\x00"):
            unpack = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
            while not unpack.eof:
                if unpack.needs_input and not data:
                    raise _damaged("it is cut off")
                out += unpack.decompress(data, min(PIECE, limit + 1 - len(out)))
                if len(out) > limit:
                    raise _too_large(limit)
                data = b""
            data = unpack.unused_data.lstrip(b"\0")
    except lzma.LZMAError as error:
        raise _damaged(str(error)) from error
    return bytes(out)


def _too_large(limit: int) -> ProblemError:
    return ProblemError(
        413,
        "too-large",
        f"the file holds more than {limit:,} bytes when it is unpacked",
        field="file",
    )


def _damaged(reason: str) -> ProblemError:
    return ProblemError(
        422,
        "unreadable-file",
        f"the compressed file cannot be unpacked ({reason}): pack or copy it again",
        field="file",
    )
