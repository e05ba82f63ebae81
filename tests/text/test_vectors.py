"""Word vectors: both text formats, every way of being wrong, and the report of coverage."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from labelwise.corpus.document import Document, Section
from labelwise.errors import InputError
from labelwise.text import vectors as vectors_module
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.vectors import Vectors, read_vectors
from labelwise.text.vocabulary import PADDING, UNKNOWN, Vocabulary

GLOVE = "the 0.1 -0.2 3e-1\nfruit 1 2 3\ncitrus -1.5 .5 0\nκανονισμός 4 5 6\n"
WORD2VEC = f"4 3\n{GLOVE}"


def written(tmp_path: Path, text: str | bytes, name: str = "vectors.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def vocabulary_of(text: str, min_count: int = 1) -> Vocabulary:
    document = Document("32001R0001", "", (Section("article", text),))
    return Vocabulary.from_corpus(tokenize_corpus([document]), min_count=min_count)


@pytest.mark.parametrize("text", [GLOVE, WORD2VEC], ids=["glove", "word2vec"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress, lzma.compress])
def test_both_formats_are_read_plain_and_compressed(tmp_path: Path, text: str, packed) -> None:  # type: ignore[no-untyped-def]
    suffix = {gzip.compress: ".gz", lzma.compress: ".xz"}.get(packed, "")
    vectors = read_vectors(written(tmp_path, packed(text.encode()), f"vectors.txt{suffix}"))
    assert vectors.words == ("the", "fruit", "citrus", "κανονισμός")
    assert vectors.matrix.dtype == np.float32
    expected = [[0.1, -0.2, 0.3], [1, 2, 3], [-1.5, 0.5, 0], [4, 5, 6]]
    assert np.array_equal(vectors.matrix, np.array(expected, dtype=np.float32))
    assert (vectors.dim, len(vectors), vectors.duplicates) == (3, 4, 0)


def test_only_the_words_asked_for_are_kept(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, GLOVE), ["citrus", "the", "lemon"])
    assert vectors.words == ("the", "citrus")
    assert vectors.matrix[1].tolist() == [-1.5, 0.5, 0]


def test_no_word_found_is_an_empty_matrix_of_the_right_width(tmp_path: Path) -> None:
    assert read_vectors(written(tmp_path, GLOVE), ["lemon"]).matrix.shape == (0, 3)


def test_many_blocks_give_the_same_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "".join(f"w{row} {row} {-row}\n" for row in range(10)))
    monkeypatch.setattr(vectors_module, "BLOCK", 3)
    assert read_vectors(path).matrix[:, 0].tolist() == list(range(10))


def test_trailing_spaces_tabs_windows_ends_blank_lines_and_a_byte_order_mark_do_no_harm(
    tmp_path: Path,
) -> None:
    text = b"\xef\xbb\xbf2 2 \r\nfruit\t1\t2 \r\n\r\ncitrus  3  4\r\n\r\n"
    vectors = read_vectors(written(tmp_path, text))
    assert vectors.words == ("fruit", "citrus")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_the_mark_that_begins_comments_elsewhere_is_a_word_here(tmp_path: Path) -> None:
    assert read_vectors(written(tmp_path, "# 1 2\n\" 3 4\n' 5 6\n")).words == ("#", '"', "'")


def test_numbers_as_words_are_no_header(tmp_path: Path) -> None:
    assert read_vectors(written(tmp_path, "2001 1 2\n95 3 4\n")).words == ("2001", "95")


def test_words_with_spaces_inside_are_passed_over(tmp_path: Path) -> None:
    """GloVe 840B holds a few, such as an e-mail address after 'at'."""
    text = "fruit 1 2\nat name@domain.com 3 4\n. . . 5 6\ncitrus 7 8\n"
    assert read_vectors(written(tmp_path, text)).words == ("fruit", "citrus")


def test_the_first_line_of_a_word_wins_and_the_others_are_counted(tmp_path: Path) -> None:
    text = "fruit 1 2\ncitrus 3 4\nfruit 5 6\nfruit 7 8\n"
    vectors = read_vectors(written(tmp_path, text))
    assert vectors.words == ("fruit", "citrus")
    assert vectors.matrix[0].tolist() == [1, 2]
    assert vectors.duplicates == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fruit 1 2\ncitrus 3\n", "line 2: 1 numbers after the word, but .* have 2"),
        ("fruit 1 2\ncitrus 3 4 5\n", "line 2: 3 numbers after the word"),
        ("fruit 1 2\ncitrus\n", "line 2: 0 numbers after the word"),
        ("2 3\nfruit 1 2\n", "line 2: 2 numbers after the word, but .* have 3"),
        ("fruit\n", "line 1: a word without a vector"),
        ("fruit 1 2\ncitrus 3 x4\n", "line 2: 'x4' is not a number"),
        ("fruit 1 2\ncitrus 3 1_0\n", "line 2: '1_0' is not a number"),
        ("fruit 1 2\ncitrus 1,5 4\n", "line 2: '1,5' is not a number"),
        ("fruit 1 2\ncitrus nan 4\n", "line 2: 'nan' is not a number"),
        ("fruit 1 2\ncitrus 3 1e99\n", "line 2: '1e99' is not a number"),
        ("fruit 1 2\ncitrus 3\xa04 5\n".encode("latin-1"), "line 2: '.*' is not a number"),
        ("", "no vectors in it"),
        ("\n\n", "no vectors in it"),
        ("0 100\n", "no vectors in it"),
        ("3 2\nfruit 1 2\ncitrus 3 4\n", "promises 3 vectors, but there are 2"),
        ("fruit 1 2\npêche 3 4\n".encode("latin-1"), "line 2: .*UTF-8"),
        ("fruit 1 2\n".encode("utf-16"), "line 1"),
        (b"PK\x03\x04rest of the archive", "zip archive; unpack it"),
        (gzip.compress(GLOVE.encode() * 9, mtime=0)[:-9], "archive"),
        (lzma.compress(GLOVE.encode() * 9)[:-9], "archive"),
        (lzma.compress(GLOVE.encode())[:8], "archive"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(
    tmp_path: Path, text: str | bytes, problem: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=problem) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_and_a_folder_are_said_plainly(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.txt", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            read_vectors(path)


def test_the_matrix_follows_the_rows_of_the_vocabulary(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, GLOVE))
    vocabulary = vocabulary_of("fruit and citrus fruit")
    matrix = vectors.matrix_for(vocabulary, seed=3)
    assert matrix.shape == (len(vocabulary), 3)
    assert matrix.dtype == np.float32
    assert matrix[vocabulary.index["fruit"]].tolist() == [1, 2, 3]
    assert matrix[vocabulary.index["citrus"]].tolist() == [-1.5, 0.5, 0]
    assert not matrix[PADDING].any()
    for row in (UNKNOWN, vocabulary.index["and"]):
        assert matrix[row].all()
        assert abs(matrix[row]).max() < 1


def test_the_seed_and_nothing_else_decides_the_random_rows() -> None:
    vectors = Vectors(("fruit",), np.ones((1, 50), dtype=np.float32))
    vocabulary = vocabulary_of("fruit and citrus fruit")
    once, again = (vectors.matrix_for(vocabulary, seed=1) for _ in range(2))
    assert np.array_equal(once, again)
    assert not np.array_equal(once, vectors.matrix_for(vocabulary, seed=2))
    assert 0.05 < once[UNKNOWN].std() < 0.2


def test_a_vector_for_the_name_of_a_special_row_is_not_used() -> None:
    vectors = Vectors(("<padding>", "<unknown>"), np.full((2, 4), 9, dtype=np.float32))
    matrix = vectors.matrix_for(vocabulary_of("fruit"), seed=0)
    assert matrix.max() < 9
