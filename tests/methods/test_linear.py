"""The linear methods: evidence adds up to the score, probabilities are calibrated on dev."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.odds import sigmoid
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.linear import LinearMethod
from labelwise.methods.logistic import Logistic, LogisticSettings
from labelwise.methods.svm import SVM, SVMSettings, platt


@pytest.fixture(scope="module")
def svm(synthetic: Dataset) -> SVM:
    method = SVM()
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return method


def test_contributions_add_up_to_the_margin(svm: SVM, synthetic: Dataset) -> None:
    document = synthetic.test[3]
    margins = svm._margins([document])[0]
    at = int(margins.argmax())
    label = synthetic.label_space.ids[svm._columns[at]]
    x = svm.features([document])
    weights = svm._weights[:, at].toarray().ravel()
    total = np.abs(x.toarray().ravel() * weights).sum()
    [evidence] = svm.evidence(document, [label])
    added = sum(span.weight for span in evidence.spans) * total + svm._biases[at]
    assert added == pytest.approx(margins[at], abs=1e-4)


def test_it_learns_what_exact_match_cannot(svm: SVM, synthetic: Dataset) -> None:
    gold = synthetic.label_space.gold(synthetic.test)
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    ours = evaluate(svm.scores(synthetic.test), gold, synthetic.label_space)
    theirs = evaluate(exact.scores(synthetic.test), gold, synthetic.label_space)
    assert ours["all"]["RP@5"] > theirs["all"]["RP@5"] + 0.2
    assert ours["few"]["RP@5"] > theirs["few"]["RP@5"] + 0.2


def test_labels_without_a_training_document_score_zero(svm: SVM, synthetic: Dataset) -> None:
    zero = synthetic.label_space.groups["zero"]
    assert zero.stop > zero.start
    assert (svm.scores(synthetic.test)[:, zero] == 0).all()
    [evidence] = svm.evidence(synthetic.test[0], [synthetic.label_space.ids[zero.start]])
    assert evidence.spans == ()


def test_the_svm_gives_as_many_labels_a_chance_on_dev_as_are_gold(
    svm: SVM, synthetic: Dataset
) -> None:
    """Platt's sigmoid of the highest likelihood expects as many gold labels as there are."""
    gold = synthetic.label_space.gold(synthetic.dev)
    assert svm.scores(synthetic.dev).sum() == pytest.approx(gold[:, svm._columns].sum(), rel=0.02)


@pytest.mark.parametrize("cls", [SVM, Logistic])
def test_pruning_keeps_the_ranking(cls: type[LinearMethod], synthetic: Dataset) -> None:
    gold = synthetic.label_space.gold(synthetic.dev)
    settings = {SVM: SVMSettings(), Logistic: LogisticSettings(longest_ngram=2, passes=6)}[cls]
    found = {}
    for prune in (0.0, settings.prune):
        method = cls(dataclasses.replace(settings, prune=prune))
        method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
        measured = evaluate(method.scores(synthetic.dev), gold, synthetic.label_space)
        found[prune] = (measured["all"]["RP@5"], method._weights.nnz)
    assert found[settings.prune][0] == pytest.approx(found[0.0][0], abs=0.01)
    assert found[settings.prune][1] < found[0.0][1]


@pytest.mark.parametrize(
    ("name", "value"), [("C", 0.0), ("passes", 0), ("min_count", -1), ("prune", float("nan"))]
)
def test_settings_that_make_no_sense_are_refused(name: str, value: float) -> None:
    with pytest.raises(LabelwiseError, match=f"{name} must be at least"):
        SVMSettings(**{name: value})


def test_platt_recovers_the_sigmoid_that_drew_the_labels() -> None:
    random = np.random.default_rng(0)
    margins = random.normal(-1, 1, size=200_000).astype(np.float32)
    gold = random.random(len(margins)) < sigmoid(5 * margins - 0.7)
    slope, offset = platt(margins, gold)
    assert slope == pytest.approx(5, rel=0.05)
    assert offset == pytest.approx(-0.7, abs=0.05)


def test_platt_stays_finite_where_margins_separate_perfectly() -> None:
    margins = np.array([-2.0, -1.0, 1.0, 2.0], dtype=np.float32)
    slope, offset = platt(margins, margins > 0)
    assert np.isfinite([slope, offset]).all()
    assert slope > 0
