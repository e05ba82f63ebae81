"""N-grams: which are kept, how they are counted, and where they stand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelwise.corpus.document import Document, Section
from labelwise.text.ngrams import Ngrams
from labelwise.text.tfidf import Tfidf
from labelwise.text.tokenized import tokenize_corpus

ACTS = [
    Document(
        "1",
        "",
        (
            Section("header", "Import of citrus fruit"),
            Section("article", "The import of citrus fruit, fresh or dried, is free."),
        ),
    ),
    Document("2", "", (Section("article", "Citrus fruit: import of a fresh citrus fruit."),)),
    Document("3", "", ()),
]


def plain_count(document: Document, n: int) -> Counter[str]:
    """The obvious version: every run of n words, section by section."""
    counts: Counter[str] = Counter()
    for section in document.sections:
        corpus = tokenize_corpus([Document("", "", (section,))])
        tokens = [corpus.words[token] for token in corpus.tokens]
        tokens = [token for token in tokens if len(token) > 1]
        for length in range(1, n + 1):
            for at in range(len(tokens) - length + 1):
                counts[" ".join(tokens[at : at + length])] += 1
    return counts


def test_counts_agree_with_the_obvious_version() -> None:
    corpus = tokenize_corpus(ACTS)
    grams = Ngrams.fit(corpus, n=4, min_count=1)
    counts = grams.count(corpus).toarray()
    names = grams.names()
    for row, act in enumerate(ACTS):
        expected = plain_count(act, 4)
        found = {name: int(c) for name, c in zip(names, counts[row], strict=True) if c}
        assert found == dict(expected)


words = st.sampled_from(["fish", "quota", "import", "of", "tuna", ",", "a", "2001"])
texts = st.lists(words, max_size=30).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(texts, max_size=3), min_size=1, max_size=5), st.integers(1, 3))
def test_counts_agree_on_random_documents(sections: list[list[str]], min_count: int) -> None:
    acts = [
        Document(str(number), "", tuple(Section("article", text) for text in act))
        for number, act in enumerate(sections)
    ]
    corpus = tokenize_corpus(acts)
    grams = Ngrams.fit(corpus, n=3, min_count=min_count)
    every: Counter[str] = Counter()
    for act in acts:
        every.update(plain_count(act, 3))
    assert set(grams.names()) == {name for name, count in every.items() if count >= min_count}
    counts = grams.count(corpus).toarray()
    for row, act in enumerate(acts):
        expected = plain_count(act, 3)
        assert counts[row].tolist() == [expected[name] for name in grams.names()]


def test_the_most_frequent_are_kept_and_ties_fall_together() -> None:
    corpus = tokenize_corpus(ACTS)
    every = Ngrams.fit(corpus, n=3, min_count=1)
    counts = dict(zip(every.names(), every.count(corpus).toarray().sum(axis=0), strict=True))
    for most in range(1, len(every) + 1):
        kept = Ngrams.fit(corpus, n=3, min_count=1, max_columns=most)
        names = set(kept.names())
        assert len(names) <= most
        least = min((counts[name] for name in names), default=np.inf)
        assert names == {name for name, count in counts.items() if count >= least}
        np.testing.assert_array_equal(
            kept.count(corpus).toarray().sum(axis=0), [counts[name] for name in kept.names()]
        )


def test_runs_of_words_may_have_to_stand_more_often_than_words() -> None:
    corpus = tokenize_corpus(ACTS)
    every = Ngrams.fit(corpus, n=3, min_count=1)
    counts = dict(zip(every.names(), every.count(corpus).toarray().sum(axis=0), strict=True))
    kept = Ngrams.fit(corpus, n=3, min_count=1, min_run_count=3)
    assert set(kept.names()) == {
        name for name, count in counts.items() if count >= (3 if " " in name else 1)
    }


def test_spans_point_at_the_words() -> None:
    act = ACTS[0]
    grams = Ngrams.fit(tokenize_corpus(ACTS), n=2, min_count=2)
    names = grams.names()
    spans = grams.spans(act)
    for column, start, end in spans:
        assert " ".join(act.text[start:end].lower().replace(",", "").split()) == names[column]
    assert Counter(column for column, _, _ in spans) == Counter(
        {at: int(c) for at, c in enumerate(grams.count(tokenize_corpus([act])).toarray()[0]) if c}
    )
    assert "fruit the" not in names  # sections are not joined


def test_state_round_trip() -> None:
    corpus = tokenize_corpus(ACTS)
    grams = Ngrams.fit(corpus, n=3, min_count=1)
    again = Ngrams.from_state(*grams.to_state())
    assert again.names() == grams.names()
    assert (again.count(corpus) != grams.count(corpus)).nnz == 0


def test_tfidf_agrees_with_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    corpus = tokenize_corpus(ACTS)
    grams = Ngrams.fit(corpus, min_count=1)
    features = Tfidf.fit(grams, grams.count(corpus)).transform(corpus)
    theirs = TfidfVectorizer(sublinear_tf=True, vocabulary=grams.names()).fit(
        [act.text for act in ACTS]
    )
    expected = theirs.transform([act.text for act in ACTS]).toarray()
    np.testing.assert_allclose(features.toarray(), expected, atol=1e-6)
    assert features.dtype == np.float32
    assert np.linalg.norm(features[0].toarray()) == pytest.approx(1)


def test_runs_of_words_can_weigh_less_than_words() -> None:
    corpus = tokenize_corpus(ACTS)
    grams = Ngrams.fit(corpus, n=2, min_count=1)
    counts, words = grams.count(corpus), len(grams.words)
    whole, half = (Tfidf.fit(grams, counts, weight).idf for weight in (1.0, 0.5))
    np.testing.assert_array_equal(half[:words], whole[:words])
    np.testing.assert_allclose(half[words:], whole[words:] / 2)


def test_unknown_words_give_an_empty_row() -> None:
    grams = Ngrams.fit(tokenize_corpus(ACTS), n=2, min_count=1)
    strange = Document("x", "", (Section("article", "Zzyzx qwrt"),))
    assert grams.count(tokenize_corpus([strange])).nnz == 0
    assert grams.spans(strange) == []
    assert grams.count(tokenize_corpus([])).shape == (0, len(grams))
