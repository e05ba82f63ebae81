"""Attention of packed rows is that of each row alone, in PyTorch and in the fused kernels.

Without a GPU the kernels run in Triton's interpreter, on small inputs.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from torch import Tensor

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported

from labelwise.kernels.packed_attention import (
    Rows,
    by_distance,
    packed_attention,
    plain_packed_attention,
)

LENGTHS = [3, 130, 1, 17]
HEADS, WIDTH = 2, 16


def one_row(qkv: Tensor, heads: int, bias: Tensor | None) -> Tensor:
    """The formula, for one row, in the precision of its input."""
    tokens = len(qkv)
    q, k, v = qkv.view(tokens, 3, heads, -1).permute(1, 2, 0, 3)  # (heads, T, d)
    scores = q @ k.transpose(1, 2) / q.shape[2] ** 0.5
    if bias is not None:
        reach, at = bias.shape[1] // 2, torch.arange(tokens)
        scores = scores + bias[:, (at - at[:, None]).clamp(-reach, reach) + reach]
    return (scores.softmax(2) @ v).transpose(0, 1).reshape(tokens, -1)


def expected(qkv: Tensor, bias: Tensor | None) -> Tensor:
    return torch.cat([one_row(row, HEADS, bias) for row in qkv.split(LENGTHS)])


def given(biased: bool) -> tuple[Tensor, Tensor | None]:
    torch.manual_seed(7)
    qkv = torch.randn(sum(LENGTHS), 3 * HEADS * WIDTH, dtype=torch.float64)
    return qkv, torch.randn(HEADS, 2 * 20 + 1, dtype=torch.float64) if biased else None


def of_pairs(table: Tensor | None) -> Tensor | None:
    return None if table is None else by_distance(table, max(LENGTHS))


@pytest.mark.parametrize("biased", [False, True])
def test_rows_attend_to_themselves_alone(biased: bool) -> None:
    qkv, bias = given(biased)
    rows = Rows.of(np.array(LENGTHS), torch.device("cpu"))
    torch.testing.assert_close(
        packed_attention(qkv, rows, HEADS, of_pairs(bias)), expected(qkv, bias)
    )
    order = np.array([2, 0, 3, 1])  # in another order and other company
    parts = list(qkv.split(LENGTHS))
    turned = torch.cat([parts[row] for row in order])
    rows = Rows.of(np.array(LENGTHS)[order], torch.device("cpu"))
    found = plain_packed_attention(turned, rows, HEADS, of_pairs(bias))
    wanted = torch.cat([expected(qkv, bias).split(LENGTHS)[row] for row in order])
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_fused_kernels_agree_with_the_formula(biased: bool, dtype: torch.dtype) -> None:
    pytest.importorskip("triton")
    if DEVICE == "cpu" and dtype == torch.bfloat16:
        pytest.skip("needs a CUDA device: the interpreter multiplies bfloat16 as bits")
    from labelwise.kernels.fused_packed import fused_packed_attention

    qkv, bias = given(biased)
    wanted_in = qkv.to(dtype).double().requires_grad_()
    wanted = expected(wanted_in, bias)
    grad = torch.randn(wanted.shape, dtype=torch.float64).to(dtype)
    wanted.backward(grad.double())

    own_in = qkv.to(DEVICE, dtype).requires_grad_()
    rows = Rows.of(np.array(LENGTHS), own_in.device)
    own = fused_packed_attention(
        own_in, rows, HEADS, None if bias is None else of_pairs(bias.to(DEVICE))
    )
    own.backward(grad.to(DEVICE))
    assert own_in.grad is not None
    assert wanted_in.grad is not None
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    for found, right in ((own, wanted), (own_in.grad, wanted_in.grad)):
        error = (found.detach().double().cpu() - right.detach()).norm()
        assert error <= tolerance * right.norm()


def test_the_backward_pass_fills_no_array_of_all_tokens_for_each_row() -> None:
    """As slices would: that was most of what attention cost a training on a CPU."""
    qkv, bias = given(biased=True)
    rows = Rows.of(np.array(LENGTHS), torch.device("cpu"))
    found = plain_packed_attention(qkv.requires_grad_(), rows, HEADS, of_pairs(bias))
    seen: set[str] = set()
    left = [found.grad_fn]
    while left:
        if (one := left.pop()) is not None:
            seen.add(one.name())
            left += [before for before, _ in one.next_functions]
    assert {"SplitWithSizesBackward0", "CatBackward0"} <= seen
    assert not seen & {"SliceBackward0", "SelectBackward0"}
