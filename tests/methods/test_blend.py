"""A blend weighs its members by group of labels, and stays one method like any other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from network_cases import act, acts, fitted, label_space

from labelwise import bundle
from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.methods import Evidence, Method, Span
from labelwise.methods.blend import Blend, Mixture, log_odds
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.svm import SVM, SVMSettings
from labelwise.methods.weighing import best_weights

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


def test_the_weight_goes_to_the_member_that_ranks_the_gold_labels_first() -> None:
    random = np.random.default_rng(0)
    gold = random.random((300, 40)) < 0.1
    noise = [random.normal(size=gold.shape).astype(np.float32) for _ in range(3)]
    good = (2 * gold + noise[0]).astype(np.float32)
    weights = best_weights([noise[1], good, noise[2]], gold)
    assert weights[1] > 0.8
    assert sum(weights) == pytest.approx(1)
    assert min(weights) >= 0


def test_members_that_err_on_different_labels_share_the_weight() -> None:
    random = np.random.default_rng(1)
    gold = random.random((400, 40)) < 0.1
    one, other = ((2 * gold + random.normal(size=gold.shape)).astype(np.float32) for _ in range(2))
    weights = best_weights([one, other], gold)
    assert min(weights) >= 0.3
    # The same with the members the other way round, and in a second call.
    assert best_weights([other, one], gold) == weights[::-1]
    assert best_weights([one, other], gold) == weights


def test_without_gold_labels_all_members_weigh_the_same() -> None:
    scores = np.zeros((3, 4), dtype=np.float32)
    assert best_weights([scores] * 4, np.zeros((3, 4), dtype=bool)) == [0.25] * 4
    assert best_weights([scores], np.ones((3, 4), dtype=bool)) == [1.0]


def test_each_group_has_weights_of_its_own(members: list[Method]) -> None:
    """Of the few-shot labels the first member knows everything, of the zero-shot ones nothing."""
    blend = Blend.from_methods(members)
    gold = blend.label_space.gold(DEV)
    knows = np.clip(gold.toarray() * 0.8 + 0.1, 0, 1).astype(np.float32)
    blind = np.random.default_rng(0).uniform(0.1, 0.9, knows.shape).astype(np.float32)
    blend.weigh([knows, blind, blind, blind], gold)
    assert blend.mixtures["few"].weights[0] >= 0.45
    assert blend.mixtures["zero"].weights == (0, 0, 0.5, 0.5)


# Scores


def test_without_dev_documents_the_score_is_the_mean_of_the_log_odds(
    members: list[Method],
) -> None:
    blend = Blend.from_methods(members[:2])
    expected = np.mean([log_odds(member.scores(DOCUMENTS)) for member in members[:2]], axis=0)
    zero = blend.label_space.groups["zero"].start
    scores = blend.scores(DOCUMENTS)
    np.testing.assert_allclose(scores[:, :zero], 1 / (1 + np.exp(-expected[:, :zero])), rtol=1e-5)
    # Neither member can say anything about a label that it never saw.
    np.testing.assert_allclose(scores[:, zero:], 1e-6, rtol=1e-3)


def test_slope_and_offset_are_those_of_the_group(members: list[Method]) -> None:
    blend = Blend.from_methods(members[:2])
    blend.mixtures["few"] = Mixture((0.25, 0.75), slope=2.0, offset=-1.0)
    one, other = (log_odds(member.scores(DOCUMENTS)) for member in members[:2])
    few = blend.label_space.groups["few"]
    logits = 2 * (0.25 * one + 0.75 * other)[:, few] - 1
    np.testing.assert_allclose(
        blend.scores(DOCUMENTS)[:, few], 1 / (1 + np.exp(-logits)), rtol=1e-5
    )


def test_scores_are_probabilities_on_dev(blend: Blend) -> None:
    """The scores add up to the gold labels, and to the one that Platt's sigmoid adds."""
    gold = blend.label_space.gold(DEV).toarray()
    few = blend.label_space.groups["few"]
    assert blend.scores(DEV)[:, few].sum() == pytest.approx(gold[:, few].sum(), abs=1.5)


def test_a_few_dev_documents_do_not_turn_a_ranking_round(members: list[Method]) -> None:
    """Where the one document with an unseen label is ranked last, the odds stay as they are."""
    blend = Blend.from_methods(members)
    gold = blend.label_space.gold(DEV)
    assert gold[:, 4].sum() == 1
    wrong = np.where(gold.toarray() > 0, 0.1, 0.9).astype(np.float32)
    blend.weigh([wrong] * 4, gold)
    assert blend.mixtures["zero"] == Mixture((0, 0, 0.5, 0.5), slope=1.0, offset=0.0)


def test_zero_shot_labels_stand_as_the_member_that_knows_words_ranks_them(
    members: list[Method],
) -> None:
    svm, lwan, z, _ = members
    extra = {"a": "oranges and lemons", "b": "trawler", "c": "wine bottling", "d": "customs"}
    blend = Blend.from_methods([svm, lwan, z], DEV).with_labels(extra)
    wider = z.with_labels(extra)
    assert blend.label_space == wider.label_space
    zero = blend.label_space.groups["zero"]
    assert zero.stop - zero.start == 5
    ours, theirs = blend.scores(DOCUMENTS)[:, zero], wider.scores(DOCUMENTS)[:, zero]
    np.testing.assert_array_equal(np.argsort(-ours, axis=1), np.argsort(-theirs, axis=1))


def test_a_descriptor_in_the_text_counts_for_an_added_label(blend: Blend) -> None:
    wider = blend.with_labels({"99": "fishing vessel"})
    column = wider.label_space.index["99"]
    assert blend.mixtures["zero"].weights[3] > 0
    text = "The cod quota of a fishing {} shall not exceed the port tariff."
    there, absent = (
        Document("1", "", (Section("article", text.format(word)),)) for word in ("vessel", "wine")
    )
    with_it, without = wider.scores([there, absent])[:, column]
    assert with_it > without
    nothing = blend.members[2].with_labels({"99": "fishing vessel"}).scores([there, absent])
    odds = log_odds(nothing[:, column])
    found = log_odds(wider.scores([there, absent])[:, column])
    # More than the network alone would say.
    assert found[0] - found[1] > abs(odds[0] - odds[1]) * blend.mixtures["zero"].slope
    with pytest.raises(LabelwiseError, match="99 is already a label"):
        wider.with_labels({"99": "trawler"})


def test_a_member_without_weight_is_not_asked(
    members: list[Method], monkeypatch: pytest.MonkeyPatch
) -> None:
    blend = Blend.from_methods(members[:2])
    blend.mixtures = {group: Mixture((1.0, 0.0)) for group in blend.mixtures}

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
    blend.mixtures["few"] = blend.mixtures["frequent"] = Mixture((0.5, 0.3, 0.2))
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


def test_evidence_of_an_unseen_label_is_attention_and_the_descriptor(blend: Blend) -> None:
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
    assert again.mixtures == made.mixtures
    assert again.threshold == made.threshold
    np.testing.assert_array_equal(again.scores(DOCUMENTS), made.scores(DOCUMENTS))
    card = bundle.describe(tmp_path / "blend")["card"]
    assert card["members"] == ["svm", "bigru-lwan", "z-bigru-lwan", "exact-match"]
    assert sum(card["mixtures"]["few"]["weights"]) == pytest.approx(1)

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
