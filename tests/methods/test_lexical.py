"""Lexical: what counts as a match, what moves a score, and labels that were never seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document, Section, SectionKind
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import evaluate
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.lexical import Lexical, LexicalSettings
from labelwise.methods.name_matches import FOUND, TOGETHER, Name, NameIndex
from labelwise.methods.name_weights import learned_weights
from labelwise.text.tokenized import tokenize_corpus

NAMES = [
    Name(0, "citrus fruit", False),
    Name(0, "agrumes", True),
    Name(1, "fruit", False),
    Name(2, "import policy (EU)", False),
    Name(3, "fishery", False),
]
COUNTS = {"citrus": 2, "fruit": 50, "import": 60, "polici": 30, "eu": 90, "fisheri": 10}


def act(**sections: str) -> Document:
    return Document("a", "", tuple(Section(_kind(k), text) for k, text in sections.items()))


def _kind(name: str) -> SectionKind:
    kinds: dict[str, SectionKind] = {
        "header": "header",
        "recitals": "recitals",
        "article": "article",
        "attachments": "attachments",
    }
    return kinds[name.rstrip("_")]


def together(document: Document) -> dict[int, dict[str, float]]:
    """By label, the features of the names that stand together in a document."""
    index = NameIndex(NAMES, labels=4, documents=100, counts=COUNTS)
    features = index.features(tokenize_corpus([document]), 0, 1)
    return {
        int(label): dict(zip(TOGETHER, map(float, row), strict=True))
        for label, row in zip(features.columns, features.together, strict=True)
    }


def found(document: Document) -> dict[str, NDArray[np.float32]]:
    index = NameIndex(NAMES, labels=4, documents=100, counts=COUNTS)
    features = index.features(tokenize_corpus([document]), 0, 1)
    return dict(zip(FOUND, features.found[:, 0], strict=True))


def test_inflection_and_word_order_are_forgiven() -> None:
    assert set(together(act(article="Fisheries. Fruits of the citrus kind."))) == {0, 1, 3}


def test_words_far_apart_are_not_together_but_found() -> None:
    document = act(article="Citrus growers in the south of the island sell wine and fruit.")
    assert 0 not in together(document)
    assert found(document)["share"][0] == pytest.approx(1)
    assert found(act(article="Citrus growers"))["share"][0] < 1


def test_no_match_crosses_a_section() -> None:
    assert 0 not in together(act(article="imports of citrus", article_="fruit from overseas"))


def test_the_phrase_is_told_from_words_in_another_order() -> None:
    assert together(act(article="CITRUS\nFRUIT"))[0]["phrase"] == 1
    assert together(act(article="fruit, citrus"))[0]["phrase"] == 0


def test_a_longer_name_leaves_its_words_not_to_the_shorter_one() -> None:
    inside = together(act(article="Citrus fruit"))[1]
    assert (inside["times"] > 0, inside["free"]) == (True, 0)
    assert together(act(article="Citrus fruit and other fruit"))[1]["free"] == 1


def test_a_remark_in_brackets_may_be_missing() -> None:
    assert 2 in together(act(article="the import policy of the Member States"))
    assert found(act(article="import policy"))["share"][2] < 1


def test_zones_times_and_places_are_counted() -> None:
    one = together(
        act(header="Fisheries", recitals="No word of it", attachments="Fishery, fishery")
    )
    assert [one[3][kind] for kind in ("header", "recitals", "article", "attachments")] == [
        1,
        0,
        0,
        1,
    ]
    assert one[3]["times"] == pytest.approx(np.log1p(3))
    assert one[3]["early"] == 0
    assert together(act(article="This is about fishery"))[3]["early"] == pytest.approx(-np.log1p(3))


def test_an_alternative_label_counts_for_its_label_and_says_so() -> None:
    matches = together(act(article="agrumes"))
    assert matches[0]["alternative"] == 1
    assert together(act(article="agrumes, citrus fruit"))[0]["alternative"] == 0


def test_cosines_follow_the_formula() -> None:
    document = act(header="Fruit", article="citrus fruit")
    idf = {word: np.log(101 / (1 + COUNTS[word])) + 0.1 for word in ("citrus", "fruit")}
    length = np.sqrt(idf["citrus"] ** 2 + idf["fruit"] ** 2)
    whole = (np.log(2) * idf["citrus"] ** 2 + np.log(3) * idf["fruit"] ** 2) / length
    assert found(document)["names"][0] == pytest.approx(whole, rel=1e-5)
    assert found(document)["in header"][0] == pytest.approx(
        np.log(2) * idf["fruit"] ** 2 / length, rel=1e-5
    )


def test_weights_are_where_the_slope_is_zero() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 3)).astype(np.float32)
    document, gold = np.repeat(np.arange(40), 10), random.random(400) < 0.2
    weight = random.random(400) + 0.5
    w = learned_weights(x, document, gold, weight, 0.01)

    def loss(w: NDArray[np.float64]) -> float:
        s, total = x.astype(float) @ w, 0.0
        for at in np.flatnonzero(gold):
            rivals = (document == document[at]) & ~gold
            others = (weight[rivals] * np.exp(s[rivals])).sum()
            total -= weight[at] * np.log(np.exp(s[at]) / (np.exp(s[at]) + others))
        size = 0.01 / 2 * ((w * x.std(axis=0)) ** 2).sum()
        return float(total / weight[gold].sum() + size)

    for step in 0.02 * np.vstack([np.eye(3), -np.eye(3)]):
        assert loss(w + step) > loss(w)


@pytest.fixture(scope="module")
def lexical(synthetic: Dataset) -> Lexical:
    method = Lexical()
    method.thesaurus = synthetic.thesaurus
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return method


def test_it_finds_more_than_exact_match(lexical: Lexical, synthetic: Dataset) -> None:
    space = synthetic.label_space
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, space)
    gold = space.gold(synthetic.test)
    ours = evaluate(lexical.scores(synthetic.test), gold, space)
    theirs = evaluate(exact.scores(synthetic.test), gold, space)
    assert ours["all"]["RP@5"] > theirs["all"]["RP@5"]
    assert ours["zero"]["RP@5"] >= theirs["zero"]["RP@5"]
    assert ours["zero"]["RP@5"] > ours.chance["zero"]["RP@5"] + 0.2


def test_weights_learned_on_half_the_labels_serve_the_other_half(synthetic: Dataset) -> None:
    """What is learned is how names match, not which label is which."""
    space = synthetic.label_space
    held_out = {label.id for label in space.labels[::2]}

    def fitted(documents: tuple[Document, ...]) -> Lexical:
        method = Lexical()
        method.fit(documents, (), space)
        return method

    blind = fitted(
        tuple(
            replace(one, labels=tuple(label for label in one.labels if label not in held_out))
            for one in synthetic.train
        )
    )
    gold = space.gold(synthetic.test)[:, ::2].toarray() > 0
    both = [method.scores(synthetic.test)[:, ::2] for method in (blind, fitted(synthetic.train))]
    means = [(one.argsort(axis=1).argsort(axis=1)[gold] + 1).mean() for one in both]
    assert means[0] > 0.95 * means[1]


def test_a_label_added_later_is_scored_as_if_it_had_been_there(
    lexical: Lexical, synthetic: Dataset
) -> None:
    document = act(header="Regulation on electric bicycles", article="An electric bicycle is ...")
    wider = lexical.with_labels({"7001": "electric bicycle"})
    column = wider.label_space.index["7001"]
    assert wider.scores([document])[0].argmax() == column
    assert wider.scores(synthetic.test[:20])[:, column].max() < wider.scores([document])[0, column]
    [evidence] = wider.evidence(document, ["7001"])
    lit = [document.text[span.start : span.end] for span in evidence.spans]
    assert lit == ["electric", "bicycles", "electric", "bicycle"]
    assert sum(span.weight for span in evidence.spans) == pytest.approx(1)


def test_alternative_labels_come_from_the_thesaurus_and_stay_in_the_state() -> None:
    concept = Concept("2", "", "citrus fruit", ("agrumes",))
    space = LabelSpace.from_counts({"1": 1, "2": 1}, {"1": "import", "2": "citrus fruit"})
    method = Lexical()
    method.thesaurus = Thesaurus.of([concept])
    method.fit([Document("t", "", (Section("article", "import"),), ("1",))], [], space)
    again = Lexical.restore(method.settings, space, method.state())
    for one in (method, again):
        [evidence] = one.evidence(act(article="Agrumes"), ["2"])
        assert [(span.start, span.end) for span in evidence.spans] == [(0, 7)]


def test_a_label_added_with_a_thesaurus_is_found_by_its_alternative_labels(
    lexical: Lexical, synthetic: Dataset
) -> None:
    document = act(header="Regulation on pedelecs", article="A pedelec is ...")
    extra = {"7001": "electric bicycle"}
    thesaurus = Thesaurus.of([Concept("7001", "", "electric bicycle", ("pedelec",))])
    alone, known = lexical.with_labels(extra), lexical.with_labels(extra, thesaurus)
    column = known.label_space.index["7001"]
    assert known.scores([document])[0].argmax() == column
    assert known.scores([document])[0, column] > alone.scores([document])[0, column]
    again = Lexical.restore(known.settings, known.label_space, known.state())
    np.testing.assert_array_equal(again.scores([document]), known.scores([document]))


def test_labels_without_a_word_are_scored_and_have_no_evidence() -> None:
    space = LabelSpace.from_counts({"1": 1, "2": 1}, {"1": "import", "2": "§"})
    method = Lexical(LexicalSettings(min_count=1))
    method.fit([Document("t", "", (Section("article", "import"),), ("1",))], [], space)
    document = act(article="imports §")
    assert method.scores([document])[0, 0] >= method.scores([document])[0, 1]
    assert method.evidence(document, ["2"])[0].spans == ()


@pytest.mark.parametrize("name", ["§", "zebra"])
def test_names_that_stand_in_no_document_are_refused_in_a_sentence(name: str) -> None:
    space = LabelSpace.from_counts({"1": 1}, {"1": name})
    with pytest.raises(LabelwiseError, match="no training document has a word of a label's name"):
        Lexical().fit([Document("t", "", (Section("article", "import"),), ("1",))], [], space)


@pytest.mark.real
@pytest.mark.slow
def test_unseen_labels_of_real_acts_are_found(real_data: Path) -> None:
    """Zero-shot RP@5 of 87 dev documents; Exact Match has .20."""
    data = open_dataset(real_data)
    space = data.label_space
    method = Lexical(LexicalSettings(documents=500))
    method.thesaurus = data.thesaurus
    method.fit(data.train[::20], [], space)
    zero = {label.id for label in space.labels if label.group == "zero"}
    documents = [one for one in data.dev if zero.intersection(one.labels)]
    scores = method.scores(documents)
    assert evaluate(scores, space.gold(documents), space)["zero"]["RP@5"] > 0.4


def test_what_stands_after_the_first_words_is_not_read(synthetic: Dataset) -> None:
    """In the annexes of a long act stand the names of much that it is not about."""
    lexical = Lexical(LexicalSettings(first_words=40))
    lexical.fit(synthetic.train[:60], synthetic.dev[:20], synthetic.label_space)
    name = lexical.label_space.labels[0].descriptor
    short = Document("1", "", (Section("header", "On fees"), Section("recitals", "whereas " * 30)))
    near = replace(short, sections=(*short.sections, Section("attachments", f"{name} ")))
    far = replace(short, sections=(*short.sections, Section("attachments", "of " * 20 + name)))
    alone, named, beyond = lexical.scores([short, near, far])
    assert named[0] > alone[0]
    np.testing.assert_array_equal(beyond, alone)
    [found] = lexical.evidence(near, [lexical.label_space.ids[0]])
    assert {near.text[span.start : span.end] for span in found.spans} <= set(name.split())
    [found] = lexical.evidence(far, [lexical.label_space.ids[0]])
    assert not found.spans
