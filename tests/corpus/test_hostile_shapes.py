"""Every reader takes time in proportion to what it reads, however the file is made."""

from __future__ import annotations

import gc
import io
import math
import time

import pytest
from hostile_shapes import SHAPES, Shape

from labelwise.corpus.readers import read_stream
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError

POWER = 1.2
TIMES = 4
"""How much larger the second file is than the first: twice the double."""

START = 0.02
"""Seconds that are taken to go by for every file, whatever its size: less is not worth a power."""


def seconds(data: bytes, name: str) -> float:
    """Processor time to read a file to its end, or to what is wrong with it."""
    began = time.process_time()
    try:
        for _ in read_stream(io.BytesIO(data), name, skipped=Skipped()):
            pass
    except InputError:
        pass
    return time.process_time() - began


def test_there_are_thirty_shapes_and_more() -> None:
    assert len(SHAPES) >= 30


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_twice_the_size_takes_twice_the_time(shape: Shape) -> None:
    small, large = (shape.make(n).encode() for n in (shape.pieces // TIMES, shape.pieces))
    growth = math.log(len(large) / len(small))
    least = [math.inf, math.inf]
    gc.collect()
    gc.disable()  # it looks at all that other tests left behind
    try:
        for _ in range(6):  # others use the machine as well: what is measured can only be too much
            least = [
                min(before, seconds(data, shape.name))
                for before, data in zip(least, (small, large), strict=True)
            ]
            if math.log((START + least[1]) / (START + least[0])) <= POWER * growth:
                return
    finally:
        gc.enable()
    pytest.fail(f"{least[0]:.3f} s grow to {least[1]:.3f} s for {TIMES} times the size")
