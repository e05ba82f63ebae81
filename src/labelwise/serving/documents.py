"""From what a client sends to documents, and what is known about their length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from labelwise.corpus.document import Document, Section
from labelwise.corpus.plain_text import split_act
from labelwise.serving.models import overloaded
from labelwise.serving.shapes import DocumentText
from labelwise.serving.work import FullError, Tasks
from labelwise.text.tokenizer import words

T = TypeVar("T")

SHORT = 50_000
"""Characters that are split in a few milliseconds; more would hold up everybody else."""


@dataclass(frozen=True, slots=True)
class Read:
    """A document and the words of each of its sections."""

    document: Document
    words: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.words)


def read(given: DocumentText) -> Read:
    """The document that was sent. A text is split like a text file, so that it scores the same."""
    if given.sections is None:
        title, sections = split_act(given.text or "")
        title = given.title or title
    else:
        title = given.title
        sections = tuple(Section(one.kind, one.text) for one in given.sections if one.text.strip())
    document = Document(given.id, title, sections)
    return Read(document, tuple(len(words(section.text)) for section in sections))


class Reader:
    """Splits texts: short ones at once, long ones and files on a thread."""

    def __init__(self, limit: int) -> None:
        self._tasks = Tasks("reads", limit)

    async def read(self, given: Sequence[DocumentText]) -> list[Read]:
        size = sum(
            len(one.text or "") + sum(len(section.text) for section in one.sections or ())
            for one in given
        )
        if size <= SHORT:
            return [read(one) for one in given]
        return await self.run(lambda: [read(one) for one in given])

    async def run(self, function: Callable[[], T]) -> T:
        try:
            future: asyncio.Future[T] = self._tasks.submit(function)
        except FullError as full:
            raise overloaded(full.seconds) from full
        return await future

    def close(self) -> None:
        self._tasks.close()
