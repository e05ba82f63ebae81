"""`labelwise.sklearn`: an estimator like any other of scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from labelwise.sklearn import Tagger


@pytest.fixture(scope="module")
def texts(synthetic: Dataset) -> list[str]:
    return [one.text for one in synthetic.train[:200]]


@pytest.fixture(scope="module")
def labels(synthetic: Dataset) -> list[list[str]]:
    return [list(one.labels) for one in synthetic.train[:200]]


@pytest.fixture(scope="module")
def fitted(texts: list[str], labels: list[list[str]]) -> Tagger:
    return Tagger("svm", settings={"min_count": 1}).fit(texts, labels)


def test_it_learns_labels_and_gives_a_probability_of_each(
    fitted: Tagger, texts: list[str], labels: list[list[str]]
) -> None:
    scores = fitted.predict_proba(texts[:20])
    assert scores.shape == (20, len(fitted.classes_))
    assert ((scores >= 0) & (scores <= 1)).all()
    threshold = fitted.model_.threshold
    for row, found in zip(scores, fitted.predict(texts[:20]), strict=True):
        assert set(found) == {str(id) for id in fitted.classes_[row > threshold]}
    again = Tagger("svm", settings={"min_count": 1}).fit(texts, labels)
    np.testing.assert_array_equal(again.predict_proba(texts[:20]), scores)
    assert fitted.score(texts, labels) > 0.6


def test_of_the_documents_that_the_threshold_is_chosen_on_nothing_is_learned(
    texts: list[str], labels: list[list[str]]
) -> None:
    """A label counts the documents that it was learned from."""
    tagger = Tagger("exact-match", dev=0.25).fit(texts, [["one"] for _ in labels])
    assert tagger.model_.labels.counts.tolist() == [0.75 * len(texts)]


def test_a_clone_has_the_parameters_and_nothing_of_what_was_learned(fitted: Tagger) -> None:
    other = clone(fitted).set_params(dev=0.2)
    assert other.get_params() == {**fitted.get_params(), "dev": 0.2}
    assert other.settings == {"min_count": 1}
    with pytest.raises(NotFittedError):
        check_is_fitted(other)


def test_it_stands_in_a_pipeline_that_is_cross_validated(
    synthetic: Dataset, texts: list[str], labels: list[list[str]]
) -> None:
    names = {one.id: one.descriptor for one in synthetic.label_space.labels}
    lower = FunctionTransformer(lambda given: [text.lower() for text in given])
    pipe = Pipeline([("lower", lower), ("tag", Tagger("lexical", descriptors=names))])
    figures = cross_val_score(pipe, texts[:90], labels[:90], cv=3)
    assert figures.shape == (3,)
    assert (figures > 0).all()


def test_a_label_that_was_not_learned_is_missed(
    fitted: Tagger, texts: list[str], labels: list[list[str]]
) -> None:
    strange = [["no such label"] for _ in labels]
    assert fitted.score(texts[:9], strange[:9]) == 0
    both = [[*of, "no such label"] for of in labels]
    assert fitted.score(texts, both) < fitted.score(texts, labels)


def test_labels_and_their_descriptors_may_be_numbers() -> None:
    """A label is known by its text: 693 and "693" are the same, in y and in descriptors."""
    texts = ["imports of citrus fruit", "exports of steel"] * 4
    names: Any = {693: "citrus fruit", 1309: "steel"}
    tagger = Tagger("exact-match", descriptors=names).fit(texts, [[693], [1309]] * 4)
    assert tagger.predict(texts[:2]) == [["693"], ["1309"]]
    assert [one.descriptor for one in tagger.model_.labels.labels] == ["steel", "citrus fruit"]


def test_what_is_wrong_is_said_in_a_sentence(texts: list[str], labels: list[list[str]]) -> None:
    with pytest.raises(LabelwiseError, match="there are 200 texts and labels of 3"):
        Tagger().fit(texts, labels[:3])
    with pytest.raises(LabelwiseError, match="dev is a share of the documents"):
        Tagger(dev=2).fit(texts, labels)
    of_a_form: Any = "0.1"
    with pytest.raises(LabelwiseError, match=r"dev is a share .* not '0\.1'"):
        Tagger(dev=of_a_form).fit(texts, labels)
    with pytest.raises(LabelwiseError, match="there is no setting 'depth'; svm has these"):
        Tagger(settings={"depth": 3}).fit(texts, labels)
    with pytest.raises(LabelwiseError, match="seed must be at least 0, not -1"):
        Tagger(settings={"seed": -1}).fit(texts, labels)
    with pytest.raises(LabelwiseError, match="two documents are needed"):
        Tagger().fit(texts[:1], labels[:1])


def test_without_scikit_learn_it_names_the_extra_and_the_rest_works() -> None:
    code = (
        "import sys\nsys.modules['sklearn'] = None\n"
        "import labelwise\nlabelwise.load, labelwise.train\n"
        "try:\n    import labelwise.sklearn\nexcept Exception as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'labelwise[sklearn]'" in done.stdout


class Frame(list[str]):
    """A table as pandas has it: to Python, the names of its columns."""

    ndim = 2

    def __init__(self) -> None:
        super().__init__(["text", "language"])


def test_what_would_be_read_as_other_texts_or_labels_is_refused() -> None:
    """A text is a list of letters to Python, and a matrix one of ones and zeros."""
    texts = ["imports of citrus fruit", "exports of steel", "imports of steel"]
    wrong_labels: list[tuple[Any, str]] = [
        (["fruit", "steel", "steel"], r"^y\[0\] is no list of labels: 'fruit'$"),
        ([["fruit"], None, ["steel"]], r"^y\[1\] is no list of labels: None$"),
        (np.eye(3, dtype=int), "by name, and not a matrix"),
        (scipy.sparse.csr_matrix(np.eye(3)), "by name, and not a matrix"),
        ([["fruit"], ["steel", ""], ["steel"]], r"^y\[1\] has a label without a name: ''$"),
        ([["fruit"], [None], ["steel"]], r"^y\[1\] has a label without a name: None$"),
        ([["fruit"], [float("nan")], ["steel"]], r"^y\[1\] has a label without a name: nan$"),
    ]
    for labels, told in wrong_labels:
        with pytest.raises(LabelwiseError, match=told):
            Tagger("exact-match").fit(texts, labels)
    wrong_texts: list[tuple[Any, str]] = [
        (texts[0], "this is one text: put it in a list"),
        ([*texts[:2], None], r"^X\[2\] is no text: None$"),
        (None, "a list of texts was expected, not None"),
        (Frame(), "a list of texts was expected, not a table: give one column of it"),
        (np.array([texts]), "a list of texts was expected, not a table: give one column of it"),
    ]
    tagger = Tagger("exact-match").fit(texts, np.array([["fruit"], ["steel"], ["steel"]]))
    for given, told in wrong_texts:
        with pytest.raises(LabelwiseError, match=told):
            tagger.predict(given)


@pytest.mark.parametrize("descriptors", [["citrus fruit"], {"fruit": None}, "citrus fruit"])
def test_descriptors_are_names_by_label(descriptors: Any) -> None:
    with pytest.raises(LabelwiseError, match=r"^descriptors are names by label, .*, not "):
        Tagger("exact-match", descriptors=descriptors).fit(["a", "b"], [["fruit"], ["steel"]])


def test_a_text_without_a_word_has_no_labels(
    fitted: Tagger, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `tag`, where its scores are those of any other such text."""
    monkeypatch.setattr(fitted.model_.method, "threshold", 0.0)
    some, *none = fitted.predict([texts[0], "", "... (!)"])
    assert some
    assert none == [[], []]
    assert fitted.predict_proba([""]).shape == (1, len(fitted.classes_))


def test_what_was_not_fitted_says_so_as_others_do() -> None:
    for call in (Tagger().predict, Tagger().predict_proba, lambda X: Tagger().score(X, [["a"]])):
        with pytest.raises(NotFittedError):
            call(["a text"])
