"""Reading what strangers send, in a process of its own.

A file made to be slow can hold a parser, and with it the whole interpreter, for hours, and one made
to be large can fill the memory. Here it holds a small process alone, which is ended when its time
is up and started again for the next file. It gets bytes and gives text; nothing it is sent is run.

Parent and child speak over pipes: a line of JSON that says how many bytes follow, and the bytes.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from labelwise.corpus.document import Document
from labelwise.corpus.plain_text import split_act
from labelwise.serving.problems import ProblemError
from labelwise.serving.uploads import read_upload
from labelwise.text.tokenizer import words

PROGRAM = (sys.executable, "-m", "labelwise.serving.reading")

MEMORY = 4 << 30
"""Bytes of address space that the process may take, libraries included."""


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

    def _ask(self, question: dict[str, Any], data: bytes) -> dict[str, Any]:
        process = self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        end = threading.Timer(self._timeout, process.kill)
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
        """The process, begun anew where there is none: it takes a second."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                PROGRAM,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        return self._process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


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
        if question["do"] == "text":
            title, sections = split_act(data.decode())
            documents, more = [Document("", title, sections)], False
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


def words_of(document: Document) -> tuple[int, ...]:
    """How many words each section has."""
    return tuple(len(words(section.text)) for section in document.sections)


def _written(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "labels": document.labels,
        "sections": [[section.kind, section.text] for section in document.sections],
        "words": words_of(document),
    }


def main(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the parent has ended. Signals to the group are the parent's to handle."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while (message := _receive(asked)) is not None:
        _send(answers, {}, json.dumps(answered(*message)).encode())


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main(sys.stdin.buffer, sys.stdout.buffer)
