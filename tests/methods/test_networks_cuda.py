"""On a GPU the networks give what they give on a CPU. Skipped where there is none."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from network_cases import NAMES, act, acts, fitted, label_space, small

from labelwise.kernels.label_attention import label_attention

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

DOCUMENTS = acts(20, seed=5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 2e-3), ("bfloat16", 3e-2)])
def test_scores_are_those_of_the_cpu(name: str, precision: str, tolerance: float) -> None:
    trained = fitted(name)
    expected = trained.scores(DOCUMENTS)
    settings = dataclasses.replace(trained.settings, device="cuda", precision=precision)
    there = type(trained).restore(settings, trained.label_space, trained.state())
    np.testing.assert_allclose(there.scores(DOCUMENTS), expected, atol=tolerance)
    alone = np.concatenate([there.scores([document]) for document in DOCUMENTS])
    np.testing.assert_allclose(alone, expected, atol=tolerance)
    (evidence,) = there.evidence(act(3), ["693"])
    assert sum(span.weight for span in evidence.spans) == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
def test_a_network_trains_there(name: str, tmp_path) -> None:
    train = acts(200)
    method = small(name, device="cuda", epochs=3, learning_rate=0.02)
    method.run_dir = tmp_path
    method.fit(train, acts(20, seed=1), label_space(train))
    gold = method.label_space.gold(train).toarray() > 0
    scores = method.scores(train)
    assert scores[gold].mean() > scores[~gold].mean() + 0.1
    resumed = small(name, device="cuda", epochs=3, learning_rate=0.02)
    resumed.run_dir, resumed.resume = tmp_path, True
    resumed.fit(train, acts(20, seed=1), label_space(train))
    np.testing.assert_allclose(resumed.scores(train), scores, atol=1e-3)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-3), (torch.bfloat16, 1e-2)])
def test_label_attention_and_its_gradients_are_those_of_float64(
    dtype: torch.dtype, tolerance: float
) -> None:
    torch.manual_seed(0)
    h = torch.randn(9, 130, 70, dtype=torch.float64)
    queries, outputs = torch.randn(2, 333, 70, dtype=torch.float64) / 5
    lengths, bias = torch.tensor([130, 1, 64, 129, 2, 3, 100, 77, 5]), torch.zeros(333)
    h, queries, outputs = (x.to(dtype).double() for x in (h, queries, outputs))
    weight = torch.randn(9, 333, dtype=torch.float64)

    def run(device: str, kind: torch.dtype) -> list[torch.Tensor]:
        inputs = [x.to(device, kind).requires_grad_() for x in (h, queries, outputs)]
        logits = label_attention(inputs[0], lengths, inputs[1], inputs[2], bias.to(device, kind))
        (logits.double() * weight.to(device)).sum().backward()
        return [logits.detach(), *(x.grad for x in inputs)]

    for got, expected in zip(run("cuda", dtype), run("cpu", torch.float64), strict=True):
        error = (got.double().cpu() - expected).norm() / expected.norm()
        assert error < tolerance
