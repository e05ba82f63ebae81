"""The GRU of our own reads as torch.nn.GRU does, each row to its own end, forward and back.

Without a GPU its kernels run in Triton's interpreter, on small inputs.
"""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor, nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
pytest.importorskip("triton")

from labelwise.kernels.fused_gru import bigru

BFLOAT16 = pytest.param(
    torch.bfloat16,
    marks=pytest.mark.skipif(
        DEVICE == "cpu", reason="needs a CUDA device: the interpreter multiplies bfloat16 as bits"
    ),
)
TOLERANCE = {torch.float16: 5e-3, torch.bfloat16: 3e-2}


def packed(gru: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
    """What PyTorch makes of rows that are packed, in float64."""
    rows = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    y, _ = gru(rows)
    return nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])[0]


def check(lengths: list[int], width: int, units: int, dtype: torch.dtype) -> None:
    torch.manual_seed(sum(lengths) + units)
    gru = nn.GRU(width, units, batch_first=True, bidirectional=True).double()
    with torch.no_grad():
        for weight in gru.parameters():
            weight.copy_(weight.to(dtype))
    x = torch.randn(len(lengths), max(lengths), width).to(dtype).double().requires_grad_()
    expected = packed(gru, x, torch.tensor(lengths))
    weight = torch.randn(expected.shape).to(dtype)
    (expected * weight).sum().backward()

    ours = [p.detach().to(DEVICE, torch.float32).requires_grad_() for p in gru.parameters()]
    read = x.detach().to(DEVICE, torch.float32).requires_grad_()
    y = bigru(read, torch.tensor(lengths), ours, dtype)
    assert y.dtype == dtype
    y.backward(weight.to(DEVICE))
    found = [y, read.grad, *(p.grad for p in ours)]
    wanted = [expected, x.grad, *(p.grad for p in gru.parameters())]
    names = ["y", "x", *(name for name, _ in gru.named_parameters())]
    for name, a, b in zip(names, found, wanted, strict=True):
        assert a is not None
        assert b is not None
        error = (a.detach().double().cpu() - b).norm()
        assert error <= TOLERANCE[dtype] * b.norm() + 1e-9, name
    for row, length in enumerate(lengths):
        assert not y[row, length:].any()
        assert not read.grad[row, length:].any()


@pytest.mark.parametrize("dtype", [torch.float16, BFLOAT16])
@pytest.mark.parametrize(
    ("lengths", "width", "units"),
    [([6, 4, 4, 1], 5, 7), ([1], 3, 2), ([2, 5, 3], 4, 70)],
    ids=["ragged", "one word", "unsorted, more than a block of units"],
)
def test_it_reads_as_packed_rows_are_read(lengths, width, units, dtype) -> None:
    check(lengths, width, units, dtype)


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("lengths", "width", "units"),
    [([300, 299, 180, 90, 90, 3, 1] * 20, 100, 300), ([2000, 5], 200, 300), ([40] * 300, 64, 128)],
    ids=["EURLEX57K", "2,000 tokens", "sections"],
)
def test_it_reads_so_at_full_size(lengths, width, units, dtype) -> None:
    check(lengths, width, units, dtype)


def test_a_second_backward_pass_gives_the_same() -> None:
    gru = nn.GRU(3, 4, batch_first=True, bidirectional=True).to(DEVICE)
    x = torch.randn(2, 5, 3, device=DEVICE).requires_grad_()
    y = bigru(x, torch.tensor([5, 2]), list(gru.parameters()), torch.float16)
    first = torch.autograd.grad(y.float().sum(), x, retain_graph=True)[0]
    second = torch.autograd.grad(y.float().sum(), x)[0]
    assert torch.equal(first, second)
