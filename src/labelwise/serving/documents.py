"""From what a client sends to documents, and what is known about their length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from labelwise.corpus.document import Document, Section
from labelwise.serving.limits import Limits
from labelwise.serving.models import overloaded
from labelwise.serving.problems import ProblemError
from labelwise.serving.reading import Readers, ReadingProcess
from labelwise.serving.shapes import DocumentText
from labelwise.serving.work import FullError
from labelwise.text.language import language_of

T = TypeVar("T")

SHORT = 20_000
"""Characters that are split in a fraction of a second: they do not wait behind files."""


@dataclass(frozen=True)
class Read:
    """A document and how many words each of its sections has, marks of punctuation counted too."""

    document: Document
    words: tuple[int, ...]

    @cached_property
    def total(self) -> int:
        """None where marks are all there is."""
        return sum(self.words) if self.document.has_words else 0

    @cached_property
    def language(self) -> str | None:
        """What language it seems to be in. A look takes a millisecond or two."""
        return language_of(self.document.text)


class Reader:
    """Splits texts and counts their words, never in this process: an expression that takes long
    would hold everybody's answers. Short texts have a process of their own."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        waiting, timeout = limits.readings, limits.timeout
        self._short = Readers("reads-short", 1, limit=limits.requests, timeout=timeout)
        self._long = Readers("reads", limits.readers, limit=waiting, timeout=timeout)

    async def start(self) -> None:
        """Ready for short texts; the processes for long ones begin meanwhile."""
        await asyncio.gather(*self._short.start())
        self._long.start()

    async def read(self, given: Sequence[DocumentText]) -> list[Read]:
        """The documents of a request. A text is split like a text file, so that it scores the
        same."""
        short = sum(_size(one) for one in given) <= SHORT
        several = len(given) > 1

        def all_of_them(process: ReadingProcess) -> list[Read]:
            found = [
                _read(one, process, f"documents[{place}]." if several else "")
                for place, one in enumerate(given)
            ]
            for one in found:
                _ = one.language  # here, and not on the thread that serves everybody
            return found

        return await self._run(self._short if short else self._long, all_of_them)

    async def upload(self, data: bytes, name: str) -> tuple[list[Read], bool]:
        """At most so many documents of a file as a request may hold, and whether it has more."""
        limits = self._limits
        found = await self._run(
            self._long,
            lambda process: process.upload(
                data, name, most=limits.max_documents, limit=limits.max_body
            ),
        )
        return [_written(one) for one in found["documents"]], found["more"]

    async def _run(self, readers: Readers, function: Callable[[ReadingProcess], T]) -> T:
        try:
            future = readers.submit(function)
        except FullError as full:
            raise overloaded(full.seconds) from full
        return await future

    def close(self) -> None:
        self._short.close()
        self._long.close()


def _size(given: DocumentText) -> int:
    if given.text is not None:
        return len(given.text)
    return sum(len(section.text) for section in given.sections or ())


def _read(given: DocumentText, process: ReadingProcess, place: str) -> Read:
    """The document that was sent; ``place`` is where in the request it stands."""
    if given.text is None:
        sections = tuple(
            Section(one.kind, one.text) for one in given.sections or () if one.text.strip()
        )
        words = process.words([section.text for section in sections])
        return Read(Document(given.id, given.title, sections), tuple(words))
    try:
        found = _written(process.text(given.text)["documents"][0])
    except ProblemError as error:
        if not place:
            raise
        problem = error.problem
        raise ProblemError(
            problem.status,
            problem.type.rpartition(":")[2],
            f"{place}{problem.detail}",
            field=f"{place}{problem.field}",
        ) from error
    title = given.title or found.document.title
    return Read(Document(given.id, title, found.document.sections), found.words)


def _written(found: dict[str, Any]) -> Read:
    """A document as the reading process writes it."""
    sections = tuple(Section(kind, text) for kind, text in found["sections"])
    document = Document(found["id"], found["title"], sections, tuple(found["labels"]))
    return Read(document, tuple(found["words"]))
