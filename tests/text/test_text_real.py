"""The words of EURLEX57K and the GloVe vectors cut to it: counts that are known, and the speed."""

from __future__ import annotations

import lzma
import time
from pathlib import Path

import numpy as np
import pytest

from labelwise.corpus.document import Document
from labelwise.corpus.readers import read
from labelwise.text.language import language_of
from labelwise.text.tokenized import TokenizedCorpus, content_key, tokenize_corpus
from labelwise.text.tokenizer import tokenize, words
from labelwise.text.vectors import Vectors, read_vectors
from labelwise.text.vocabulary import UNKNOWN, Vocabulary

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def dev(real_data: Path) -> list[Document]:
    return list(read(real_data / "eurlex57k" / "dev.jsonl.xz"))


@pytest.fixture(scope="module")
def corpus(dev: list[Document]) -> TokenizedCorpus:
    return tokenize_corpus(dev, jobs=1)


@pytest.fixture(scope="module")
def vectors(real_data: Path) -> Vectors:
    return read_vectors(real_data / "vectors" / "glove.6B.100d.eurlex57k.txt.xz")


def test_every_token_of_real_acts_stands_where_it_says(dev: list[Document]) -> None:
    for document in dev[::50]:
        tokens = tokenize(document.text)
        assert [token.text for token in tokens] == words(document.text)
        assert all(document.text[start:end].lower() == text for text, start, end in tokens)


def test_the_dev_split_becomes_numbers_that_spell_it(
    dev: list[Document], corpus: TokenizedCorpus
) -> None:
    assert len(corpus) == 6000
    assert corpus.counts.sum() == len(corpus.tokens) > 5_000_000
    assert (np.diff(corpus.counts) <= 0).all()
    assert corpus.words[:3] == ["the", ",", "of"]
    for row in range(0, len(dev), 100):
        start, end = corpus.token_starts[row : row + 2]
        assert [corpus.words[number] for number in corpus.tokens[start:end]] == words(dev[row].text)


def test_two_jobs_give_the_same_as_one(dev: list[Document], corpus: TokenizedCorpus) -> None:
    parallel = tokenize_corpus(dev, jobs=2)
    assert parallel.words == corpus.words
    assert np.array_equal(parallel.tokens, corpus.tokens)
    assert np.array_equal(parallel.section_starts, corpus.section_starts)


def test_glove_is_read_whole_about_as_fast_as_it_is_unpacked_and_its_numbers_are_made(
    real_data: Path,
) -> None:
    file = real_data / "vectors" / "glove.6B.100d.eurlex57k.txt.xz"
    begun = time.process_time()
    lines = lzma.decompress(file.read_bytes()).decode("utf-8").splitlines()
    assert sum(len([float(one) for one in line.split(" ")[1:]]) for line in lines) == 6_353_500
    plain = time.process_time()
    vectors = read_vectors(file)
    assert time.process_time() - plain < 2 * (plain - begun)
    assert vectors.matrix.shape == (63_535, 100)
    assert vectors.duplicates == 0


def test_glove_covers_most_words_but_no_numbers_and_no_single_letters(
    corpus: TokenizedCorpus, vectors: Vectors
) -> None:
    vocabulary = Vocabulary.from_corpus(corpus, min_count=3, keep=vectors.index)
    counts = dict(zip(vocabulary.words, vocabulary.counts, strict=True))  # the frequent ones first
    words = [word for row, word in enumerate(counts) if row > UNKNOWN]
    known = [word for word in words if word in vectors.index]
    assert len(known) / len(words) > 0.6
    assert 0.8 < sum(counts[word] for word in known) / sum(counts.values()) < 0.95
    missing = [word for word in words if word not in vectors.index]
    assert {"1", "a", "2", "l"} <= set(missing[:10])
    matrix = vectors.matrix_for(vocabulary, seed=1)
    row = vocabulary.index["regulation"]
    assert np.array_equal(matrix[row], vectors.matrix[vectors.index["regulation"]])


def test_frequent_words_without_a_vector_keep_rows_of_their_own(
    corpus: TokenizedCorpus, vectors: Vectors
) -> None:
    vocabulary = Vocabulary.from_corpus(corpus, min_count=10, keep=vectors.index)
    numbers = vocabulary.numbers(corpus)
    assert "1" in vocabulary
    assert "1" not in vectors.index
    assert np.mean(numbers == UNKNOWN) < 0.02
    assert np.sum(numbers == UNKNOWN) == vocabulary.counts[UNKNOWN]


@pytest.mark.slow
def test_all_57000_documents_within_90_seconds_and_from_the_cache_within_3(
    real_data: Path, tmp_path: Path
) -> None:
    """Measured on two cores shared with other work: 30 s, and 0.75 s from the cache."""
    documents = [
        document
        for split in ("train", "dev", "test")
        for document in read(real_data / "eurlex57k" / f"{split}.jsonl.xz")
    ]
    assert len(documents) == 57_000
    begun = time.perf_counter()
    corpus = tokenize_corpus(documents, cache=tmp_path, jobs=2)
    built = time.perf_counter()
    cached = tokenize_corpus(documents, cache=tmp_path)
    loaded = time.perf_counter()
    content_key(documents)
    hashed = time.perf_counter()
    print(
        f"built in {built - begun:.1f} s, loaded in {loaded - built:.2f} s, of which "
        f"{hashed - loaded:.2f} s to tell that the documents are the same"
    )
    assert built - begun < 90
    assert loaded - built < 3
    assert cached.words == corpus.words
    assert np.array_equal(cached.tokens, corpus.tokens)


def test_no_english_act_is_called_foreign(dev: list[Document]) -> None:
    """Some of these list names of offices and products in every language of the Union."""
    told = [language_of(document.text) for document in dev[::5]]
    assert {*told} <= {"en", None}
    assert told.count("en") > 0.98 * len(told)
