"""Gradient × input of the networks: a second opinion on the words, to hold attention against."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from network_cases import NAMES, act, fitted

from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.training.batches import Gatherer


@pytest.mark.parametrize("name", NAMES)
def test_it_is_how_the_logit_moves_as_the_vector_of_a_word_grows(name: str) -> None:
    method = fitted(name)
    document = act(8, ("693", "2437"), sections=3)
    batch = Gatherer(method._number([document]), torch.device("cpu"))([0])
    column = method.label_space.index["2437"]
    network = method.network.double()

    def logit(scale: torch.Tensor) -> float:
        hook = network.words.register_forward_hook(lambda m, i, x: x * scale[:, :, None])
        with torch.inference_mode():
            found = float(network(batch)[0, column])
        hook.remove()
        return found

    try:
        expected = []
        for row in np.argsort(batch.position.numpy()):
            for at in range(int(batch.cpu_lengths[row])):
                nudge = torch.zeros(batch.tokens.shape, dtype=torch.float64)
                nudge[row, at] = 1e-6
                expected.append((logit(1 + nudge) - logit(1 - nudge)) / 2e-6)
        (one,) = method.evidence(document, ["2437"], "gradient")
    finally:
        network.float()
    found = np.array([span.weight for span in one.spans])
    np.testing.assert_allclose(found, expected / np.abs(expected).sum(), atol=1e-6)
    assert np.abs(found).sum() == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
def test_it_weighs_the_words_that_attention_weighs_and_leaves_the_network_alone(name: str) -> None:
    method = fitted(name)
    document = act(9, ("693", "3173"))
    before = method.scores([document])
    attended = method.evidence(document, ["693", "3173"], "attention")
    felt = method.evidence(document, ["693", "3173"], "gradient")
    for one, other in zip(attended, felt, strict=True):
        assert (other.label, other.kind) == (one.label, "contribution")
        assert [(s.start, s.end) for s in other.spans] == [(s.start, s.end) for s in one.spans]
    weights = [np.array([span.weight for span in one.spans]) for one in felt]
    assert not np.allclose(*weights), "gradients differ from label to label, for every method"
    np.testing.assert_array_equal(method.scores([document]), before)


def test_a_document_without_words_has_no_gradient_and_an_unknown_label_is_an_error() -> None:
    method = fitted("cnn-lwan")
    empty = Document("1", "", (Section("article", " "),))
    assert [one.spans for one in method.evidence(empty, ["693"], "gradient")] == [()]
    with pytest.raises(LabelwiseError, match="no-such is not a label of this model"):
        method.evidence(act(1), ["no-such"], "gradient")
