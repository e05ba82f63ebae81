"""The queues by themselves: bounded, gathering, cancelling, finishing what they accepted."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest
from serving_cases import PATIENCE
from threads_apart import apart

from labelwise.corpus.document import Document, Section
from labelwise.methods.base import Scores
from labelwise.serving.work import FullError, Scorer, Tasks


def act(text: str) -> Document:
    return Document(text, "", (Section("article", text),))


class Lengths:
    """Scores a document by the length of its text, when it may; refuses one that says so."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()
        self.go.set()

    def scores(self, documents: Sequence[Document]) -> Scores:
        self.batches.append([one.id for one in documents])
        self.begun.set()
        assert self.go.wait(PATIENCE)
        if any(one.id == "refuse" for one in documents):
            raise ValueError("this one is at fault")
        return np.array([[len(one.text)] for one in documents], dtype=np.float32)


def scorer(method: Lengths, under_way: int = 3, **options: float) -> Scorer:
    given = {"limit": 100, "max_batch": 8, "max_wait": 0.5, "batch_characters": 1000, **options}
    return Scorer(
        "test",
        method,
        under_way=lambda: under_way,
        scored=lambda documents, seconds: None,
        **given,  # type: ignore[arg-type]
    )


def test_documents_that_come_together_are_scored_together_and_go_back_to_their_askers() -> None:
    method = Lengths()
    work = scorer(method)

    async def ask() -> list[Scores]:
        return await asyncio.gather(
            work.submit([act("a")]),
            work.submit([act("bbb"), act("cc")]),
            work.submit([act("dddd")]),
        )

    answers = apart(asyncio.run, ask())
    assert [one.ravel().tolist() for one in answers] == [[1], [3, 2], [4]]
    assert method.batches == [["a", "bbb", "cc", "dddd"]]
    work.close()
    assert work.held == 0


def test_a_document_does_not_wait_where_no_other_can_come() -> None:
    work = scorer(Lengths(), under_way=1, max_wait=600.0)
    began = time.perf_counter()

    async def ask() -> None:
        await work.submit([act("alone")])

    apart(asyncio.run, ask())
    assert time.perf_counter() - began < 300
    work.close()


def test_a_batch_ends_at_its_size_and_at_its_characters() -> None:
    method = Lengths()
    work = scorer(method, max_batch=2)
    long = "x" * 900

    async def ask(*texts: str) -> None:
        await asyncio.gather(*(work.submit([act(text)]) for text in texts))

    apart(asyncio.run, ask("a", "b", "c"))
    apart(asyncio.run, ask(long, "y" * 200))
    assert method.batches == [["a", "b"], ["c"], [long], ["y" * 200]]
    work.close()


def test_one_document_at_fault_fails_alone() -> None:
    method = Lengths()
    work = scorer(method)

    async def ask() -> list[Scores | BaseException]:
        return await asyncio.gather(
            work.submit([act("good")]),
            work.submit([act("refuse")]),
            work.submit([act("better")]),
            return_exceptions=True,
        )

    good, bad, better = apart(asyncio.run, ask())
    assert isinstance(bad, ValueError)
    assert not isinstance(good, BaseException)
    assert not isinstance(better, BaseException)
    assert (good[0, 0], better[0, 0]) == (4, 6)
    work.close()


def test_beyond_its_limit_a_queue_refuses_and_has_room_again_later() -> None:
    method = Lengths()
    method.go.clear()
    work = scorer(method, limit=4, max_wait=0.0)

    async def ask() -> None:
        taken = work.submit([act("a"), act("b")]), work.submit([act("c")])
        with pytest.raises(FullError):
            work.submit([act("d")])
        method.go.set()
        await asyncio.gather(*taken)
        while work.held:
            await asyncio.sleep(0.01)
        await work.submit([act("d")])

    apart(asyncio.run, ask())
    work.close()


def test_what_was_cancelled_is_not_done_and_what_was_accepted_is_at_the_end() -> None:
    method = Lengths()
    method.go.clear()
    work = scorer(method, max_wait=0.0)

    async def ask() -> Scores:
        first = work.submit([act("first")])
        assert await asyncio.to_thread(method.begun.wait, PATIENCE)
        gone, last = work.submit([act("gone")]), work.submit([act("last")])
        gone.cancel()
        closing = asyncio.create_task(asyncio.to_thread(work.close))
        while not work._closed:
            await asyncio.sleep(0.01)
        method.go.set()
        answer, _, _ = await asyncio.gather(last, closing, first)
        return answer

    assert apart(asyncio.run, ask())[0, 0] == 4
    assert [one for batch in method.batches for one in batch] == ["first", "last"]
    assert work.held == 0


def test_tasks_run_one_after_another_on_their_own_thread() -> None:
    tasks = Tasks("test", 10)
    seen: list[str] = []

    async def ask() -> list[int]:
        def note(n: int) -> int:
            seen.append(threading.current_thread().name)
            return n

        return await asyncio.gather(*(tasks.submit(lambda n=n: note(n)) for n in range(5)))

    assert apart(asyncio.run, ask()) == [0, 1, 2, 3, 4]
    assert set(seen) == {"test"}
    tasks.close()
