"""Products of whole numbers in 8 bits: exact, and near enough to those that they stand for."""

from __future__ import annotations

import doctest
import gc

import pytest
import torch
from test_blocked import formula
from torch import Tensor

from labelwise.kernels import eight_bits
from labelwise.kernels.eight_bits import asked_for, product, rounded, rounded_weight
from labelwise.kernels.label_attention import label_attention

needs_instructions = pytest.mark.skipif(
    not eight_bits.available(), reason="this processor has no instructions for bytes (VNNI)"
)
LENGTHS = (300, 1, 17, 120, 120, 64)


def made(scale: float = 1.0, width: int = 150, labels: int = 500) -> tuple[Tensor, ...]:
    """h as a GRU leaves it, within one; lengths, queries, outputs, bias; noise at padding."""
    make = torch.Generator().manual_seed(0)
    h = torch.randn(len(LENGTHS), max(LENGTHS), width, generator=make).tanh()
    queries = torch.randn(labels, width, generator=make) * scale / 8
    outputs = torch.randn(labels, width, generator=make) / 4
    bias = torch.randn(labels, generator=make)
    return h, torch.tensor(LENGTHS), queries, outputs, bias


def in_8_bits(*inputs: Tensor) -> Tensor:
    with torch.inference_mode(), eight_bits.eight_bits():
        assert asked_for(inputs[2])
        return label_attention(*inputs)


def test_the_example_holds() -> None:
    assert doctest.testmod(eight_bits).failed == 0


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (17, 600, 33), (64, 4099, 65)], ids=str)
def test_products_are_exact_up_to_the_largest(shape: tuple[int, int, int]) -> None:
    n, width, m = shape
    make = torch.Generator().manual_seed(0)
    x = torch.randint(-127, 128, (n, width), generator=make, dtype=torch.int8)
    y = torch.randint(-127, 128, (m, width), generator=make, dtype=torch.int8)
    if eight_bits.available():
        assert torch.equal(product(x, y).long(), x.long() @ y.long().T)
        assert (product(torch.full_like(x, -127), torch.full_like(y, 127)) == -16129 * width).all()


def test_a_row_is_rounded_by_half_of_its_scale_at_most() -> None:
    x = torch.randn(20, 300) * torch.logspace(-20, 20, 20)[:, None]
    x[3] = 0
    whole, scale = rounded(x)
    assert (whole.abs().amax(1)[[0, 1, 2, *range(4, 20)]] == 127).all()
    assert (abs(whole * scale - x) <= scale * 0.5001).all()
    assert not whole[3].any()


def test_a_weight_is_rounded_once_until_it_changes() -> None:
    weight = torch.nn.Parameter(torch.randn(30, 20))
    first = rounded_weight(weight)
    assert rounded_weight(weight)[0] is first[0]
    with torch.no_grad():
        weight[3] *= -2  # as a step of training would
    again = rounded_weight(weight)
    assert torch.equal(again[0][3], -first[0][3])
    assert torch.equal(again[1][3], 2 * first[1][3])
    weight.data = torch.zeros(30, 20)
    assert not rounded_weight(weight)[0].any()
    kept = len(eight_bits._kept)
    del weight
    gc.collect()
    assert len(eight_bits._kept) == kept - 1


@needs_instructions
def test_logits_are_near_those_of_float64() -> None:
    inputs = made()
    exact = formula(*(x.double() if x.is_floating_point() else x for x in inputs))
    error = abs(in_8_bits(*inputs) - exact)
    assert 1e-6 < error.mean() < 0.01
    assert error.max() < 0.1


@needs_instructions
def test_values_of_their_own_are_near_too() -> None:
    h, lengths, queries, outputs, bias = made()
    values = torch.randn(*h.shape[:2], 90)
    outputs = outputs[:, :90].contiguous()
    with torch.inference_mode():
        exact = label_attention(h, lengths, queries, outputs, bias, values=values)
        with eight_bits.eight_bits():
            rough = label_attention(h, lengths, queries, outputs, bias, values=values)
    assert 1e-6 < abs(rough - exact).mean() < 0.02


@needs_instructions
def test_extreme_scores_stay_finite_and_pick_the_same_token() -> None:
    inputs = made(scale=1000.0)
    exact = formula(*(x.double() if x.is_floating_point() else x for x in inputs))
    logits = in_8_bits(*inputs)
    assert torch.isfinite(logits).all()
    assert (abs(logits - exact) < 0.1).float().mean() > 0.9


@needs_instructions
def test_batch_mates_and_padding_do_not_matter() -> None:
    h, lengths, *of_labels = made()
    together = in_8_bits(h, lengths, *of_labels)
    for at, length in enumerate(LENGTHS):
        alone = in_8_bits(h[at : at + 1, :length], lengths[at : at + 1], *of_labels)
        torch.testing.assert_close(alone[0], together[at], rtol=1e-6, atol=1e-6)
        h[at, length:] = 1e9
    assert torch.equal(in_8_bits(h, lengths, *of_labels), together)


def test_nothing_is_rounded_unless_asked_for_and_never_in_training() -> None:
    h, lengths, queries, outputs, bias = made()
    with torch.inference_mode():
        exact = label_attention(h, lengths, queries, outputs, bias)
        assert not asked_for(queries)
        with eight_bits.eight_bits(), eight_bits.eight_bits(False):
            assert not asked_for(queries)
        with eight_bits.eight_bits():
            assert asked_for(queries) is eight_bits.available()
            assert not asked_for(queries.double())
            assert not asked_for(queries[:10])  # no time to be saved
        assert not asked_for(queries)
    with eight_bits.eight_bits():
        assert torch.equal(label_attention(h, lengths, queries, outputs, bias), exact)


def test_a_linear_layer_is_near_that_in_float32_and_follows_its_weights() -> None:
    make = torch.Generator().manual_seed(0)
    weight = torch.randn(300, 256, generator=make) / 16
    bias, x = torch.randn(300, generator=make), torch.randn(40, 256, generator=make)
    with torch.no_grad(), eight_bits.eight_bits():
        if not eight_bits.linear_asked_for(weight):
            pytest.skip("this PyTorch has no quantised product")
        for _ in range(2):
            exact = x @ weight.T + bias
            found = eight_bits.linear(x, weight, bias)
            assert (found - exact).norm() < 0.03 * exact.norm()
            weight *= -2  # what was kept of it is no longer true
    with eight_bits.eight_bits():
        assert not eight_bits.linear_asked_for(weight), "rounding has no gradient"
