"""Writing vectors and joining two files of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labelwise.text.vector_files import join_vectors, write_vectors
from labelwise.text.vectors import Vectors, read_vectors

OWN = Vectors(("tariff", "κανονισμός", "07.06"), np.array([[0.5, -1], [2, 3], [4, 5]], np.float32))


@pytest.mark.parametrize("name", ["own.txt", "own.txt.gz", "own.txt.xz"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    write_vectors(tmp_path / "made" / name, OWN)
    back = read_vectors(tmp_path / "made" / name)
    assert back.words == OWN.words
    assert np.array_equal(back.matrix, OWN.matrix)
    assert [file.name for file in (tmp_path / "made").iterdir()] == [name]


def test_the_same_vectors_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.txt.gz", "b.txt.gz"):
        write_vectors(tmp_path / name, OWN)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()


def test_joined_vectors_have_zeros_where_a_file_lacks_the_word() -> None:
    glove = Vectors(("import", "tariff"), np.array([[7], [8]], np.float32))
    both = join_vectors(glove, OWN)
    assert both.words == ("import", "tariff", "κανονισμός", "07.06")
    assert both.matrix.tolist() == [[7, 0, 0], [8, 0.5, -1], [0, 2, 3], [0, 4, 5]]
