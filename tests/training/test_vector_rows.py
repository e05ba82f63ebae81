"""Other vectors for a prepared corpus, in a small file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.errors import InputError, LabelwiseError
from labelwise.text.vector_files import join_vectors, write_vectors
from labelwise.text.vectors import Vectors, read_vectors
from labelwise.text.vocabulary import UNKNOWN, Vocabulary
from labelwise.training.prepared import Prepared, prepare
from labelwise.training.vector_rows import with_vector_rows, write_vector_rows


@pytest.fixture(scope="module")
def vectors_file(synthetic: Dataset) -> Path:
    return Path(synthetic.paths["train"]).parent / "vectors.txt"


@pytest.fixture(scope="module")
def prepared(synthetic: Dataset, vectors_file: Path) -> Prepared:
    dataset = synthetic
    return prepare(
        dataset.train[:60], dataset.dev[:9], dataset.label_space, vectors=vectors_file, min_count=2
    )


def own(prepared: Prepared) -> Vectors:
    """Vectors of every third word of the vocabulary, and of one that it lacks."""
    words = (*prepared.vocabulary.words[UNKNOWN + 1 :: 3], "zyxwv")
    random = np.random.default_rng(1)
    return Vectors(words, random.standard_normal((len(words), 6), dtype=np.float32))


def test_vectors_take_the_place_of_those_prepared(prepared: Prepared, tmp_path: Path) -> None:
    made = own(prepared)
    file = tmp_path / "own.npz"
    assert write_vector_rows(file, made, prepared.vocabulary, name="own") == len(made) - 1
    other, name = with_vector_rows(prepared, file)
    assert name == "own"
    assert other.vectors.shape == (len(prepared.vocabulary), 6)
    assert other.found.sum() == len(made) - 1
    expected = made.matrix_for(prepared.vocabulary)
    largest = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(other.vectors - expected) <= largest / 254 + 1e-6).all()  # 8 bits
    assert other.train is prepared.train


def test_beside_is_what_preparing_from_joined_vectors_gives(
    synthetic: Dataset, prepared: Prepared, vectors_file: Path, tmp_path: Path
) -> None:
    made, file, joined = own(prepared), tmp_path / "own.npz", tmp_path / "joined.txt"
    write_vector_rows(file, made, prepared.vocabulary, name="glove+own", beside=True)
    other, _ = with_vector_rows(prepared, file)
    write_vectors(joined, join_vectors(read_vectors(vectors_file), made))
    expected = prepare(
        synthetic.train[:60], synthetic.dev[:9], synthetic.label_space, vectors=joined, min_count=2
    )
    assert other.vocabulary == expected.vocabulary
    assert np.array_equal(other.found, expected.found)
    np.testing.assert_allclose(other.vectors, expected.vectors, atol=0.02)


def test_vectors_for_another_vocabulary_are_refused(prepared: Prepared, tmp_path: Path) -> None:
    file = tmp_path / "own.npz"
    write_vector_rows(file, own(prepared), prepared.vocabulary, name="own")
    words, counts = prepared.vocabulary.words[:-1], prepared.vocabulary.counts[:-1]
    fewer = dataclasses.replace(prepared, vocabulary=Vocabulary(words, counts))
    with pytest.raises(InputError, match="another vocabulary"):
        with_vector_rows(fewer, file)


def test_a_file_that_holds_something_else_is_refused(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "own.npz").write_text("fish 1 2 3")
    with pytest.raises(InputError, match=r"own\.npz"):
        with_vector_rows(prepared, tmp_path / "own.npz")
    with pytest.raises(InputError, match=r"missing\.npz"):
        with_vector_rows(prepared, tmp_path / "missing.npz")


def test_vectors_of_no_known_word_are_refused(prepared: Prepared, tmp_path: Path) -> None:
    strange = Vectors(("zyxwv",), np.ones((1, 3), np.float32))
    with pytest.raises(LabelwiseError, match="no word"):
        write_vector_rows(tmp_path / "own.npz", strange, prepared.vocabulary, name="strange")
