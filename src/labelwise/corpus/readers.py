"""Reading documents from a file, a folder or a stream, in a format told by content and name.

| format | what it is |
| --- | --- |
| ``eurlex57k`` | JSON Lines, a JSON file, or a folder of JSON files (see ``eurlex57k``) |
| ``tsv`` | id, labels and text with tabs between (see ``tsv``) |
| ``annif`` | Annif's TSV, CSV, JSON, and subjects beside texts (see ``annif``) |
| ``text`` | one plain text a file |
| ``html`` | one EUR-Lex page a file (see ``eurlex_html``) |
| ``formex`` | one Formex 4 file (see ``formex``) |
| ``parquet`` | a row a document (see ``parquet``) |
| ``pdf``, ``docx``, ``odt``, ``epub`` | one printed or office file (see the modules of that name) |

Any of them may be compressed (gzip, xz). A folder is read with its sub-folders, in the order
of the paths; files whose name begins with a dot are left alone.
"""

from __future__ import annotations

import codecs
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from labelwise import files
from labelwise.corpus import annif, eurlex57k
from labelwise.corpus.document import Document
from labelwise.corpus.json_records import JSON_FORMATS, Build, read_json
from labelwise.corpus.parquet import MAGIC as PARQUET
from labelwise.corpus.parquet import read_parquet
from labelwise.corpus.patience import patience
from labelwise.corpus.skipped import Skipped
from labelwise.corpus.sources import (
    BOM,
    Item,
    Origin,
    decompressed,
    extension,
    opened,
    sample,
    stem,
    whole,
)
from labelwise.corpus.tsv import is_header, read_tsv
from labelwise.errors import InputError, LabelwiseError
from labelwise.files import HALF

_ONE_A_FILE = {
    "text": ("plain_text", "parse_text"),
    "html": ("eurlex_html", "parse_html"),
    "formex": ("formex", "parse_formex"),
    "pdf": ("pdf", "parse_pdf"),
    "docx": ("docx", "parse_docx"),
    "odt": ("odt", "parse_odt"),
    "epub": ("epub", "parse_epub"),
}
"""Formats of which a file is one document: the module, and its function of bytes and name."""

FORMATS = ("eurlex57k", "tsv", "annif", "parquet", *_ONE_A_FILE)
_MARKUP = (".html", ".htm", ".xhtml", ".xml")

# What may stand before the root element: declarations and comments.
_ROOT = re.compile(
    rb"(?:\s|<\?.*?\?>|<!--.*?-->|(?i:<!DOCTYPE)[^>\[]*(?:\[.*?\]\s*)?>)*+<([\w.-]+(?::[\w.-]+)?)[\s/>]",
    re.S,
)
_JSON_START = re.compile(rb'\{\s*["}]|\{\s*$|\[\s*[{\]]|\[\s*$')
_URI = re.compile(rb"<?\w+://")
_ZIP = b"PK\x03\x04"
# The first part of an ODT or EPUB says what it is, unpacked and at the same place in every file.
_MIMETYPES = (
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "odt"),
    (b"mimetypeapplication/epub+zip", "epub"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read(
    path: str | Path,
    *,
    skipped: Skipped | None = None,
    format: str | None = None,
    gold: bool = False,
    repeats: bool = False,
) -> Iterator[Document]:
    """The documents of a file or a folder, one by one.

    A bad record raises an InputError; with ``skipped`` it is recorded there and reading goes on.
    With ``gold`` a record in the keys of EURLEX57K is bad that does not say its labels. One whose
    id was read before is bad too, unless it is the caller who looks for ``repeats``.
    """
    if not (isinstance(path, os.PathLike) or (isinstance(path, str) and path)):
        raise InputError(f"a file or a folder is named by a text or a Path, not by {path!r}")
    path, format = Path(path), _known(format)
    if path.is_dir():
        files = document_files(path)
    elif path.exists():
        files = [path]
    else:
        raise InputError("there is no such file or folder", file=path)
    sources = ((file, opened(file)) for file in files)
    return _documents(sources, format, skipped, str(path), gold=gold, repeats=repeats)


def read_stream(
    stream: BinaryIO,
    name: str = "standard input",
    *,
    skipped: Skipped | None = None,
    format: str | None = None,
) -> Iterator[Document]:
    """The documents of a stream, such as standard input."""
    return _documents(
        [(name, nullcontext(decompressed(stream, name)))], _known(format), skipped, name
    )


def document_files(folder: Path) -> list[Path]:
    """The files of a folder that hold documents, in the order of their paths."""
    found = sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )
    if not found:
        raise InputError("the folder holds no files", file=folder)
    texts = {
        path.with_name(stem(path)) for path in found if extension(path) not in (".tsv", ".key")
    }
    return [
        path
        for path in found
        if path.suffix not in (".tsv", ".key") or path.with_suffix("") not in texts
    ]


def _known(format: str | None) -> str | None:
    if format is not None and format not in FORMATS:
        raise LabelwiseError(f"'{format}' is not a format; choose among {', '.join(FORMATS)}")
    return format


def _documents(
    sources: Iterable[tuple[str | Path, AbstractContextManager[io.BufferedReader]]],
    format: str | None,
    skipped: Skipped | None,
    name: str,
    *,
    gold: bool = False,
    repeats: bool = False,
) -> Iterator[Document]:
    seen: dict[str, Origin] = {}
    bad = 0
    for file, source in sources:
        try:
            with source as stream:
                for origin, item in items(stream, file, format, gold=gold):
                    document = _unless_seen(item, origin, seen, repeats=repeats)
                    if isinstance(document, Document):
                        yield document
                    elif skipped is None:
                        raise document
                    else:
                        skipped.record(document)
                        bad += 1
        except Exception as error:  # of the file as a whole: the next one may be good
            if skipped is None and isinstance(error, LabelwiseError):
                raise
            fault = error if isinstance(error, InputError) else fault_of(error, file)
            if skipped is None:
                raise fault from error
            skipped.record(fault)
            bad += 1
    if not seen and not bad:
        raise InputError("nothing to read: it holds no document", file=name)


def fault_of(error: Exception, file: str | Path) -> InputError:
    """What is wrong with a file that its reader did not foresee: the other files are read."""
    match error:
        case OSError():
            problem = f"cannot be read: {error.strerror or error}"
        case LabelwiseError():  # such as an extra that is not installed
            problem = str(error)
        case RecursionError() | MemoryError():
            problem = "is nested too deeply or too large to be read"
        case _:
            what = f"{type(error).__name__}: {error}"[:200]
            problem = f"cannot be read (its reader failed, which is worth a report: {what})"
    return InputError(problem, file=file)


def _unless_seen(
    item: Document | InputError, origin: Origin, seen: dict[str, Origin], *, repeats: bool
) -> Document | InputError:
    if isinstance(item, Document):
        if not is_whole(item):
            return origin.error(HALF)
        if item.id in seen and not repeats:
            first = seen[item.id]
            where = str(first.file) if first.file != origin.file else f"line {first.line}"
            return origin.error(f"duplicate id: '{item.id}' was read before, from {where}")
        seen[item.id] = origin
    return item


def is_whole(document: Document) -> bool:
    """Whether all of a document can be written down: text in memory may hold half a character."""
    texts = (document.id, document.title, *document.labels, *(x.text for x in document.sections))
    return files.is_whole(*texts)


def items(
    stream: io.BufferedReader, file: str | Path, format: str | None = None, *, gold: bool = False
) -> Iterator[Item]:
    """What one file holds, in its order: documents, and what is wrong with the other records."""
    start = sample(stream, file)
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # it begins with UTF-16's
        start = start.decode("utf-32", errors="ignore").encode()
    elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        start = start.decode("utf-16", errors="ignore").encode()
    start = start.removeprefix(BOM).lstrip()
    if not start:
        raise InputError("empty file: there is nothing to read", file=file)
    build = {"eurlex57k": eurlex57k.document, "annif": annif.json_document}.get(
        format or "", json_document
    )
    if gold and format != "annif":
        build = partial(_with_gold, build)
    if format is None:
        format = detect(start, file)
    if format in _ONE_A_FILE:
        return iter([(Origin(file), _one_document(stream, file, format))])
    if format == "tsv":
        return read_tsv(stream, file)
    if format == "parquet":
        return read_parquet(stream, file, build)
    if _is_json(start, file):
        return read_json(stream, file, build)
    if format == "eurlex57k":
        raise InputError("broken JSON: it does not begin with a bracket or a brace", file=file)
    if _is_csv(start, file):
        return annif.read_annif_csv(stream, file)
    return annif.read_annif_tsv(stream, file)


def detect(start: bytes, file: str | Path) -> str:
    """The format of a file from its first bytes (white space stripped) and its name."""
    ending = extension(file)
    if start.startswith(b"%PDF"):
        return "pdf"
    if start.startswith(PARQUET):
        return "parquet"
    if start.startswith(_ZIP):
        named = ending[1:] if ending in {".odt", ".epub"} else "docx"
        return next((format for mark, format in _MIMETYPES if start.startswith(mark, 30)), named)
    if start.startswith(_OLD_OFFICE):
        raise InputError(
            "is an office file of the old kind, or one with a password: save it as DOCX or ODT, "
            "without a password",
            file=file,
        )
    if _is_json(start, file):
        return (
            "eurlex57k" if any(f'"{key}"'.encode() in start for key in eurlex57k.KEYS) else "annif"
        )
    if _is_csv(start, file):
        return "annif"
    if root := _ROOT.match(start):
        return _markup(root[1].decode(errors="replace"))
    if ending in _MARKUP or start[:9].lower() == b"<!doctype":
        return "html"
    if ending == ".key":
        raise InputError(
            "a .key file holds the subjects of a .txt file, which is missing", file=file
        )
    rows = [row.split(b"\t") for row in start.split(b"\n")]
    if any(len(row) == 2 and _URI.match(row[1].strip()) for row in rows):
        return "annif"
    if ending == ".tsv" or is_header([field.decode(errors="replace") for field in rows[0]]):
        return "tsv"
    if b"\0" in start:
        raise InputError("not a text: it holds zero bytes", file=file)
    return "text"


def _markup(root: str) -> str:
    """Formex writes its elements in capitals; so did old HTML, which begins with these few."""
    old_html = {"HTML", "HEAD", "BODY", "TITLE", "META", "P", "DIV", "TABLE", "A", "H1", "CENTER"}
    return "formex" if root.isupper() and root not in old_html else "html"


def _is_json(start: bytes, file: str | Path) -> bool:
    return extension(file) in JSON_FORMATS or _JSON_START.match(start) is not None


def _is_csv(start: bytes, file: str | Path) -> bool:
    if extension(file) == ".csv":
        return True
    header = {name.strip(b' "\r') for name in start.split(b"\n", 1)[0].split(b",")}
    return {b"text", b"subject_uris"} <= header


def json_document(record: dict[str, Any], origin: Origin) -> Document:
    """The document of a record with the keys of EURLEX57K or of Annif."""
    if any(key in record for key in eurlex57k.KEYS):
        return eurlex57k.document(record, origin)
    if "text" in record:
        return annif.json_document(record, origin)
    raise origin.error("missing key: a document needs a 'celex_id' or a 'text'", "celex_id")


def _with_gold(build: Build, record: dict[str, Any], origin: Origin) -> Document:
    document = build(record, origin)
    if any(key in record for key in eurlex57k.KEYS):
        eurlex57k.check_gold(record, origin)
    return document


def _one_document(stream: io.BufferedReader, file: str | Path, format: str) -> Document:
    data = whole(stream, file)
    module, function = _ONE_A_FILE[format]
    parse: Callable[[bytes, str], Document] = getattr(
        import_module(f"labelwise.corpus.{module}"), function
    )
    with patience(len(data), Origin(file)):
        document = parse(data, str(file))
    beside = annif.subjects_file(file) if isinstance(file, Path) else None
    labels = annif.read_subjects(beside) if beside else document.labels
    return replace(document, labels=labels)
