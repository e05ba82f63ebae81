"""Load on a web service: so many clients, each asking again as soon as it is answered."""

from __future__ import annotations

import http.client
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from labelwise.errors import LabelwiseError

BEGINNING = 900.0
"""Seconds for a service to begin, on however busy a machine."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: where, in which type, and how many documents it carries."""

    path: str
    body: bytes
    content_type: str
    documents: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """What the clients saw: all seconds, those of each answer, and the answers in order."""

    seconds: float
    waits: list[float]
    answers: list[bytes]
    documents: int

    @property
    def rate(self) -> float:
        """Documents a second."""
        return self.documents / self.seconds

    @property
    def median(self) -> float:
        return percentile(self.waits, 50)

    @property
    def slowest(self) -> float:
        """The 99th percentile: one answer in a hundred takes longer."""
        return percentile(self.waits, 99)


def percentile(values: Sequence[float], share: int) -> float:
    """Between the two values next to it, where it falls between them.

    >>> percentile([1.0, 2.0, 3.0], 50)
    2.0
    """
    if len(values) == 1:
        return values[0]
    return quantiles(values, n=100, method="inclusive")[share - 1]


def load(port: int, requests: Sequence[Request], clients: int) -> Measured:
    """Send all requests; every client takes the next one when it has its answer."""
    waits, answers = [0.0] * len(requests), [b""] * len(requests)
    numbers: Iterator[int] = iter(range(len(requests)))
    lock = threading.Lock()
    errors: list[Exception] = []

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None or errors:
                    return
                one = requests[number]
                began = time.perf_counter()
                headers = {"Content-Type": one.content_type}
                connection.request("POST", one.path, one.body, headers)
                answer = connection.getresponse()
                answers[number] = answer.read()
                waits[number] = time.perf_counter() - began
                if answer.status != 200:
                    raise LabelwiseError(f"{one.path} answered {answer.status}")
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    if errors:
        raise LabelwiseError(f"the load was not carried: {errors[0]}") from errors[0]
    return Measured(seconds, waits, answers, sum(one.documents for one in requests))


@contextmanager
def running(
    command: Sequence[str],
    *,
    port: int,
    ready: str,
    env: Mapping[str, str],
    folder: Path,
) -> Iterator[int]:
    """A service in a process of its own, from its first good answer on ``ready``; its id."""
    with (folder / f"service-{port}.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=dict(env), cwd=folder, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + BEGINNING
            while not _answers(port, ready):
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    last = (log.read().strip().splitlines() or ["it said nothing"])[-1]
                    raise LabelwiseError(f"`{Path(command[0]).name}` does not serve: {last}")
                time.sleep(0.2)
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


def memory_of(process: int) -> int:
    """Bytes that a process and its children hold; what they share is counted once.

    The proportional set size (Linux) is each one's own part of it.
    """
    total = 0
    for one in [process, *_children(process)]:
        for line in Path(f"/proc/{one}/smaps_rollup").read_text("ascii").splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total


def _children(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended since
            for child in (task / "children").read_text("ascii").split():
                found += [int(child), *_children(int(child))]
    return found
