"""Unseen labels find their place in the one list, and take little from those that were seen."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from evaluation_cases import label_space
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError
from labelwise.evaluation.counts import SEEN
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.odds import log_odds
from labelwise.evaluation.ranking import top_k
from labelwise.evaluation.unseen_scale import (
    MOST_LOST,
    Loss,
    UnseenScale,
    choose_scale,
    described,
    lists_of,
    placed,
)

SPACE = label_space(20, 20, 30)
ZERO = 40


def documents(seed: int = 0, count: int = 500) -> tuple[NDArray[np.float32], sp.csr_matrix]:
    """Scores of which the seen ones are probabilities, and the unseen ones far too low and flat."""
    random = np.random.default_rng(seed)
    logits = random.normal(-3.5, 1.8, (count, len(SPACE)))
    gold = random.random(logits.shape) < 1 / (1 + np.exp(-logits))
    logits[:, ZERO:] = 0.3 * logits[:, ZERO:] - 5
    return (1 / (1 + np.exp(-logits))).astype(np.float32), sp.csr_matrix(gold.astype(np.int8))


def rescaled(scores: NDArray[np.float32], scale: UnseenScale) -> NDArray[np.float32]:
    return np.concatenate([scores[:, :ZERO], scale(scores[:, ZERO:])], axis=1)


def tied(count: int = 500) -> tuple[NDArray[np.float32], sp.csr_matrix]:
    """A few labels of a document score .5, seen and unseen ones: the seen ones come first."""
    random = np.random.default_rng(2)
    scores = np.where(random.random((count, len(SPACE))) < 0.08, 0.5, 0.01).astype(np.float32)
    return scores, sp.csr_matrix((random.random(scores.shape) < scores).astype(np.int8))


@pytest.mark.parametrize(
    ("scale", "given"),
    [
        (UnseenScale(1, 0), documents()),
        (UnseenScale(2.5, 12), documents()),
        (UnseenScale(0.3, 1), documents()),
        (UnseenScale(1, 0), tied()),
    ],
)
def test_what_a_scale_does_is_what_evaluation_measures(
    scale: UnseenScale, given: tuple[NDArray[np.float32], sp.csr_matrix]
) -> None:
    scores, gold = given
    found = described(lists_of(scores, gold, SPACE), scale)
    without = scores.copy()
    without[:, ZERO:] = 0
    counts = evaluate(rescaled(scores, scale), gold, SPACE).counts
    before = evaluate(without, gold, SPACE).counts
    assert found.seen == pytest.approx(counts.value(SEEN, "R@10"))
    for measure, lost in (("RP@5", found.lost.rp5), ("R@10", found.lost.r10)):
        difference = before.value(SEEN, measure) - counts.value(SEEN, measure)
        assert lost == pytest.approx(difference, abs=1e-12)

    listed = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(listed, top_k(rescaled(scores, scale), 10), True, axis=1)
    is_gold = gold.toarray()[:, ZERO:] > 0
    shares = [listed[is_gold[:, at], ZERO + at].mean() for at in range(30) if is_gold[:, at].any()]
    assert found.unseen == pytest.approx(np.mean(shares))


def test_the_chosen_scale_finds_unseen_labels_that_were_hidden_at_the_bottom() -> None:
    lists = lists_of(*documents(), SPACE)
    before, after = described(lists, UnseenScale(1, 0)), choose_scale(lists)
    assert before.unseen < 0.02
    assert after.unseen > 0.15
    assert after.lost.within(MOST_LOST)
    assert after.harmonic_mean > 5 * before.harmonic_mean
    # It holds for other documents of the same kind.
    others = described(lists_of(*documents(seed=1), SPACE), after.scale)
    assert others.unseen > 0.12
    assert others.lost.within(MOST_LOST.share(2))


def test_where_places_are_scarce_they_go_to_the_likely_ones() -> None:
    """Unseen scores are flat here: a steep slope tells the likely ones from the others"""
    lists = lists_of(*documents(), SPACE)
    scarce = choose_scale(lists, most_lost=Loss(rp5=0.003, r10=0.01))
    assert scarce.scale.slope > 1
    flat = placed(lists, 0.1, scarce.allowed)
    assert scarce.unseen > 1.2 * flat.unseen


def test_another_model_on_another_scale_loses_as_much_and_finds_as_much() -> None:
    chosen = choose_scale(lists_of(*documents(), SPACE))
    scores, gold = documents(seed=1)
    higher = rescaled(scores, UnseenScale(1, 7))  # as though it scored unseen labels far too high
    own = placed(lists_of(higher, gold, SPACE), chosen.scale.slope, chosen.allowed)
    assert own.lost.within(chosen.allowed)
    assert own.scale.offset < chosen.scale.offset - 5 * chosen.scale.slope
    assert own.unseen == pytest.approx(chosen.unseen, abs=0.1)


def test_seen_labels_may_lose_more_where_more_is_allowed() -> None:
    lists = lists_of(*documents(), SPACE)
    strict, loose = (choose_scale(lists, most_lost=Loss(most, most)) for most in (0.001, 0.05))
    assert strict.lost.within(Loss(0.001, 0.001))
    assert not loose.lost.within(Loss(0.001, 0.001))
    assert strict.unseen < loose.unseen


def test_a_higher_offset_never_takes_less_from_the_seen_labels() -> None:
    (lists,) = lists_of(*documents(), SPACE)
    losses = [lists.lost(UnseenScale(0.7, offset)) for offset in np.arange(-8, 8, 0.5)]
    for of in ([one.rp5 for one in losses], [one.r10 for one in losses]):
        assert of == sorted(of)
    highest = placed([lists], 0.7, Loss(0.003, 1)).scale.offset
    assert lists.lost(UnseenScale(0.7, highest)).rp5 <= 0.003
    assert lists.lost(UnseenScale(0.7, highest + 0.05)).rp5 > 0.0025


def test_fewer_unseen_labels_at_a_time_push_out_fewer_seen_ones() -> None:
    scores, gold = documents()
    scale = UnseenScale(1, 3)
    together, apart = (described(lists_of(scores, gold, SPACE, parts), scale) for parts in (1, 3))
    assert apart.lost.rp5 < together.lost.rp5
    assert apart.lost.r10 < together.lost.r10
    assert apart.unseen >= together.unseen
    assert sum(len(one.unseen_gold) for one in lists_of(scores, gold, SPACE, 3)) == 30


def test_the_ranking_of_unseen_labels_among_themselves_stays() -> None:
    scores, _ = documents()
    placed_scores = UnseenScale(0.25, 2)(scores[:, ZERO:])
    np.testing.assert_array_equal(top_k(placed_scores, 5), top_k(scores[:, ZERO:], 5))


def test_a_score_of_nothing_stays_a_number() -> None:
    edge = np.array([[0.0, 1.0]], dtype=np.float32)
    assert np.isfinite(log_odds(edge)).all()
    assert np.isfinite(UnseenScale(4, 40)(edge)).all()


def test_without_gold_for_an_unseen_label_nothing_is_chosen() -> None:
    scores, gold = documents(count=20)
    seen_alone = gold.toarray()
    seen_alone[:, ZERO:] = 0
    with pytest.raises(LabelwiseError, match="none of the documents carries an unseen label"):
        choose_scale(lists_of(scores, sp.csr_matrix(seen_alone), SPACE))


def test_fewer_labels_than_places_are_listed_as_they_are() -> None:
    space = label_space(2, 1, 2)
    scores = np.array([[0.9, 0.2, 0.1, 0.4, 0.3]], dtype=np.float32)
    gold = sp.csr_matrix(np.array([[1, 0, 0, 1, 0]], dtype=np.int8))
    found = described(lists_of(scores, gold, space), UnseenScale(1, 0))
    assert (found.lost, found.seen, found.unseen) == (Loss(0, 0), 1, 1)
