"""What lies between an encoder's products is, fused, what the formulas say.

Without a GPU the kernels run in Triton's interpreter, on small inputs.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
pytest.importorskip("triton")

from labelwise.kernels.fused_between import added_norm, biased_gelu
from labelwise.kernels.packed_attention import Rows
from labelwise.layers import transformer
from labelwise.layers.encoder_files import EncoderShape

EPSILON = 1e-5
DTYPES = [torch.float32] + ([torch.bfloat16] if DEVICE == "cuda" else [])
TOLERANCE = {torch.float32: 2e-6, torch.bfloat16: 1e-2}
ROWS = [1, 3, 50]
"""Less than four at a time, and more than all programs take in one turn."""


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def given(rows: int, width: int) -> list[Tensor]:
    """x, y, bias, weight, shift."""
    torch.manual_seed(3)
    return [drawn(rows, width) * 2 + 0.5, drawn(rows, width), *drawn(3, width)]


def ready(tensors: list[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """Tokens in this precision and parameters in float32, as a training has them."""
    kinds = [dtype if x.dim() > 1 else torch.float32 for x in tensors]
    return [x.to(DEVICE, of).requires_grad_() for x, of in zip(tensors, kinds, strict=True)]


def exact(tensors: list[Tensor]) -> list[Tensor]:
    """The same numbers, in float64 on the CPU."""
    return [x.detach().double().cpu().requires_grad_() for x in tensors]


def kept_of(rate: float, rows: int, width: int) -> Tensor:
    """What is dropped with the seed of now: 0, and else 1 / (1 - rate)."""
    ones, zeros = torch.ones(width, device=DEVICE), torch.zeros(width, device=DEVICE)
    # The norm of -1 and +1 by turns, each pushed far where it is kept.
    x = torch.zeros(rows, width, device=DEVICE, requires_grad=True)
    y = torch.ones(rows, width, device=DEVICE, requires_grad=True)
    out = added_norm(x, y, zeros, ones, zeros, epsilon=EPSILON, rate=rate)
    out.backward(torch.randn(rows, width, device=DEVICE))
    assert x.grad is not None
    assert y.grad is not None
    return (y.grad / x.grad).double().cpu()


def agree(own: list[Tensor | None], right: list[Tensor | None], dtype: torch.dtype) -> None:
    for mine, wanted in zip(own, right, strict=True):
        assert mine is not None
        assert wanted is not None
        error = (mine.detach().double().cpu() - wanted.detach()).norm()
        assert error <= TOLERANCE[dtype] * wanted.norm()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("width", [16, 48])
def test_what_is_added_is_normed(rows: int, width: int, dtype: torch.dtype) -> None:
    own = ready(given(rows, width), dtype)
    right = exact(own)
    x, y, bias, weight, shift = right
    wanted = functional.layer_norm(x + y + bias, (width,), weight, shift, EPSILON)
    grad = drawn(rows, width).to(dtype)
    wanted.backward(grad.double())
    found = added_norm(*own, epsilon=EPSILON)
    found.backward(grad.to(DEVICE))
    assert found.dtype == dtype
    agree([found, *(x.grad for x in own)], [wanted, *(x.grad for x in right)], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [3, 50])
def test_what_is_dropped_is_dropped_in_the_backward_pass_too(rows: int, dtype: torch.dtype) -> None:
    width, rate = 48, 0.25
    torch.manual_seed(11)
    kept = kept_of(rate, rows, width)
    share = float((kept == 0).double().mean())
    assert abs(share - rate) < 4 * (rate * (1 - rate) / kept.numel()) ** 0.5
    torch.testing.assert_close(kept[kept > 0], torch.full_like(kept[kept > 0], 1 / (1 - rate)))

    own = ready(given(rows, width), dtype)
    right = exact(own)
    x, y, bias, weight, shift = right
    wanted = functional.layer_norm(x + kept * (y + bias), (width,), weight, shift, EPSILON)
    grad = drawn(rows, width).to(dtype)
    wanted.backward(grad.double())
    torch.manual_seed(11)
    found = added_norm(*own, epsilon=EPSILON, rate=rate)
    found.backward(grad.to(DEVICE))
    agree([found, *(x.grad for x in own)], [wanted, *(x.grad for x in right)], dtype)


def test_each_call_draws_anew_and_a_seed_again_the_same() -> None:
    own = ready(given(20, 32), torch.float32)

    def dropped() -> Tensor:
        return added_norm(*own, epsilon=EPSILON, rate=0.5).detach()

    torch.manual_seed(1)
    first, second = dropped(), dropped()
    torch.manual_seed(1)
    assert torch.equal(dropped(), first)
    assert not torch.equal(first, second)


def test_rows_and_columns_are_dropped_by_themselves() -> None:
    torch.manual_seed(5)
    kept = kept_of(0.5, 64, 64) > 0
    assert len(kept.unique(dim=0)) == 64
    assert len(kept.unique(dim=1).T) == 64


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "width"), [(1, 16), (70, 200)])
def test_gelu_adds_the_bias(rows: int, width: int, dtype: torch.dtype) -> None:
    torch.manual_seed(4)
    own = ready([drawn(rows, width) * 3, drawn(width)], dtype)
    right = exact(own)
    wanted = functional.gelu(right[0] + right[1])
    grad = drawn(rows, width).to(dtype)
    wanted.backward(grad.double())
    found = biased_gelu(*own)
    found.backward(grad.to(DEVICE))
    assert found.dtype == dtype
    agree([found, *(x.grad for x in own)], [wanted, *(x.grad for x in right)], dtype)


def test_an_encoder_with_them_is_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(2)
    shape = EncoderShape(
        kind="bert", rows=10, width=32, heads=2, layers=2, inner=64, positions=16, buckets=0,
        epsilon=EPSILON,
    )  # fmt: skip
    encoder = transformer.Transformer(shape, dropout=0.5).to(DEVICE).eval()
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.3)
    rows = Rows.of(np.array([9, 4]), torch.device(DEVICE))
    places = torch.cat([torch.arange(9), torch.arange(4)]).to(DEVICE)
    x = torch.randn(13, 32, device=DEVICE)
    grad = torch.randn(13, 32, device=DEVICE)

    def found(fused: bool) -> list[Tensor]:
        monkeypatch.setattr(transformer, "runs_triton", lambda x: fused)
        encoder.zero_grad()
        out = encoder(x, places, rows)
        out.backward(grad)
        return [out, *(one.grad for one in encoder.parameters() if one.grad is not None)]

    plain, fused = found(False), found(True)
    assert len(plain) == 1 + len(list(encoder.parameters()))
    for own, right in zip(fused, plain, strict=True):
        torch.testing.assert_close(own, right, rtol=1e-4, atol=1e-5)

    encoder.train()
    out = found(True)[0]
    assert not torch.equal(out, fused[0])  # something was dropped
