"""A trained method that learns from decisions: what people chose comes up, what they refused goes
down, and what they never spoke of stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from bundle_cases import contents, rewrite, wrong_arrays
from network_cases import acts, label_space

from labelwise import bundle
from labelwise.corpus.decisions import Decided
from labelwise.corpus.document import Document
from labelwise.corpus.labels import GROUPS
from labelwise.errors import BundleError, LabelwiseError
from labelwise.evaluation.calibration import Calibration, Certificate, Curve
from labelwise.methods import Method
from labelwise.methods.base import Widening
from labelwise.methods.blend import Blend, member_odds
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.learned import Learned, learn
from labelwise.methods.svm import SVM, SVMSettings
from labelwise.methods.taught import FLOOR, WORDS, heaviest

UNSEEN = "693"
"""A label that no training document of these models carries, and decided acts do."""

DECIDED, LATER = acts(40, seed=2), acts(30, seed=3)


@pytest.fixture(scope="module")
def methods() -> dict[str, Method]:
    train = acts(60)
    without = [replace(one, labels=tuple({*one.labels} - {UNSEEN})) for one in train]
    counts = {label.id: label.count for label in label_space(train).labels} | {UNSEEN: 0}
    space = label_space(train).recounted(counts)
    svm, exact = SVM(SVMSettings(passes=4, min_count=1)), ExactMatch()
    for method in (svm, exact):
        method.fit(without, [], space)
    return {"svm": svm, "exact-match": exact, "blend": Blend.from_methods([svm, exact])}


@pytest.fixture(scope="module")
def learned(methods: dict[str, Method]) -> Learned:
    return taught(methods["svm"], DECIDED)


def taught(method: Method, documents: Sequence[Document]) -> Learned:
    """The method after these acts were decided with their gold labels, and done."""
    decided = {one.id: Decided(set(one.labels), set(), done=True) for one in documents}
    return learn(method, {one.id: one for one in documents}, decided)


def test_a_label_without_training_documents_is_found_after_decisions(
    methods: dict[str, Method], learned: Learned
) -> None:
    column = learned.label_space.index[UNSEEN]
    has = np.array([UNSEEN in one.labels for one in LATER])
    assert not methods["svm"].scores(LATER)[:, column].any()
    scores = learned.scores(LATER)[:, column]
    better = (scores[has][:, None] > scores[~has]).mean()  # the area under the curve
    assert better > 0.8
    assert learned.counts["units"] == 1
    assert (learned.name, learned.settings) == ("svm", methods["svm"].settings)


def test_a_label_that_nobody_spoke_of_keeps_its_score(
    methods: dict[str, Method], learned: Learned
) -> None:
    rest = np.setdiff1d(np.arange(len(learned.label_space)), learned.lessons.columns)
    assert len(rest)
    before, after = methods["svm"].scores(LATER), learned.scores(LATER)
    np.testing.assert_array_equal(after[:, rest], before[:, rest])


def test_what_was_decided_of_an_act_is_remembered_when_it_comes_again(
    methods: dict[str, Method],
) -> None:
    act, other = LATER[0], LATER[1]
    method, space = methods["svm"], methods["svm"].label_space
    best = int(np.argmax(method.scores([act])[0]))
    made = learn(method, {act.id: act}, {act.id: Decided(set(), {space.ids[best]})})
    before = member_odds(method.scores([act, other])[:, best])
    lost = before - member_odds(made.scores([act, other])[:, best])
    assert lost[0] > 0.3  # of the act itself
    assert lost[1] < lost[0] / 2  # of another one


def test_of_an_act_that_is_not_done_only_what_was_decided_counts(
    methods: dict[str, Method],
) -> None:
    act = LATER[0]
    method, space = methods["svm"], methods["svm"].label_space
    best, second = np.argsort(-method.scores([act])[0])[:2]
    made = learn(method, {act.id: act}, {act.id: Decided(set(), {space.ids[best]})})
    before, after = method.scores([act])[0], made.scores([act])[0]
    assert after[best] < before[best]
    assert after[second] == pytest.approx(before[second], rel=1e-3)


def test_the_weights_are_those_of_the_highest_likelihood(learned: Learned) -> None:
    """Where the objective has no slope, each weight is what the likelihood still wants."""
    lessons, memory = learned.lessons, learned.taught
    similar = memory.similar(memory.features).astype(float)
    a, belief = lessons.weights.toarray().astype(float), lessons.belief
    z = memory.before[:, lessons.columns].toarray() + FLOOR
    z += (belief.calibration + belief.memory * similar**3) @ a
    z += belief.unit * similar @ (a * lessons.has_unit)
    chosen = memory.verdicts[:, lessons.columns].toarray() > 0
    np.testing.assert_allclose(a, chosen - 1 / (1 + np.exp(-z)), atol=0.01)


@pytest.mark.parametrize("kind", ["svm", "blend"])
def test_saved_and_loaded_it_scores_and_explains_the_same(
    methods: dict[str, Method], tmp_path: Path, kind: str
) -> None:
    method = methods[kind]
    method.calibration = Calibration(
        {group: Curve("platt", (1.1, 0.1)) for group in GROUPS}, (Certificate(0.9, 0.5),)
    )
    try:
        made = taught(method, DECIDED)
        bundle.save(made, tmp_path / "made.bundle")
        scores, again = made.scores(LATER), bundle.load(tmp_path / "made.bundle")
    finally:
        method.calibration = None
    np.testing.assert_allclose(again.scores(LATER), scores, atol=0.01)
    np.testing.assert_allclose(again.best_scores(LATER), scores, atol=0.01)
    for one in again.evidence(LATER[0], ["693", "1309", "5255"]):
        total = sum(abs(span.weight) for span in one.spans)
        assert total == pytest.approx(1 if one.spans else 0, abs=1e-3)
    assert again.calibration is not None
    assert not again.calibration.certificates  # they were the method's
    assert isinstance(again, Widening) == (kind == "blend")


def test_the_words_of_decided_acts_are_evidence(learned: Learned) -> None:
    act = next(one for one in LATER if UNSEEN in one.labels)
    [found] = learned.evidence(act, [UNSEEN])
    assert found.kind == "contribution"
    best = max(found.spans, key=lambda span: span.weight)  # the svm alone has none
    assert act.text[best.start : best.end].lower() in "citrus fruit oranges lemons grapefruit"
    assert sum(abs(span.weight) for span in found.spans) == pytest.approx(1, abs=1e-5)


def test_learned_in_two_parts_it_knows_what_it_learned_at_once(
    methods: dict[str, Method], learned: Learned
) -> None:
    first = taught(methods["svm"], DECIDED[:25])
    documents = DECIDED[20:]
    decided = {one.id: Decided(set(one.labels), set(), done=True) for one in documents}
    made = learn(first, {one.id: one for one in documents}, decided)
    assert made.taught.acts == learned.taught.acts
    np.testing.assert_allclose(made.scores(LATER), learned.scores(LATER), atol=1e-3)


def test_labels_may_be_added_after_it(methods: dict[str, Method]) -> None:
    made = taught(methods["blend"], DECIDED)
    assert isinstance(made, Widening)
    wider = made.with_labels({"0000": "citrus grapefruit"})  # others of its group make room
    old, new = made.label_space, wider.label_space
    moved = [new.index[id] for id in old.ids]
    np.testing.assert_allclose(wider.scores(LATER)[:, moved], made.scores(LATER), atol=1e-6)


def test_a_model_that_reads_no_words_cannot_learn(methods: dict[str, Method]) -> None:
    with pytest.raises(LabelwiseError, match="exact-match cannot learn from decisions"):
        taught(methods["exact-match"], DECIDED)
    with pytest.raises(LabelwiseError, match="no decided act"):
        taught(methods["svm"], [])


def test_of_a_long_act_the_heaviest_words_are_remembered() -> None:
    weights = np.random.default_rng(0).random((2, 2 * WORDS)).astype(np.float32)
    weights[1, 3:] = 0
    kept = heaviest(sp.csr_matrix(weights))
    assert np.diff(kept.indptr).tolist() == [WORDS, 3]
    assert set(kept[0].indices) == set(np.argsort(-weights[0])[:WORDS])
    np.testing.assert_allclose(kept.multiply(kept).sum(axis=1), 1, rtol=1e-5)


def test_a_bundle_that_makes_no_sense_is_refused(
    methods: dict[str, Method], tmp_path: Path
) -> None:
    bundle.save(taught(methods["svm"], DECIDED[:3]), tmp_path / "b")
    manifest, arrays, _ = contents(tmp_path / "b")
    own = {name: one for name, one in arrays.items() if name.startswith("learned.")}
    rest = {name: one for name, one in arrays.items() if name not in own}
    for _, wrong in wrong_arrays(own):
        rewrite(tmp_path / "b", manifest, rest | wrong)
        with pytest.raises(BundleError):
            bundle.load(tmp_path / "b")
