"""Documents from files, folders and standard input, a batch at a time."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labelwise.errors import InputError, LabelwiseError
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.corpus.document import Document
    from labelwise.corpus.polite import Polite
    from labelwise.corpus.skipped import Skipped


def read_inputs(paths: Sequence[Path], *, skip_bad: bool) -> Iterator[Document]:
    """The documents of all paths in order; ``-`` is standard input. What is no file and names an
    act is fetched."""
    from labelwise.corpus.named_act import asked_once, named_act
    from labelwise.corpus.readers import read_stream
    from labelwise.corpus.skipped import Skipped

    skipped = Skipped() if skip_bad else None
    polite = asked_once()
    count = 0
    for path in paths:
        if str(path) == "-":
            documents = read_stream(sys.stdin.buffer, skipped=skipped)
        elif not os.path.lexists(path) and (celex := named_act(_typed(path))) is not None:
            documents = _fetched(celex, polite, skipped)
        else:
            documents = _read(path, skipped)
        for document in documents:
            count += 1
            yield document
    if skipped and skipped.count:
        note(skipped.summary())
    if not count:
        names = ", ".join("standard input" if str(path) == "-" else str(path) for path in paths)
        raise LabelwiseError(f"no document was read from {names}")


def check_inputs(paths: Sequence[Path]) -> None:
    """Say which of these is not there, before a model is loaded for seconds."""
    from labelwise.corpus.named_act import named_act

    for path in paths:
        if str(path) != "-" and not os.path.lexists(path) and named_act(_typed(path)) is None:
            raise InputError(
                "only addresses of EUR-Lex that name an act are fetched: save the page, and give "
                "the file"
                if "://" in _typed(path)
                else "there is no such file or folder",
                file=_typed(path),
            )


def _typed(path: Path) -> str:
    """An address as it was typed: a path has lost one of its slashes."""
    return re.sub(r"^(https?:)/+", r"\1//", str(path))


def _read(path: Path, skipped: Skipped | None) -> Iterator[Document]:
    from labelwise.corpus.readers import read

    try:
        yield from read(path, skipped=skipped)
    except InputError as error:  # of the path itself: it is not there, or an empty folder
        if skipped is None:
            raise
        skipped.record(error)


def _fetched(celex: str, polite: Polite, skipped: Skipped | None) -> Iterator[Document]:
    from labelwise.corpus.named_act import UnknownActError, fetch_act

    note(f"{celex} is fetched from the Publications Office")
    try:
        yield fetch_act(celex, polite)
    except UnknownActError as error:
        if skipped is None:
            raise
        skipped.record(error)
