"""Threads that do the work: documents gathered into batches, and other jobs one by one.

A queue is bounded, and so is what one client may have in it. What does not fit is refused at once
(``FullError``), so that whoever asks can go elsewhere instead of waiting for an answer that comes
too late.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from labelwise.corpus.document import Document
from labelwise.methods.base import Scores
from labelwise.serving.shares import Pool, asking

T = TypeVar("T")


class FullError(Exception):
    """The queue is full; it may have room again after so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass(eq=False)
class Job(Generic[T]):
    """Something to do, how much of the queue it takes, and where the result goes."""

    size: int
    characters: int
    content: Any
    client: str = field(default_factory=asking.get)
    future: Future[T] = field(default_factory=Future)


class Queue:
    """Jobs in the order they came, of a bounded total size; threads take them out."""

    def __init__(self, name: str, limit: int, threads: int = 1) -> None:
        self._pool = Pool(limit)
        self.pace = 0.05
        """Seconds for each unit of size, as it was lately."""
        self._jobs: deque[Job[Any]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, name=name, daemon=True) for _ in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def held(self) -> int:
        """What waits and what is being done."""
        return self._pool.held

    def put(self, job: Job[T]) -> asyncio.Future[T]:
        """Queue a job; cancelling the future takes it out again unless it has begun."""
        with self._changed:
            if self._closed or not self._pool.take(job.client, job.size):
                raise FullError(max(1.0, self.held * self.pace))
            self._jobs.append(job)
            self._changed.notify()
        return asyncio.wrap_future(job.future)

    def close(self) -> None:
        """Finish what was accepted, take nothing more, and end the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while jobs := self._take():
            begun = [job for job in jobs if job.future.set_running_or_notify_cancel()]
            started = time.perf_counter()
            if begun:
                self._do(begun)
                size = sum(job.size for job in begun)
                self.pace += 0.2 * ((time.perf_counter() - started) / size - self.pace)
            with self._changed:
                for job in jobs:
                    self._pool.give_back(job.client, job.size)

    def _take(self) -> list[Job[Any]]:
        """The next jobs; none once the queue is closed and empty."""
        with self._changed:
            while not self._jobs and not self._closed:
                self._changed.wait()
            return [self._jobs.popleft()] if self._jobs else []

    def _do(self, jobs: Sequence[Job[Any]]) -> None:
        raise NotImplementedError


class Tasks(Queue):
    """Runs functions in the order they came, one at a time on each thread."""

    def submit(self, function: Callable[[], T]) -> asyncio.Future[T]:
        return self.put(Job(1, 0, function))

    def _do(self, jobs: Sequence[Job[Any]]) -> None:
        for job in jobs:
            _settle(job, job.content)


class Scoring(Protocol):
    """Whatever scores documents: a method."""

    def scores(self, documents: Sequence[Document]) -> Scores: ...


class Scorer(Queue):
    """Gathers documents of several requests and scores them together on one thread.

    A document waits for others no longer than ``max_wait`` seconds, and not at all where no other
    can come: ``under_way`` tells how many requests there are. What arrives while the thread is
    busy is the next batch.
    """

    def __init__(
        self,
        name: str,
        method: Scoring,
        *,
        limit: int,
        max_batch: int,
        max_wait: float,
        batch_characters: int,
        under_way: Callable[[], int],
        scored: Callable[[int, float], None],
    ) -> None:
        self._method, self._scored, self._under_way = method, scored, under_way
        self._max_batch, self._max_wait = max_batch, max_wait
        self._batch_characters = batch_characters
        super().__init__(name, limit)

    def use(self, method: Scoring) -> None:
        """Score with another method from the next batch on."""
        self._method = method

    def submit(self, documents: Sequence[Document]) -> asyncio.Future[Scores]:
        characters = sum(len(section.text) for one in documents for section in one.sections)
        return self.put(Job(len(documents), characters, documents))

    def _take(self) -> list[Job[Any]]:
        with self._changed:
            while not self._jobs and not self._closed:
                self._changed.wait()
            if not self._jobs:
                return []
            deadline = time.monotonic() + self._max_wait
            taken = [self._jobs.popleft()]
            size, characters = taken[0].size, taken[0].characters
            while size < self._max_batch:
                while not self._jobs and self._under_way() > len(taken) and not self._closed:
                    if (left := deadline - time.monotonic()) <= 0:
                        break
                    self._changed.wait(left)
                if not self._jobs:
                    break
                job = self._jobs[0]
                if size + job.size > self._max_batch:
                    break
                if characters + job.characters > self._batch_characters:
                    break
                taken.append(self._jobs.popleft())
                size, characters = size + job.size, characters + job.characters
            return taken

    def _do(self, jobs: Sequence[Job[Any]]) -> None:
        documents = [document for job in jobs for document in job.content]
        started = time.perf_counter()
        try:
            scores = self._method.scores(documents)
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].future.set_exception(error)
                return
            for job in jobs:  # alone, so that only the one at fault fails
                _settle(job, partial(self._method.scores, job.content))
            return
        self._scored(len(documents), time.perf_counter() - started)
        at = 0
        for job in jobs:
            job.future.set_result(scores[at : at + job.size])
            at += job.size


def _settle(job: Job[T], function: Callable[[], T]) -> None:
    try:
        job.future.set_result(function())
    except Exception as error:
        job.future.set_exception(error)
