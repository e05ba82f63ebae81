"""Fetches acts and their EUROVOC concepts from Cellar: one JSON Lines file a year, for ``--more``.

A file is written beside its place and put there whole. While a year is fetched, its new acts are
appended to ``.YEAR.part``, a line each; when the year ends, by an error or an interruption too,
they join ``YEAR.jsonl``. After a kill they do so at the start of the next call. An act that is in
the folder is not fetched again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from labelwise.corpus.cellar_service import (
    TYPES,
    Act,
    NoTextError,
    Service,
    acts_of,
    text_of,
)
from labelwise.corpus.document import Document
from labelwise.corpus.download import DownloadError
from labelwise.corpus.eurlex57k import record
from labelwise.corpus.polite import Polite
from labelwise.corpus.sources import Origin, lines, opened
from labelwise.errors import InputError, LabelwiseError
from labelwise.files import write_whole
from labelwise.progress import bar

SERVICE = Service()
EARLIEST = 1950


@dataclass
class Year:
    """What came of a year: how many acts, and which of them were left out."""

    year: int
    listed: int = 0
    there: int = 0
    """Acts that were in the folder already."""
    fetched: int = 0
    no_text: dict[str, str] = field(default_factory=dict)
    """Why there is no English text, by CELEX number."""
    no_concepts: list[str] = field(default_factory=list)
    """CELEX numbers of acts that Cellar knows no EUROVOC concept of."""


def fetch_cellar(
    folder: Path,
    first: int,
    last: int,
    *,
    types: Sequence[str] = TYPES,
    rate: float = 1.0,
    limit: int | None = None,
    service: Service | None = None,
    polite: Polite | None = None,
) -> list[Year]:
    """Put the acts dated ``first`` to ``last`` into the folder; says what became of each year.

    Acts without concepts teach nothing and are not fetched; those without English text cannot be.
    """
    _check(first, last, types)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabelwiseError(f"{folder}: cannot be used as a folder ({error.strerror})") from error
    for part in sorted(folder.glob(".[0-9]*.part")):  # of a call that was killed
        _join(folder / f"{part.stem[1:]}.jsonl", part)
    there = {id for path in sorted(folder.glob("*.jsonl")) for id, _ in _records(path)}
    fetching = _Fetching(folder, service or SERVICE, polite or Polite(rate), there, limit)
    years = []
    for number in range(first, last + 1):
        if fetching.left == 0:
            break
        years.append(fetching.year(number, types))
    return years


def _check(first: int, last: int, types: Sequence[str]) -> None:
    if not EARLIEST <= first <= last <= 2100:
        raise LabelwiseError(
            f"--from {first} --to {last} are no years from one to a later one: give such as "
            "--from 2016 --to 2026"
        )
    for one in types:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", one):
            raise LabelwiseError(
                f"'{one}' is no resource type of the Publications Office; they are written like "
                f"{', '.join(TYPES[:4])}"
            )


@dataclass
class _Fetching:
    """A call: where acts come from and go to, which are there, and how many more may come."""

    folder: Path
    service: Service
    polite: Polite
    there: set[str]
    left: int | None
    """None: all of them."""

    def year(self, number: int, types: Sequence[str]) -> Year:
        """Fetch the acts of a year; what came is in its file, however this ends."""
        year, part = Year(number), self.folder / f".{number}.part"
        try:
            with bar(f"Fetching {number}") as advance:
                for act in acts_of(number, types, self.service, self.polite):
                    if self.left == 0:
                        break
                    year.listed += 1
                    self._act(act, year, part)
                    advance(1)
        except DownloadError as error:
            raise LabelwiseError(
                f"{number} could not be fetched whole ({error}); new acts of it in {self.folder}: "
                f"{year.fetched:,}; run the same command again, and it goes on from there"
            ) from error
        finally:
            _join(self.folder / f"{number}.jsonl", part)
        return year

    def _act(self, act: Act, year: Year, part: Path) -> None:
        if act.celex_id in self.there:
            year.there += 1
        elif not act.concepts:
            year.no_concepts.append(act.celex_id)
        elif not act.in_english:
            year.no_text[act.celex_id] = "Cellar has no English version"
        else:
            try:
                document = text_of(act.celex_id, self.service, self.polite)
            except NoTextError as error:
                year.no_text[act.celex_id] = str(error)
                return
            _append(part, _record(act, document, self.service))
            self.there.add(act.celex_id)
            year.fetched += 1
            self.left = None if self.left is None else self.left - 1


def _record(act: Act, document: Document, service: Service) -> dict[str, Any]:
    """The act with the keys of EURLEX57K, so that its zones stay what they are."""
    return record(replace(document, id=act.celex_id, labels=act.concepts)) | {
        "date": act.date,
        "title": act.title or document.title,
        "source": service.content + act.celex_id,
    }


# Files ------------------------------------------------------------------------------------------


def _append(part: Path, record: dict[str, Any]) -> None:
    try:
        with part.open("ab") as stream:
            stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    except OSError as error:
        raise LabelwiseError(f"{part}: cannot be written ({error.strerror})") from error


def _join(path: Path, part: Path) -> None:
    """Put the acts of ``part`` among those of the year's file."""
    if not part.exists():
        return
    found = dict(_records(path)) if path.exists() else {}
    found |= dict(_records(part))
    if found:
        write_whole(path, b"".join(line for _, line in sorted(found.items())))
    part.unlink()


def _records(path: Path) -> Iterator[tuple[str, bytes]]:
    """The ids and the lines of a file; a line without an end was cut by a kill and is no act."""
    with opened(path) as stream:
        for origin, line in lines(stream, path):
            if line.endswith(b"\n"):
                yield _id(line, origin), line


def _id(line: bytes, origin: Origin) -> str:
    try:
        return str(json.loads(line)["celex_id"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "this is no act that was fetched; move the file away, or give another --out",
            file=origin.file,
            line=origin.line,
        ) from error
