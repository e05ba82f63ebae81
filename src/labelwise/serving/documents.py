"""From what a client sends to documents, and what is known about their length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from labelwise.corpus.document import Document, Section
from labelwise.corpus.plain_text import split_act
from labelwise.serving.limits import Limits
from labelwise.serving.models import overloaded
from labelwise.serving.reading import ReadingProcess, words_of
from labelwise.serving.shapes import DocumentText
from labelwise.serving.work import FullError, Tasks
from labelwise.text.language import language_of
from labelwise.text.tokenizer import PATTERN

T = TypeVar("T")

SHORT = 20_000
"""Characters that are split in a few milliseconds; more would hold up everybody else."""


@dataclass(frozen=True)
class Read:
    """A document and how many words it has."""

    document: Document
    counted: tuple[int, ...] | None = None
    """The words of each section, where they were counted elsewhere."""

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The words of each section. Counting takes a while, and not everybody wants to know."""
        return words_of(self.document) if self.counted is None else self.counted

    @property
    def total(self) -> int:
        return sum(self.words)

    @cached_property
    def language(self) -> str | None:
        """What language it seems to be in. A look takes a millisecond or two."""
        return language_of(self.document.text)

    @property
    def is_empty(self) -> bool:
        """Whether no section has a word."""
        return not any(PATTERN.search(section.text) for section in self.document.sections)


class Reader:
    """Splits texts: short ones at once, long ones and files in a process of their own."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process = ReadingProcess(limits.timeout)
        self._tasks = Tasks("reads", limits.readings)
        self._tasks.submit(self._process.start)  # so that the first who asks need not wait for it

    async def read(self, given: Sequence[DocumentText]) -> list[Read]:
        """The documents of a request. A text is split like a text file, so that it scores the
        same."""
        if sum(_size(one) for one in given) <= SHORT:
            return [_read(one, _split) for one in given]
        return await self._run(lambda: [_counted(_read(one, self._split_apart)) for one in given])

    async def upload(self, data: bytes, name: str) -> tuple[list[Read], bool]:
        """At most so many documents of a file as a request may hold, and whether it has more."""
        limits = self._limits
        found = await self._run(
            lambda: self._process.upload(
                data, name, most=limits.max_documents, limit=limits.max_body
            )
        )
        return [_written(one) for one in found["documents"]], found["more"]

    def _split_apart(self, text: str) -> Read:
        return _written(self._process.text(text)["documents"][0])

    async def _run(self, function: Callable[[], T]) -> T:
        try:
            future: asyncio.Future[T] = self._tasks.submit(function)
        except FullError as full:
            raise overloaded(full.seconds) from full
        return await future

    def close(self) -> None:
        self._tasks.close()
        self._process.close()


def _size(given: DocumentText) -> int:
    if given.text is not None:
        return len(given.text)
    return sum(len(section.text) for section in given.sections or ())


def _read(given: DocumentText, split: Callable[[str], Read]) -> Read:
    """The document that was sent, its text split in the way that suits its length."""
    if given.text is not None:
        found = split(given.text)
        title = given.title or found.document.title
        return Read(Document(given.id, title, found.document.sections), found.counted)
    sections = tuple(
        Section(one.kind, one.text) for one in given.sections or () if one.text.strip()
    )
    return Read(Document(given.id, given.title, sections))


def _counted(read: Read) -> Read:
    """With its words counted, here and not on the thread that serves everybody."""
    _ = read.words
    return read


def _split(text: str) -> Read:
    title, sections = split_act(text)
    return Read(Document("", title, sections))


def _written(found: dict[str, Any]) -> Read:
    """A document as the reading process writes it."""
    sections = tuple(Section(kind, text) for kind, text in found["sections"])
    document = Document(found["id"], found["title"], sections, tuple(found["labels"]))
    return Read(document, tuple(found["words"]))
