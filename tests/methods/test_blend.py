"""A blend weighs its members by how often a label was seen, and stays one method like any other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from network_cases import act, acts, fitted, label_space

from labelwise import bundle
from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.methods import Evidence, Method, Span
from labelwise.methods.blend import Blend, member_odds
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.mixing import Mixing, _candidates
from labelwise.methods.svm import SVM, SVMSettings

DOCUMENTS = acts(6, seed=7)
DEV = [*acts(20, seed=1), Document("v", "", act(1, ("5255",)).sections, ("5255",))]


@pytest.fixture(scope="module")
def members() -> list[Method]:
    """A linear model, a network, a network that knows descriptors, and the descriptors' search."""
    torch.set_num_threads(1)
    train = acts(60)
    svm, exact = SVM(SVMSettings(passes=4, min_count=1)), ExactMatch()
    for method in (svm, exact):
        method.fit(train, acts(12, seed=1), label_space(train))
    return [svm, fitted("bigru-lwan"), fitted("z-bigru-lwan"), exact]


@pytest.fixture(scope="module")
def blend(members: list[Method]) -> Blend:
    return Blend.from_methods(members, DEV)


# Weights

SEEN = np.full(40, 10)
BOTH = np.ones((2, 3), dtype=bool)


def drawn(seed: int, documents: int = 300) -> tuple[np.ndarray, list[np.ndarray]]:
    random = np.random.default_rng(seed)
    gold = random.random((documents, 40)) < 0.1
    return gold, [random.normal(size=gold.shape).astype(np.float32) for _ in range(3)]


def test_the_weight_goes_to_the_member_that_tells_the_gold_labels_apart() -> None:
    gold, noise = drawn(0)
    good = (2 * gold + noise[0]).astype(np.float32)
    weights, _ = Mixing.fitted([noise[1], good, noise[2]], gold, SEEN, BOTH).for_labels(SEEN)
    assert (weights[:, 1] > 10 * weights[:, [0, 2]].max(axis=1)).all()
    assert weights.min() >= 0


def test_members_that_err_on_different_labels_share_the_weight() -> None:
    gold, noise = drawn(1)
    one, other = (2 * gold + noise[0]), (2 * gold + noise[1])
    both = Mixing.fitted([one, other], gold, SEEN, BOTH[:, :2]).for_labels(SEEN)[0][0]
    assert both.min() > 0.8 * both.max()
    # The same with the members the other way round, and in a second call.
    turned = Mixing.fitted([other, one], gold, SEEN, BOTH[:, :2]).for_labels(SEEN)[0][0]
    np.testing.assert_allclose(turned[::-1], both, rtol=1e-3)
    again = Mixing.fitted([one, other], gold, SEEN, BOTH[:, :2]).for_labels(SEEN)[0][0]
    np.testing.assert_array_equal(again, both)


def test_weights_follow_how_often_a_label_was_seen() -> None:
    """One member knows the rare labels, the other the frequent ones."""
    gold, noise = drawn(2, 600)
    counts = np.repeat([1, 1000], 20)
    rare = noise[0] + 4 * gold * (counts == 1)
    frequent = noise[1] + 4 * gold * (counts == 1000)
    mixing = Mixing.fitted([rare, frequent], gold, counts, BOTH[:, :2])
    weights, _ = mixing.for_labels(np.array([1, 30, 1000]))
    assert weights[0, 0] > 3 * weights[0, 1]
    assert weights[2, 1] > 3 * weights[2, 0]
    assert weights[0, 0] > weights[1, 0] > weights[2, 0], "in between, something in between"


def test_labels_that_dev_says_little_of_are_weighed_as_those_seen_about_as_often() -> None:
    """Gold are labels seen a hundred times alone; others are in nobody's list."""
    gold, noise = drawn(4)
    good = (2 * gold + noise[0]).astype(np.float32)
    mixing = Mixing.fitted([good, noise[1]], gold, np.full(40, 100), BOTH[:, :2])
    weights, offsets = mixing.for_labels(np.array([3, 30, 100, 300]))
    np.testing.assert_allclose(weights, weights[[2]].repeat(4, 0), rtol=0.2, atol=0.05)
    np.testing.assert_allclose(offsets, offsets[[2]].repeat(4), rtol=0.2)


def test_gold_labels_that_no_member_ranks_high_are_learned_from() -> None:
    """Two hundred labels of which a member lists forty: it is told of those that it misses."""
    random = np.random.default_rng(5)
    gold = random.random((200, 200)) < 0.02
    logits = random.normal(size=gold.shape).astype(np.float32)
    documents, labels = _candidates([logits], gold, np.ones(200, dtype=bool), BOTH[:, :1])
    chosen = np.zeros_like(gold)
    chosen[documents, labels] = True
    assert chosen[gold].all()
    above = (logits[:, :, None] < logits[:, None, :]).sum(2) < 40
    np.testing.assert_array_equal(chosen, gold | above)


def test_of_unseen_labels_those_are_learned_from_that_a_member_lists_who_knows_words() -> None:
    """Ninety seen labels and ninety unseen ones, and a member that knows the seen ones alone."""
    random = np.random.default_rng(6)
    gold = np.zeros((50, 180), dtype=bool)
    logits = [random.normal(size=gold.shape).astype(np.float32) for _ in range(2)]
    seen, asked = np.arange(180) < 90, np.array([[False, True], [True, True]])
    documents, labels = _candidates(logits, gold, seen, asked)
    chosen = np.zeros_like(gold)
    chosen[documents, labels] = True

    def listed(one: np.ndarray) -> np.ndarray:
        return (one[:, :, None] < one[:, None, :]).sum(2) < 40

    of_seen = listed(logits[0][:, seen]) | listed(logits[1][:, seen])
    np.testing.assert_array_equal(chosen[:, seen], of_seen)
    np.testing.assert_array_equal(chosen[:, ~seen], listed(logits[1][:, ~seen]))


def test_the_last_knot_is_the_label_that_was_seen_most() -> None:
    gold, noise = drawn(7)
    mixing = Mixing.fitted([noise[0]], gold, np.arange(1, 41), BOTH[:, :1])
    assert mixing.knots[[0, -1]] == pytest.approx([0, np.log(40)])


def test_the_result_is_a_probability() -> None:
    gold, noise = drawn(3, 2000)
    good = 7 * (2 * gold + noise[0]) + 3  # on a scale of its own
    mixing = Mixing.fitted([good.astype(np.float32)], gold, SEEN, BOTH[:, :1])
    weights, offsets = mixing.for_labels(SEEN)
    p = 1 / (1 + np.exp(-(weights[:, 0] * good + offsets)))
    assert p.sum() == pytest.approx(gold.sum(), rel=0.02)


def test_without_gold_labels_all_members_weigh_the_same() -> None:
    nothing = np.zeros((3, 40), dtype=bool)
    mixing = Mixing.fitted([nothing.astype(np.float32)] * 3, nothing, SEEN, BOTH)
    np.testing.assert_allclose(mixing.for_labels(SEEN)[0], 1 / 3)
    assert not mixing.for_labels(SEEN)[1].any()


def test_unseen_labels_are_weighed_apart_and_by_those_who_know_words(members: list[Method]) -> None:
    blend = Blend.from_methods(members)
    gold = blend.label_space.gold(DEV)
    knows = np.clip(gold.toarray() * 0.8 + 0.1, 0, 1).astype(np.float32)
    blind = np.random.default_rng(0).uniform(0.1, 0.9, knows.shape).astype(np.float32)
    blend.choose([knows, blind, blind, blind], gold)
    weights, _ = blend.mixing.for_labels(blend.label_space.counts)
    assert (weights[:4, 0] > 3 * weights[:4, 1:].max(axis=1)).all()
    assert not weights[4, :2].any()


# Scores


def test_without_dev_documents_the_score_is_the_mean_of_the_log_odds(
    members: list[Method],
) -> None:
    blend = Blend.from_methods(members[:2])
    expected = np.mean([member_odds(member.scores(DOCUMENTS)) for member in members[:2]], axis=0)
    zero = blend.label_space.groups["zero"].start
    scores = blend.scores(DOCUMENTS)
    np.testing.assert_allclose(scores[:, :zero], 1 / (1 + np.exp(-expected[:, :zero])), rtol=1e-5)
    # Neither member can say anything about a label that it never saw.
    np.testing.assert_allclose(scores[:, zero:], 1e-9, rtol=1e-3)


def mixing(*weights: float, offset: float = 0.0) -> Mixing:
    """The same weights for all labels."""
    return Mixing(np.zeros(1), np.array([weights, weights]), np.array([offset, offset]))


def test_scores_are_weighted_log_odds_and_an_offset(members: list[Method]) -> None:
    blend = Blend.from_methods(members[:2])
    blend.mixing = mixing(0.5, 1.5, offset=-1.0)
    one, other = (member_odds(member.scores(DOCUMENTS)) for member in members[:2])
    logits = 0.5 * one + 1.5 * other - 1
    np.testing.assert_allclose(blend.scores(DOCUMENTS), 1 / (1 + np.exp(-logits)), rtol=1e-4)
    np.testing.assert_allclose(blend.best_scores(DOCUMENTS), blend.scores(DOCUMENTS))


def test_scores_are_probabilities_on_dev(blend: Blend) -> None:
    """The scores add up to about the gold labels."""
    gold = blend.label_space.gold(DEV).toarray()
    few = blend.label_space.groups["few"]
    assert blend.scores(DEV)[:, few].sum() == pytest.approx(gold[:, few].sum(), abs=1.5)


def test_a_few_dev_documents_do_not_turn_a_ranking_round(members: list[Method]) -> None:
    """Where the one document with an unseen label is ranked last, no weight is below zero."""
    blend = Blend.from_methods(members)
    gold = blend.label_space.gold(DEV)
    assert gold[:, 4].sum() == 1
    wrong = np.where(gold.toarray() > 0, 0.1, 0.9).astype(np.float32)
    blend.choose([wrong] * 4, gold)
    assert blend.mixing.weights.min() >= 0


def test_zero_shot_labels_stand_as_the_member_that_knows_words_ranks_them(
    members: list[Method],
) -> None:
    svm, lwan, z, _ = members
    extra = {"a": "oranges and lemons", "b": "trawler", "c": "wine bottling", "d": "customs"}
    blend = Blend.from_methods([svm, lwan, z]).with_labels(extra)
    wider = z.with_labels(extra)
    assert blend.label_space == wider.label_space
    zero = blend.label_space.groups["zero"]
    assert zero.stop - zero.start == 5
    ours, theirs = blend.scores(DOCUMENTS)[:, zero], wider.scores(DOCUMENTS)[:, zero]
    np.testing.assert_array_equal(np.argsort(-ours, axis=1), np.argsort(-theirs, axis=1))


def test_a_descriptor_in_the_text_counts_for_an_added_label(blend: Blend) -> None:
    wider = blend.with_labels({"99": "fishing vessel"})
    column = wider.label_space.index["99"]
    assert blend.mixing.weights[0, 3] > 0
    text = "The cod quota of a fishing {} shall not exceed the port tariff."
    there, absent = (
        Document("1", "", (Section("article", text.format(word)),)) for word in ("vessel", "wine")
    )
    with_it, without = wider.scores([there, absent])[:, column]
    assert with_it > without
    with pytest.raises(LabelwiseError, match="99 is already a label"):
        wider.with_labels({"99": "trawler"})


def test_a_member_without_weight_is_not_asked(
    members: list[Method], monkeypatch: pytest.MonkeyPatch
) -> None:
    blend = Blend.from_methods(members[:2])
    blend.mixing = mixing(1.0, 0.0)

    def refuse(documents: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(members[1], "scores", refuse)
    few = blend.label_space.groups["few"]
    scores = blend.scores(DOCUMENTS)[:, few]
    np.testing.assert_allclose(scores, members[0].scores(DOCUMENTS)[:, few], atol=2e-6)


# Evidence


def test_evidence_is_the_weighted_sum_of_the_members(members: list[Method]) -> None:
    svm, lwan, z, _ = members
    blend = Blend.from_methods([svm, lwan, z])
    blend.mixing = mixing(0.5, 0.3, 0.2)
    document = act(20, ("693", "2437"))
    (found,) = blend.evidence(document, ["693"])
    expected: dict[tuple[int, int], float] = {}
    for weight, member in ((0.5, svm), (0.3, lwan), (0.2, z)):
        for span in member.evidence(document, ["693"])[0].spans:
            place = span.start, span.end
            expected[place] = expected.get(place, 0) + weight * span.weight
    total = sum(map(abs, expected.values()))
    assert found.kind == "contribution"
    assert [(span.start, span.end) for span in found.spans] == sorted(expected)
    for span in found.spans:
        assert span.weight == pytest.approx(expected[span.start, span.end] / total)


def test_evidence_of_an_unseen_label_is_attention_and_the_descriptor(
    members: list[Method],
) -> None:
    blend = Blend.from_methods(members)
    document = act(20, ("5255", "2437"))
    assert "vessel" in document.text
    unseen, seen = blend.evidence(document, ["5255", "693"])
    assert (unseen.label, unseen.kind) == ("5255", "attention")
    assert seen.label == "693"
    weights = {document.text[s.start : s.end].lower(): s.weight for s in unseen.spans}
    assert max(weights, key=lambda word: weights[word]) == "vessel"
    assert sum(span.weight for span in unseen.spans) == pytest.approx(1)
    # Without the word, what is left is the evidence of the network alone.
    silent = Document("1", "", (Section("article", "The quota of cod in a port."),))
    assert blend.evidence(silent, ["5255"]) == blend.members[2].evidence(silent, ["5255"])


def test_where_no_member_speaks_there_is_no_evidence(members: list[Method]) -> None:
    svm, lwan, *_ = members
    blend = Blend.from_methods([svm, lwan])
    assert blend.evidence(DOCUMENTS[0], ["5255"]) == [Evidence("5255", "contribution", ())]
    empty = Document("e", "", ())
    assert blend.evidence(empty, ["693"])[0].spans == ()
    assert isinstance(blend.evidence(DOCUMENTS[0], ["693"])[0].spans[0], Span)


# Saved and loaded


def test_it_is_made_of_saved_bundles_and_saved_as_one(
    members: list[Method], blend: Blend, tmp_path
) -> None:
    for at, member in enumerate(members):
        bundle.save(member, tmp_path / str(at))
    made = Blend.from_methods([bundle.load(tmp_path / str(at)) for at in range(4)], DEV)
    assert made.card == blend.card
    bundle.save(made, tmp_path / "blend", card=made.card)
    again = bundle.load(tmp_path / "blend")
    assert isinstance(again, Blend)
    assert again.mixing.to_json() == made.mixing.to_json()
    assert again.threshold == made.threshold
    np.testing.assert_array_equal(again.scores(DOCUMENTS), made.scores(DOCUMENTS))
    card = bundle.describe(tmp_path / "blend")["card"]
    assert card["members"] == ["svm", "bigru-lwan", "z-bigru-lwan", "exact-match"]
    unseen, rarest, *_ = card["weights"]
    assert (unseen["training documents"], rarest["training documents"]) == (0, 1)
    assert unseen["weights"][:2] == [0, 0]
    assert max(rarest["weights"]) > 0

    state = made.state()
    old = {name: value for name, value in state.values.items() if name != "mixing"}
    with pytest.raises(LabelwiseError, match="weighed its members by group: join"):
        Blend.restore(made.settings, made.label_space, type(state)(state.arrays, old))

    wider = again.with_labels({"99": "oranges and lemons"})
    bundle.save(wider, tmp_path / "wider")
    loaded = bundle.load(tmp_path / "wider")
    np.testing.assert_array_equal(loaded.scores(DOCUMENTS), wider.scores(DOCUMENTS))
    assert loaded.scores(DOCUMENTS).shape == (6, 6)


def test_networks_in_half_precision_stay_so_in_the_blend(members: list[Method]) -> None:
    svm, lwan, *_ = members
    state = lwan.state()
    half = {
        name: array.astype(np.float16).astype(np.float32) if array.dtype == np.float32 else array
        for name, array in state.arrays.items()
    }
    rounded = type(lwan).restore(lwan.settings, lwan.label_space, type(state)(half, state.values))
    saved = Blend.from_methods([svm, rounded]).state()
    assert saved.arrays["1.words.weight"].dtype == np.float16
    exact = Blend.from_methods([svm, lwan]).state()
    assert exact.arrays["1.words.weight"].dtype == np.float32


def test_a_blend_of_a_blend_works_like_its_members(blend: Blend, members: list[Method]) -> None:
    nested = Blend.from_methods([blend, members[0]], DEV)
    again = Blend.restore(nested.settings, nested.label_space, nested.state())
    np.testing.assert_allclose(again.scores(DOCUMENTS), nested.scores(DOCUMENTS), rtol=1e-6)


# Training as a whole, and what is refused


def test_it_can_be_trained_as_a_whole(tmp_path) -> None:
    blend = Blend(Blend.Settings(members=("exact-match", "svm"), seed=3))
    train = acts(40)
    blend.fit(train, acts(8, seed=1), label_space(train))
    assert [member.settings.seed for member in blend.members] == [3, 3]
    assert blend.threshold != 0.5
    scores = blend.scores(train)
    gold = blend.label_space.gold(train).toarray() > 0
    assert scores[gold].mean() > 3 * scores[~gold].mean()


def test_the_seed_of_a_blend_is_the_highest_of_its_members(members: list[Method]) -> None:
    train = acts(20)
    later = SVM(SVMSettings(passes=1, seed=4))
    later.fit(train, acts(5, seed=1), members[0].label_space)
    assert Blend.from_methods([members[0], later]).settings.seed == 4


def test_what_cannot_be_blended_is_refused(members: list[Method]) -> None:
    svm, lwan, z, _ = members
    with pytest.raises(LabelwiseError, match="two methods or more"):
        Blend.from_methods([svm])
    with pytest.raises(LabelwiseError, match="two methods or more"):
        Blend.from_methods([])
    with pytest.raises(LabelwiseError, match="different labels"):
        Blend.from_methods([svm, z.with_labels({"99": "oranges"})])
    with pytest.raises(LabelwiseError, match="no method is called 'perceptron'"):
        Blend.Settings(members=("svm", "perceptron"))
    with pytest.raises(LabelwiseError, match=r"members \(svm, bigru-lwan\) knows labels"):
        Blend.from_methods([svm, lwan]).with_labels({"99": "oranges"})
    with pytest.raises(LabelwiseError, match="not a label of this model"):
        Blend.from_methods([svm, lwan]).evidence(DOCUMENTS[0], ["404"])


def test_a_blend_like_another_has_its_weights_and_threshold(
    members: list[Method], blend: Blend
) -> None:
    blend.threshold = 0.25
    twin = Blend.like(members, blend)
    assert (twin.mixing, twin.threshold) == (blend.mixing, 0.25)
    np.testing.assert_array_equal(twin.scores(DEV), blend.scores(DEV))
    with pytest.raises(LabelwiseError, match="give them in that order"):
        Blend.like(members[::-1], blend)
