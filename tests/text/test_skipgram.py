"""Skip-gram vectors: words that stand in the same places end up near each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.synthetic.concepts import build_world
from labelwise.errors import LabelwiseError
from labelwise.text import skipgram
from labelwise.text.skipgram import SIZE, SkipGram, learn_vectors
from labelwise.text.tokenized import TokenizedCorpus, tokenize_corpus
from labelwise.text.vectors import Vectors

pytest.importorskip("numba")

FISH = "the quota of cod and herring caught by vessels in the north sea is shared among ports"
FRUIT = "the marketing standard for lemons and oranges grown in orchards lays down sizing by weight"


def acts(count: int) -> TokenizedCorpus:
    """Acts on fish and acts on fruit, each with a word or two changed."""
    documents = []
    for at in range(count):
        words = (FISH if at % 2 else FRUIT).split()
        words[at % len(words)], words[at % 7] = words[at % 7], words[at % len(words)]
        section = Section("article", " ".join(words))
        documents.append(Document(f"3200{at}R", "", (section,)))
    return tokenize_corpus(documents, jobs=1)


def likeness(vectors: Vectors, one: str, other: str) -> float:
    a, b = (vectors.matrix[vectors.index[word]] for word in (one, other))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_words_of_one_subject_are_nearer_than_words_of_two() -> None:
    vectors = learn_vectors(acts(600), SkipGram(dim=20, min_count=2, epochs=20, sample=1))
    assert likeness(vectors, "cod", "herring") > likeness(vectors, "cod", "oranges") + 0.2
    assert likeness(vectors, "lemons", "orchards") > likeness(vectors, "lemons", "vessels") + 0.2


def test_words_of_one_concept_of_the_synthetic_thesaurus_are_neighbours(synthetic: Dataset) -> None:
    corpus = tokenize_corpus(synthetic.train)
    vectors = learn_vectors(corpus, SkipGram(dim=50, min_count=5, epochs=15))
    units = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    of_concepts = [
        sorted({vectors.index[w] for w in concept.words if w in vectors.index})
        for concept in build_world().concepts
        if concept.kind != "compound"
    ]
    groups = [rows for rows in of_concepts if len(rows) > 1]
    assert len(groups) > 50
    ours = np.mean([(units[a] @ units[b]) for a, b, *_ in groups])
    chance = np.mean([units[a] @ units[b] for (a, *_), (b, *_) in itertools.pairwise(groups)])
    assert ours > chance + 0.15


def test_the_same_seed_gives_the_same_vectors_and_another_seed_others() -> None:
    corpus, how = acts(100), SkipGram(dim=8, min_count=1, epochs=2)
    first, again = learn_vectors(corpus, how), learn_vectors(corpus, how)
    assert np.array_equal(first.matrix, again.matrix)
    other = learn_vectors(corpus, SkipGram(dim=8, min_count=1, epochs=2, seed=1))
    assert not np.array_equal(first.matrix, other.matrix)


def test_rare_words_have_no_vector_and_frequent_ones_come_first() -> None:
    document = Document("32001R0001", "", (Section("article", "cod cod cod ling ling hake"),))
    vectors = learn_vectors(tokenize_corpus([document]), SkipGram(dim=4, min_count=2, sample=1))
    assert vectors.words == ("cod", "ling")
    assert vectors.matrix.shape == (2, 4)
    assert vectors.matrix.dtype == np.float32


def test_the_vectors_have_the_size_of_glove() -> None:
    vectors = learn_vectors(acts(60), SkipGram(dim=16, min_count=1, epochs=3))
    assert np.sqrt(np.mean(vectors.matrix**2)) == pytest.approx(SIZE, rel=1e-4)


def test_random_words_are_drawn_by_count_to_three_quarters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skipgram, "DRAWS", 90_000)
    drawn = np.bincount(skipgram._draws(np.array([16, 1])))
    assert drawn.tolist() == [80_000, 10_000]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"dim": 0}, "dim"), ({"epochs": 0}, "epochs"), ({"learning_rate": 0.0}, "learning_rate")],
)
def test_settings_that_cannot_be_are_named(wrong: dict[str, float], name: str) -> None:
    with pytest.raises(LabelwiseError, match=name):
        SkipGram(**wrong)  # type: ignore[arg-type]


def test_a_corpus_without_frequent_words_says_what_to_lower() -> None:
    corpus = tokenize_corpus([Document("32001R0001", "", (Section("article", "one act"),))])
    with pytest.raises(LabelwiseError, match="lower min_count"):
        learn_vectors(corpus, SkipGram(min_count=5))
