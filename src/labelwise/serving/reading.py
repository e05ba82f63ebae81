"""Reading what strangers send, in processes of their own.

A file made to be slow can hold a parser, and with it the whole interpreter, for hours, and one made
to be large can fill the memory. Here it holds a small process alone, which gives it up after a time
that its size allows. Where it cannot (it is within the parser), the system ends it, by the limits
of time and memory that it was given, and it is started again for the next file. It gets bytes and
gives text; nothing it is sent is run.

Parent and child speak over pipes: a line of JSON that says how many bytes follow, and the bytes.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from queue import SimpleQueue
from typing import Any, BinaryIO, TypeVar

from labelwise.corpus.document import Document
from labelwise.corpus.patience import patience, seconds_for
from labelwise.corpus.plain_text import split_act
from labelwise.corpus.sources import Origin
from labelwise.errors import InputError
from labelwise.serving.problems import ProblemError
from labelwise.serving.uploads import read_upload
from labelwise.serving.work import Tasks
from labelwise.text.tokenizer import words

T = TypeVar("T")

PROGRAM = (sys.executable, "-m", "labelwise.serving.reading")

MEMORY = 2 << 30
"""Bytes of address space that a process may take, libraries included."""

LATE = 3.0
"""How many times as long as a document is given the system waits before it ends the process, and
how many times as long again, by the clock on the wall, whoever asked waits on a busy machine."""


class ReadingProcess:
    """Asked by one thread."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None

    def upload(self, data: bytes, name: str, *, most: int, limit: int) -> dict[str, Any]:
        """The documents of a file, and whether it holds ``more``."""
        return self._ask({"do": "upload", "name": name, "most": most, "limit": limit}, data)

    def text(self, text: str) -> dict[str, Any]:
        """The sections of a text, as those of a text file."""
        return self._ask({"do": "text"}, text.encode())

    def words(self, texts: Sequence[str]) -> list[int]:
        """How many words each of these has."""
        data = [text.encode() for text in texts]
        found: list[int] = self._ask(
            {"do": "words", "lengths": [len(one) for one in data]}, b"".join(data)
        )["words"]
        return found

    def _ask(self, question: dict[str, Any], data: bytes) -> dict[str, Any]:
        process = self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        seconds = min(self._timeout, LATE * LATE * seconds_for(len(data)))
        end = threading.Timer(seconds, process.kill)
        end.start()
        answer = None
        try:
            _send(process.stdin, question, data)
            answer = _receive(process.stdout)
        except OSError:  # it is gone
            pass
        finally:
            end.cancel()
        if answer is None:
            self.close()
            raise ProblemError(
                422,
                "unreadable-file",
                "this takes too much time or memory to read: send it as plain text, or in parts",
                field="file" if question["do"] == "upload" else "text",
            )
        found: dict[str, Any] = json.loads(answer[1])
        if "problem" in found:
            raise ProblemError(**found["problem"])
        return found

    def start(self) -> subprocess.Popen[bytes]:
        """The process, begun anew where there is none, and ready to read: it takes a second, which
        is not taken from the time of what is read."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                PROGRAM,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert self._process.stdout is not None
            _receive(self._process.stdout)  # its greeting
        return self._process

    def kill(self) -> None:
        """End what it reads; whoever asked is told."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


class Readers:
    """Several reading processes behind one queue: a slow file holds one of them alone."""

    def __init__(self, name: str, count: int, *, limit: int, timeout: float) -> None:
        self._idle: SimpleQueue[ReadingProcess] = SimpleQueue()
        self._all = [ReadingProcess(timeout) for _ in range(count)]
        for one in self._all:
            self._idle.put(one)
        self._tasks = Tasks(name, limit, threads=count)

    def start(self) -> list[asyncio.Future[Any]]:
        """Begin all of them, so that the first who asks need not wait for one."""
        return [self.submit(ReadingProcess.start) for _ in self._all]

    def submit(self, function: Callable[[ReadingProcess], T]) -> asyncio.Future[T]:
        """Run a function with a process of its own; raises FullError where too many wait."""

        def run() -> T:
            process = self._idle.get()  # at once: there are as many as threads
            try:
                return function(process)
            finally:
                self._idle.put(process)

        return self._tasks.submit(run)

    def close(self) -> None:
        """All answers are given: what is still being read is for nobody."""
        for one in self._all:
            one.kill()
        self._tasks.close()
        for one in self._all:
            one.close()


def _send(stream: Any, head: dict[str, Any], data: bytes) -> None:
    stream.write(json.dumps({**head, "bytes": len(data)}).encode() + b"\n")
    stream.write(data)
    stream.flush()


def _receive(stream: Any) -> tuple[dict[str, Any], bytes] | None:
    """The next message; None where the other side has ended."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    head: dict[str, Any] = json.loads(line)
    data = stream.read(head["bytes"])
    return (head, data) if len(data) == head["bytes"] else None


def answered(question: dict[str, Any], data: bytes) -> dict[str, Any]:
    """What the process answers to a question."""
    try:
        if question["do"] == "words":
            return {"words": _words(question["lengths"], data)}
        if question["do"] == "text":
            documents, more = [_split(data.decode())], False
        else:
            documents, more = read_upload(
                data, question["name"], most=question["most"], limit=question["limit"]
            )
    except ProblemError as error:
        problem = error.problem
        kind = problem.type.rpartition(":")[2]
        return {
            "problem": {
                "status": problem.status,
                "kind": kind,
                "detail": problem.detail,
                "field": problem.field,
            }
        }
    return {"documents": [_written(one) for one in documents], "more": more}


def _split(text: str) -> Document:
    """The sections of a text, within its time."""
    try:
        with patience(len(text), Origin("text")):
            return Document("", *split_act(text))
    except InputError as error:
        what = error.problem
    except MemoryError:
        what = "takes too much memory to read: send it in parts"
    raise ProblemError(422, "unreadable-file", f"text: {what}", field="text")


def _words(lengths: list[int], data: bytes) -> list[int]:
    ends = list(accumulate(lengths, initial=0))
    return [len(words(data[start:end].decode())) for start, end in pairwise(ends)]


def _written(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "labels": document.labels,
        "sections": [[section.kind, section.text] for section in document.sections],
        "words": [len(words(section.text)) for section in document.sections],
    }


def main(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the parent has ended. Signals to the group are the parent's to handle."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    _limit("RLIMIT_AS", MEMORY)
    _send(answers, {}, b"ready")
    while (message := _receive(asked)) is not None:
        seconds = LATE * seconds_for(len(message[1]))
        _limit("RLIMIT_CPU", int(time.process_time() + seconds) + 1)
        answer = json.dumps(answered(*message), ensure_ascii=False)
        _send(answers, {}, answer.encode("utf-8", "replace"))


def _limit(name: str, most: int) -> None:
    """Ask the system, where it can, to end this process when it takes more than this."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        kind = getattr(resource, name)
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main(sys.stdin.buffer, sys.stdout.buffer)
