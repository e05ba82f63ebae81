"""The explainers of the networks: what each of them is by definition, for every network."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from network_cases import KINDS, NAMES, act, fitted
from torch import Tensor

from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.methods import explainers, get
from labelwise.methods.base_network import BaseNetworkMethod
from labelwise.methods.explainers import EXPLAINERS, Asked
from labelwise.training.batches import Gatherer

DOCUMENT = act(8, ("693", "2437"), sections=3)
LABELS = ["2437", "693"]


def asked(method: BaseNetworkMethod, document: Document = DOCUMENT) -> Asked:
    gather = Gatherer(method._number([document]), torch.device("cpu"))
    columns = torch.tensor([method.label_space.index[label] for label in LABELS])
    return Asked(method.network.eval(), gather, columns, "float32")


def logits(question: Asked, keep: Tensor | float) -> Tensor:
    """The logits of the labels with each word vector times a number: (labels,)."""
    hook = question.network.words.register_forward_hook(lambda m, i, x: x * keep)
    with torch.inference_mode():
        found = question.network(question.batch())[0, question.columns]
    hook.remove()
    return found


def weights(method: BaseNetworkMethod, explainer: str) -> np.ndarray:
    found = method.evidence(DOCUMENT, LABELS, explainer)
    return np.array([[span.weight for span in one.spans] for one in found])


@pytest.mark.parametrize("name", [*NAMES, *KINDS])
@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_every_explainer_weighs_every_word_read_in_shares(name: str, explainer: str) -> None:
    method = fitted(name)
    before = method.scores([DOCUMENT])
    attended = method.evidence(DOCUMENT, LABELS, "attention")
    found = method.evidence(DOCUMENT, LABELS, explainer)
    for one, other in zip(found, attended, strict=True):
        assert one.label == other.label
        assert one.kind == EXPLAINERS[explainer][0]
        assert [(s.start, s.end) for s in one.spans] == [(s.start, s.end) for s in other.spans]
    sizes = np.abs(weights(method, explainer)).sum(axis=1)
    np.testing.assert_allclose(sizes, 1, rtol=1e-5)
    np.testing.assert_array_equal(method.scores([DOCUMENT]), before)


@pytest.mark.parametrize("name", [*NAMES, *KINDS])
@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_labels_asked_together_get_what_each_gets_alone(name: str, explainer: str) -> None:
    method = fitted(name)
    together = weights(method, explainer)
    for row, label in zip(together, LABELS, strict=True):
        (one,) = method.evidence(DOCUMENT, [label], explainer)
        np.testing.assert_allclose(row, [span.weight for span in one.spans], atol=1e-4)


@pytest.mark.parametrize("name", [*NAMES, *KINDS])
def test_integrated_gradients_add_up_to_what_the_words_change(name: str) -> None:
    """Completeness: from vectors of zeros to the document, the logit moves by their sum."""
    question = asked(fitted(name))
    moved = logits(question, 1.0) - logits(question, 0.0)
    found = explainers.integrated(question).sum((0, 1))
    # Where the best section changes on the way, the logit has a kink that no quadrature follows.
    kinked = name in ("lw-han", "max-hss")
    np.testing.assert_allclose(found, moved, rtol=0.1 if kinked else 1e-3, atol=1e-4)


@pytest.mark.parametrize("name", [*NAMES, *KINDS])
def test_occlusion_is_what_the_logit_loses_without_a_word(name: str) -> None:
    question = asked(fitted(name))
    found = explainers.occlusion(question)
    batch = question.batch()
    for row, at in [(0, 0), (1, 2), (len(batch.tokens) - 1, 1)]:
        keep = torch.ones(*batch.tokens.shape, 1)
        keep[row % len(keep), at] = 0
        lost = logits(question, 1.0) - logits(question, keep)
        np.testing.assert_allclose(found[row % len(keep), at], lost, atol=1e-5)


def test_a_long_document_is_occluded_in_windows_whose_words_share_the_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explainers, "WINDOWS", 5)
    question = asked(fitted("han"))
    batch = question.batch()
    words = int(batch.lengths.sum())
    size = -(-words // 5)
    windows, sizes = explainers._windows(batch)
    assert len(sizes) <= 5
    assert sizes.tolist() == [size] * (words // size) + [words % size] * (words % size > 0)
    found = explainers.occlusion(question)
    keep = (windows != 1)[:, :, None].float()
    lost = logits(question, 1.0) - logits(question, keep)
    inside = found[windows == 1]
    np.testing.assert_allclose(inside.sum(0), lost, atol=1e-5)
    np.testing.assert_allclose(inside, inside[:1].expand_as(inside))
    assert not found[windows < 0].any()


@pytest.mark.parametrize("name", [*NAMES, *KINDS])
def test_attingrad_is_attention_times_the_size_of_gradient_times_input(name: str) -> None:
    question = asked(fitted(name))
    found, attended = explainers.attingrad(question), explainers.attention(question)
    batch, read = question.batch(), []
    hook = question.network.words.register_forward_hook(
        lambda m, i, x: read.append(x.detach().requires_grad_()) or read[0]
    )
    logit = question.network(batch)[0, question.columns[1]]
    hook.remove()
    (pull,) = torch.autograd.grad(logit, read[0])
    size = (pull * read[0]).pow(2).sum(2).sqrt().detach()
    np.testing.assert_allclose(found[:, :, 1], attended[:, :, 1] * size, atol=1e-6)
    assert (found >= 0).all()


def test_many_labels_are_read_a_few_copies_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    method = fitted("bigru-lwan")
    whole = {explainer: weights(method, explainer) for explainer in EXPLAINERS}
    monkeypatch.setattr(explainers, "COPIES", 1)
    for explainer, expected in whole.items():
        np.testing.assert_allclose(weights(method, explainer), expected, atol=1e-4)


def test_without_a_name_the_evidence_is_that_of_the_default() -> None:
    method = fitted("bigru-lwan")
    default = method.evidence(DOCUMENT, LABELS)
    assert default == method.evidence(DOCUMENT, LABELS, method.explainer)
    assert method.explainer in method.explainers


def test_an_unknown_explainer_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(LabelwiseError, match="by 'shap': it can by attention, gradient, attingrad"):
        fitted("han").evidence(DOCUMENT, LABELS, "shap")
    exact = get("exact-match")()
    exact.fit([DOCUMENT], [], fitted("han").label_space)
    with pytest.raises(LabelwiseError, match="by 'attention': there is one way to find it"):
        exact.evidence(DOCUMENT, LABELS, "attention")


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_a_document_without_words_has_no_evidence(explainer: str) -> None:
    empty = Document("1", "", (Section("article", " "),))
    assert [one.spans for one in fitted("han").evidence(empty, ["693"], explainer)] == [()]
