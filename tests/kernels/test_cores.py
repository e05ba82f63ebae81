"""Pieces of work on cores: in order, in the modes of the caller, and never shared twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from labelwise.errors import LabelwiseError
from labelwise.kernels import eight_bits
from labelwise.kernels.cores import on_cores


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_results_come_in_order_from_as_many_threads_as_pytorch_may_use() -> None:
    both_work = threading.Barrier(2, timeout=300)  # opens only when two are at work

    def work(item: int) -> tuple[int, int]:
        both_work.wait()
        return item, torch.get_num_threads()

    assert list(on_cores(work, range(8))) == [(item, 1) for item in range(8)]
    assert torch.get_num_threads() == 2
    seen: list[int] = []
    later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert seen == [2]


def test_an_error_comes_through_and_ends_the_work() -> None:
    done: list[int] = []

    def work(item: int) -> int:
        if item == 3:
            raise LabelwiseError("this machine ran out of memory")
        done.append(item)
        return item

    with pytest.raises(LabelwiseError, match="ran out of memory"):
        list(on_cores(work, range(1000)))
    assert len(done) < 1000
    assert torch.get_num_threads() == 2


def test_work_is_done_in_the_modes_of_the_caller() -> None:
    weight = torch.zeros(300, 300)

    def modes(_: int) -> tuple[bool, bool, bool]:
        asked = eight_bits.asked_for(weight)
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled(), asked

    available = eight_bits.available()
    assert set(on_cores(modes, range(4))) == {(True, False, False)}
    with torch.no_grad():
        assert set(on_cores(modes, range(4))) == {(False, False, False)}
    with torch.inference_mode(), eight_bits.eight_bits():
        assert set(on_cores(modes, range(4))) == {(False, True, available)}
    assert set(on_cores(modes, range(4))) == {(True, False, False)}


def test_work_on_a_core_may_have_pieces_of_its_own() -> None:
    def inner(item: int) -> tuple[int, str]:
        return item, threading.current_thread().name

    def outer(_: int) -> bool:
        here = threading.current_thread().name
        return list(on_cores(inner, range(3))) == [(item, here) for item in range(3)]

    assert all(on_cores(outer, range(8)))


def test_one_thread_works_where_it_is() -> None:
    torch.set_num_threads(1)
    here = threading.current_thread()
    assert list(on_cores(lambda _: threading.current_thread(), range(3))) == [here] * 3
