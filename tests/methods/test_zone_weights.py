"""What each zone of an act counts for in tf-idf: what is read of long acts, and shown of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.methods.svm import SVM, SVMSettings
from labelwise.text.ngrams import Ngrams
from labelwise.text.tfidf import Tfidf
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.zones_read import ZoneWeights


def trained(synthetic: Dataset, **settings: float) -> SVM:
    method = SVM(replace(SVMSettings(passes=3), **settings))  # type: ignore[arg-type]
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return method


@pytest.fixture(scope="module")
def weighed(synthetic: Dataset) -> SVM:
    return trained(synthetic, header_weight=2, articles_weight=0.5, annexes_weight=0)


def test_even_weights_are_no_weights() -> None:
    act = Document("1", "", (Section("header", "Citrus fruit"), Section("article", "Fruit.")))
    corpus = tokenize_corpus([act])
    grams = Ngrams.fit(corpus, min_count=1)
    plain = grams.count(corpus)
    even = grams.count(corpus, ZoneWeights().of(corpus))
    assert (plain != even).nnz == 0


def test_an_occurrence_counts_for_what_its_zone_does() -> None:
    act = Document(
        *("1", ""),
        (
            Section("header", "citrus"),
            Section("recitals", "citrus fruit"),
            Section("article", "fruit fruit"),
            Section("attachments", "annex annex annex"),
        ),
    )
    corpus = tokenize_corpus([act])
    grams = Ngrams.fit(corpus, min_count=1)
    counts = grams.count(corpus, ZoneWeights(header=3, article=0.5, attachments=0).of(corpus))
    by_name = dict(zip(grams.names(), counts.toarray()[0].tolist(), strict=True))
    assert by_name == {"annex": 0, "fruit": 2, "citrus": 4}
    assert counts.nnz == 2


def test_the_weights_of_many_documents_are_those_of_each(synthetic: Dataset) -> None:
    zones = ZoneWeights(header=2, article=0.5, most_words=30)
    some = synthetic.train[:50]
    together = zones.of(tokenize_corpus(some)).tolist()
    alone = [weight for one in some for weight in zones.of(tokenize_corpus([one])).tolist()]
    assert together == pytest.approx(alone)


def test_a_text_without_zones_is_read_whole() -> None:
    zones = ZoneWeights(header=2, article=0.25)
    plain = tokenize_corpus([Document("1", "", (Section("article", "Citrus fruit"),))])
    assert zones.of(plain).tolist() == [2.0]


def test_what_stands_in_a_zone_that_does_not_count_changes_nothing(
    weighed: SVM, synthetic: Dataset
) -> None:
    act = synthetic.test[0]
    other = replace(act, sections=(*act.sections, Section("attachments", synthetic.test[1].text)))
    np.testing.assert_array_equal(weighed.scores([other]), weighed.scores([act]))


def test_evidence_is_spread_by_what_occurrences_count_for(weighed: SVM, synthetic: Dataset) -> None:
    act = synthetic.test[3]
    added = weighed._margins([act])[0]
    at = int(added.argmax())
    label = synthetic.label_space.ids[weighed._columns[at]]
    total = np.abs(
        weighed.features([act]).toarray().ravel() * weighed._weights[:, at].toarray().ravel()
    ).sum()
    [evidence] = weighed.evidence(act, [label])
    told = sum(span.weight for span in evidence.spans) * total + weighed._biases[at]
    assert told == pytest.approx(added[at], abs=1e-4)
    annex = replace(act, sections=(*act.sections, Section("attachments", act.text)))
    assert weighed.evidence(annex, [label]) == [evidence]


def test_a_long_annex_does_not_drown_the_recitals() -> None:
    """However long the annex, its words count together as the words of a short one do."""
    about = Section("recitals", "citrus fruit imports")
    features = []
    for times in (10, 1_000):
        annex = Section("attachments", "table figures " * times)
        corpus = tokenize_corpus([Document("1", "", (about, annex))])
        grams = Ngrams(("citrus", "fruit", "imports", "table", "figures"))
        tfidf = Tfidf(grams, np.ones(5, dtype=np.float32))
        features.append(tfidf.transform(corpus, ZoneWeights(most_words=20).of(corpus)).toarray())
    np.testing.assert_allclose(features[0], features[1], rtol=1e-5)


def test_a_weight_below_zero_is_refused() -> None:
    with pytest.raises(LabelwiseError, match="annexes_weight must be at least 0"):
        SVMSettings(annexes_weight=-1)
