"""Attention examined: what is replaced is what the score is made of, and each figure is what it is
said to be on attentions that can be thought through."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from methods import network_cases as cases

from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.evidence.examination import FURTHEST, ExaminationPlan, adversary, divergence, examine
from labelwise.methods.attending import Attended, attended, require_attending

ATTENDING = [name for name in cases.NAMES if name not in cases.BY_SECTION]
QUICK = ExaminationPlan(top=2, permutations=20, starts=2, steps=40)


@pytest.mark.parametrize("name", ATTENDING)
def test_the_score_is_what_is_judged_of_the_words_weighed_by_attention(name: str) -> None:
    method = cases.fitted(name)
    document = cases.act(8, ("693", "2437"))
    found = attended(method, document, method.label_space.ids)
    np.testing.assert_allclose(found.attention.sum(axis=0), 1)
    expected = method.scores([document])[0]
    np.testing.assert_allclose(1 / (1 + np.exp(-found.logits)), expected, rtol=2e-2, atol=1e-4)


@pytest.mark.parametrize("name", cases.BY_SECTION)
def test_a_network_of_words_and_sections_is_refused_with_those_that_can_be(name: str) -> None:
    with pytest.raises(LabelwiseError, match=f"attention of {name} cannot be replaced"):
        require_attending(cases.fitted(name))


@pytest.mark.parametrize("name", ["bigru-att", "bigru-lwan"])
def test_a_network_is_examined_pair_by_pair(name: str) -> None:
    method = cases.fitted(name)
    documents = [*cases.acts(5, seed=5), Document("1", "", (Section("article", "Wine"),))]
    found = examine(method, documents, QUICK)
    assert len(found.pairs) == 5 * 2, "a document of one word has no attention to speak of"
    for pair in found.pairs:
        assert 0 < pair.strongest <= 1
        assert -1 <= pair.correlation <= 1
        assert 0 <= pair.adversary <= FURTHEST + 1e-9
        assert 0 <= pair.permuted <= 1
        assert pair.other_divergence is None
    assert found == examine(method, documents, QUICK), "same seed, same figures"
    assert 0 <= found.precision_uniform <= 1


def test_beside_itself_a_network_attends_alike() -> None:
    method = cases.fitted("bigru-lwan")
    found = examine(method, cases.acts(2, seed=5), QUICK, other=method)
    assert all(pair.other_divergence == pytest.approx(0, abs=1e-9) for pair in found.pairs)
    assert all(pair.other_change == pytest.approx(0, abs=1e-6) for pair in found.pairs)
    apart = examine(method, cases.acts(2, seed=5), QUICK, other=cases.fitted("cnn-lwan"))
    assert min(pair.other_divergence for pair in apart.pairs) > 0


def test_networks_that_read_other_words_or_labels_are_not_compared() -> None:
    method = cases.fitted("bigru-lwan")
    short = cases.small("bigru-lwan", **{**vars(method.settings), "max_tokens": 5})
    short = type(short).restore(short.settings, method.label_space, method.state())
    with pytest.raises(LabelwiseError, match="do not read the same words of 3"):
        examine(method, cases.acts(1, seed=5), QUICK, other=short)
    wider = cases.fitted("z-bigru-lwan").with_labels({"99": "oranges"})
    with pytest.raises(LabelwiseError, match="different labels"):
        examine(method, cases.acts(1, seed=5), QUICK, other=wider)


def test_divergence_is_zero_for_the_same_and_furthest_without_a_word_in_common() -> None:
    a = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    assert divergence(a, a).item() == 0
    assert divergence(a, torch.tensor([0.0, 0.0, 1.0])).item() == pytest.approx(math.log(2))


def test_where_words_say_the_same_the_adversary_looks_elsewhere() -> None:
    """Every word is judged alike: any attention gives the same score."""
    attention = np.array([[0.97], [0.01], [0.01], [0.01]])
    found = adversary(
        Attended(attention, np.full((4, 1), 2.0)), ExaminationPlan(), np.random.default_rng(0)
    )
    assert found[0] > 0.9 * FURTHEST


def test_where_one_word_decides_the_adversary_must_look_there_too() -> None:
    """Only the first word speaks for the label, and the score needs nearly all attention there."""
    attention = np.array([[0.9], [0.05], [0.05]])
    judged = np.array([[3.0], [-3.0], [-3.0]])
    plan = ExaminationPlan(steps=800)
    found = adversary(Attended(attention, judged), plan, np.random.default_rng(0))
    # All that it may do is to move attention from the second word to the third.
    moved = torch.tensor([0.9, 0.0, 0.1], dtype=torch.float64)
    bound = divergence(torch.tensor([0.9, 0.05, 0.05], dtype=torch.float64), moved).item()
    assert 0.9 * bound < found[0] < 1.2 * bound < 0.05 * FURTHEST
