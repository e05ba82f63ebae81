"""A prepared corpus is all that a training needs, in memory or in a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.text.tokenized import tokenize_corpus
from labelwise.training.numbered import Reading
from labelwise.training.prepared import (
    Prepared,
    make_split,
    prepare,
    read_prepared,
    read_record,
    write_prepared,
)

TRAIN = [
    Document("1", "", (Section("header", "Import of oranges"), Section("article", "")), ("1309",)),
    Document("2", "", (Section("article", "Oranges and lemons"),), ("693", "1309")),
]
DEV = [Document("3", "", (Section("article", "Vessels and oranges"),), ("5255",))]
NAMES = {"693": "citrus fruit", "1309": "import", "5255": "vessel"}


def prepared(vectors: Path | None = None) -> Prepared:
    space = LabelSpace.from_documents(TRAIN, DEV, NAMES)
    return prepare(TRAIN, DEV, space, vectors=vectors, dim=4, min_count=2)


def test_words_are_numbered_and_rare_ones_are_unknown() -> None:
    made = prepared()
    words = made.vocabulary.words
    assert set(words[2:]) == {"oranges", "import", "citrus", "fruit", "vessel"}
    read = [words[row] for row in made.train.tokens]
    assert read == ["import", "<unknown>", "oranges", "oranges", "<unknown>", "<unknown>"]
    assert made.train.gold.toarray().sum() == 3
    assert made.vectors.shape == (len(words), 4)
    assert not made.found.any()
    assert not made.vectors[0].any()


def test_words_with_a_vector_have_a_row_however_rare(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("lemons 1 2\nvessel 3 4\ntrawler 5 6\n", encoding="utf-8")
    made = prepared(file)
    assert set(made.vocabulary.words[2:]) == {"oranges", "lemons", "vessel"}
    assert made.vectors[made.vocabulary.index["lemons"]].tolist() == [1, 2]
    found = {made.vocabulary.words[row] for row in np.flatnonzero(made.found)}
    assert found == {"lemons", "vessel"}


def test_vectors_of_other_words_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("zzyzx 1 2\n", encoding="utf-8")
    with pytest.raises(LabelwiseError, match=r"vectors\.txt: none of the words"):
        prepared(file)


def test_a_folder_gives_back_what_was_written(tmp_path: Path) -> None:
    made = prepared()
    test = make_split(DEV, tokenize_corpus(DEV), made.vocabulary, made.label_space)
    write_prepared(tmp_path, made, test)
    again, again_test = read_prepared(tmp_path)
    assert again.label_space == made.label_space
    assert again.vocabulary == made.vocabulary
    np.testing.assert_allclose(again.vectors, made.vectors, rtol=1e-3, atol=1e-6)
    assert (again.found == made.found).all()
    assert again_test is not None
    for one, other in ((again.train, made.train), (again.dev, made.dev), (again_test, test)):
        assert one.digest == other.digest
        assert list(one.ids) == list(other.ids)
        rows, same = one.rows(Reading(9)), other.rows(Reading(9))
        assert rows.tokens.tolist() == same.tokens.tolist()
        assert rows.lengths.tolist() == same.lengths.tolist()
    write_prepared(tmp_path / "b", made)
    assert read_prepared(tmp_path / "b")[1] is None


def test_the_same_labels_at_other_documents_are_another_corpus() -> None:
    """One whose labels follow each other alike, document by document: a checkpoint of the one was
    resumed on the other."""
    made = prepared()
    both = replace(TRAIN[0], labels=("1309", "693")), replace(TRAIN[1], labels=())
    each = replace(TRAIN[0], labels=("1309",)), replace(TRAIN[1], labels=("693",))
    one, other = (
        make_split(of, tokenize_corpus(of), made.vocabulary, made.label_space)
        for of in (both, each)
    )
    assert one.gold.indices.tolist() == other.gold.indices.tolist()
    assert one.digest != other.digest


def test_a_folder_without_a_prepared_corpus_or_with_a_broken_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match="holds no prepared corpus"):
        read_prepared(tmp_path)
    write_prepared(tmp_path, prepared())
    (tmp_path / "train.tokens.xz").write_bytes(b"broken")
    with pytest.raises(LabelwiseError, match=r"train\.tokens\.xz: this part"):
        read_prepared(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"found": ["|b1", [7]]}', '{"found": 3}'])
def test_damaged_names_and_shapes_of_a_prepared_corpus_are_one_sentence(
    tmp_path: Path, content: str
) -> None:
    write_prepared(tmp_path, prepared())
    (tmp_path / "arrays.json").write_text(content)
    with pytest.raises(LabelwiseError, match="this prepared corpus is damaged"):
        read_prepared(tmp_path)


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"data": 5, "settings": {}}'])
def test_a_damaged_record_of_a_prepared_corpus_is_one_sentence(
    tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "data.json").write_text(content)
    with pytest.raises(LabelwiseError, match="this is not a prepared corpus"):
        read_record(tmp_path)
