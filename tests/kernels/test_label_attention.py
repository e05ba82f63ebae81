"""Label-wise attention: PAPER's formula, every gradient, and a memory that stays bounded."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from labelwise.kernels import blocked
from labelwise.kernels.label_attention import attention_weights, label_attention, plain_logits

LENGTHS = [5, 1, 3, 5]


def material(dtype: torch.dtype = torch.float64, labels: int = 7) -> tuple[Tensor, ...]:
    """h, values, lengths, queries, outputs, bias for four ragged documents."""
    make = torch.Generator().manual_seed(0)
    h = torch.randn(4, 5, 6, generator=make, dtype=torch.float64)
    values = torch.randn(4, 5, 3, generator=make, dtype=torch.float64)
    queries = torch.randn(labels, 6, generator=make, dtype=torch.float64)
    outputs = torch.randn(labels, 6, generator=make, dtype=torch.float64)
    bias = torch.randn(labels, generator=make, dtype=torch.float64)
    h, values, queries, outputs, bias = (x.to(dtype) for x in (h, values, queries, outputs, bias))
    return h, values, torch.tensor(LENGTHS), queries, outputs, bias


def transcription(
    h: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor, values: Tensor
) -> np.ndarray:
    """a_lt = softmax_t(h_t·q_l); d_l = Σ a_lt v_t; d_l·o_l + b_l, one number at a time."""
    logits = np.zeros((len(h), len(queries)))
    for n in range(len(h)):
        for label in range(len(queries)):
            real = range(int(lengths[n]))
            scores = [float(h[n, t] @ queries[label]) for t in real]
            weights = np.exp(np.array(scores) - max(scores))
            weights /= weights.sum()
            d = sum(weights[t] * values[n, t].numpy() for t in real)
            logits[n, label] = d @ outputs[label].numpy() + float(bias[label])
    return logits


@pytest.fixture(params=[1 << 21, 1], ids=["one block", "many blocks"])
def block_elements(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(blocked.BLOCK_ELEMENTS, "cpu", request.param)


@pytest.mark.usefixtures("block_elements")
def test_logits_are_those_of_the_formula() -> None:
    h, _, lengths, queries, outputs, bias = material(labels=40)
    expected = transcription(h, lengths, queries, outputs, bias, h)
    np.testing.assert_allclose(label_attention(h, lengths, queries, outputs, bias), expected)


@pytest.mark.usefixtures("block_elements")
def test_values_may_differ_from_what_is_attended_to() -> None:
    h, values, lengths, queries, outputs, bias = material(labels=40)
    outputs = outputs[:, :3]
    got = label_attention(h, lengths, queries, outputs, bias, values=values)
    expected = transcription(h, lengths, queries, outputs, bias, values)
    np.testing.assert_allclose(got, expected)


@pytest.mark.usefixtures("block_elements")
def test_every_gradient_is_the_numerical_one() -> None:
    h, values, lengths, queries, outputs, bias = material(labels=20)
    inputs = [x.requires_grad_() for x in (h, values, queries, outputs[:, :3].contiguous(), bias)]

    def logits(h: Tensor, values: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor) -> Tensor:
        return label_attention(h, lengths, queries, outputs, bias, values=values)

    assert torch.autograd.gradcheck(logits, inputs)
    h, _, lengths, queries, outputs, bias = material()
    inputs = [x.requires_grad_() for x in (h, queries, outputs, bias)]
    assert torch.autograd.gradcheck(lambda h, *rest: label_attention(h, lengths, *rest), inputs)


def test_padding_changes_nothing_and_gets_no_gradient() -> None:
    h, _, lengths, queries, outputs, bias = material()
    h.requires_grad_()
    logits = label_attention(h, lengths, queries, outputs, bias)
    logits.sum().backward()
    assert h.grad is not None
    for n, length in enumerate(LENGTHS):
        assert not h.grad[n, length:].any()
    noise = h.detach().clone()
    for n, length in enumerate(LENGTHS):
        noise[n, length:] = 1e6
    wider = torch.cat([noise, torch.full((4, 3, 6), -1e6, dtype=torch.float64)], 1)
    torch.testing.assert_close(label_attention(wider, lengths, queries, outputs, bias), logits)


def test_weights_of_chosen_labels_sum_to_one_over_the_real_tokens() -> None:
    h, _, lengths, queries, outputs, bias = material()
    chosen = [3, 0]
    weights = attention_weights(h, lengths, queries[chosen])
    assert weights.shape == (4, 5, 2)
    np.testing.assert_allclose(weights.sum(1), np.ones((4, 2)))
    assert not weights[1, 1:].any()
    from_weights = torch.einsum("dtl,dtw,lw->dl", weights, h, outputs[chosen]) + bias[chosen]
    torch.testing.assert_close(
        label_attention(h, lengths, queries, outputs, bias)[:, chosen], from_weights
    )


def test_extreme_scores_stay_finite() -> None:
    h, _, lengths, queries, outputs, bias = material(torch.float32)
    h, queries = (h * 100).requires_grad_(), (queries * 100).requires_grad_()
    logits = label_attention(h, lengths, queries, outputs, bias)
    logits.sum().backward()
    assert h.grad is not None
    assert queries.grad is not None
    for x in (logits, h.grad, queries.grad):
        assert torch.isfinite(x).all()


def test_no_score_of_a_label_and_token_is_kept_for_the_backward_pass() -> None:
    h, _, lengths, queries, outputs, bias = material(torch.float32, labels=5_000)
    kept: list[int] = []

    def remember(x: Tensor) -> Tensor:
        kept.append(x.numel())
        return x

    with torch.autograd.graph.saved_tensors_hooks(remember, lambda x: x):
        label_attention(h.requires_grad_(), lengths, queries, outputs, bias)
    inputs = 2 * h.numel() + len(lengths) + queries.numel() + outputs.numel()
    assert sum(kept) <= inputs + 4 * 5_000  # the logits; the scores would be five times as many


def test_under_autocast_the_logits_are_still_float32() -> None:
    h, _, lengths, queries, outputs, bias = material(torch.float32)
    exact = label_attention(h, lengths, queries, outputs, bias)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = label_attention(h, lengths, queries, outputs, bias)
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough, exact, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("full", [True, False], ids=["no padding", "padding"])
def test_what_a_gpu_does_with_little_gives_the_same_logits_and_gradients(full: bool) -> None:
    h, values, lengths, queries, outputs, bias = material()
    if full:
        lengths = torch.full_like(lengths, h.shape[1])
    wanted = [x.requires_grad_() for x in (h, values, queries, outputs[:, :3].contiguous())]
    h, values, queries, outputs = wanted
    grad = torch.randn(len(h), len(queries), dtype=h.dtype)
    blocks = label_attention(h, lengths, queries, outputs, bias * 0, values=values)
    plain = plain_logits(h, values, lengths, queries, outputs)
    torch.testing.assert_close(plain, blocks)
    torch.testing.assert_close(
        torch.autograd.grad(plain, wanted, grad), torch.autograd.grad(blocks, wanted, grad)
    )
