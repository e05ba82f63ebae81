"""Acts by their names from the Publications Office, where whoever runs the service allows it.

One act is fetched at a time, by a thread of its own; the files that come are read in a process of
their own, as those that people send.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from labelwise.corpus import cellar
from labelwise.corpus.document import Document, Section
from labelwise.corpus.download import DownloadError
from labelwise.corpus.named_act import UnknownActError, asked_once, fetch_act, named_act
from labelwise.errors import InputError, LabelwiseError
from labelwise.serving.documents import Read
from labelwise.serving.limits import Limits
from labelwise.serving.models import overloaded
from labelwise.serving.problems import ProblemError
from labelwise.serving.reading import ReadingProcess
from labelwise.serving.work import FullError, Tasks
from labelwise.text.tokenizer import words

WAITING = 8
"""Acts that may wait to be fetched."""


def allowed_hosts(named: Sequence[str]) -> frozenset[str]:
    """The hosts that may be asked; without the content service among them, nothing can be."""
    needed = urlsplit(cellar.SERVICE.content).hostname
    if needed not in named:
        raise LabelwiseError(
            f"--fetch-from must name {needed}, whose content service has the acts; name others "
            "besides where its answers lead to them"
        )
    return frozenset(named)


class Fetcher:
    """Fetches from these hosts alone."""

    def __init__(self, hosts: frozenset[str], limits: Limits) -> None:
        self._polite = replace(asked_once(), hosts=hosts)
        self._limits = limits
        self._process = ReadingProcess(limits.timeout)
        self._tasks = Tasks("fetches", WAITING)

    async def act(self, given: str) -> Read:
        """The act that is named; a problem where there is none or it cannot be had."""
        try:
            celex = named_act(given)
        except UnknownActError as error:
            raise _invalid(error.problem) from error
        if celex is None:
            raise _invalid("is no CELEX number, no ELI and no address of EUR-Lex")
        try:
            future: asyncio.Future[Read] = self._tasks.submit(lambda: self._fetched(celex))
        except FullError as full:
            raise overloaded(full.seconds) from full
        try:
            return await future
        except UnknownActError as error:
            raise ProblemError(404, "unknown-act", str(error), field="act") from error
        except DownloadError as error:
            raise ProblemError(
                502,
                "unreachable",
                f"{celex} could not be fetched from the Publications Office: send its file, or "
                "try again later",
                field="act",
            ) from error

    def _fetched(self, celex: str) -> Read:
        document = fetch_act(celex, self._polite, read=self._read)
        return Read(document, tuple(len(words(one.text)) for one in document.sections))

    def _read(self, data: bytes, name: str) -> list[Document]:
        try:
            found = self._process.upload(data, name, most=1, limit=self._limits.max_body)
        except ProblemError as error:
            raise InputError(error.problem.detail, file=name) from error
        return [
            Document(one["id"], one["title"], tuple(Section(*part) for part in one["sections"]))
            for one in found["documents"]
        ]

    def close(self) -> None:
        self._tasks.close()
        self._process.close()


def _invalid(problem: str) -> ProblemError:
    return ProblemError(422, "invalid", f"act: what was given {problem}", field="act")
