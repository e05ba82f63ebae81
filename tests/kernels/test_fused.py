"""The fused label-wise attention: values and all gradients beside float64.

Without a GPU its kernels run in Triton's interpreter, on small inputs.
"""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
pytest.importorskip("triton")

from labelwise.kernels import fused
from labelwise.kernels.blocked import blocked_logits

TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 1e-2, torch.float16: 2e-3}


def material(
    lengths: list[int], width: int, labels: int, dtype: torch.dtype, value_width: int | None = None
) -> tuple[Tensor, ...]:
    """h, values (or h), queries, outputs in this precision, drawn anew for every case."""
    make = torch.Generator().manual_seed(len(lengths) * 1000 + width + labels)
    tokens = max(lengths)
    h = torch.randn(len(lengths), tokens, width, generator=make)
    queries = torch.randn(labels, width, generator=make) / width**0.5 * 2
    outputs = torch.randn(labels, value_width or width, generator=make)
    drawn = [h, queries, outputs]
    if value_width:
        drawn.append(torch.randn(len(lengths), tokens, value_width, generator=make))
    h, queries, outputs, *values = (x.to(dtype) for x in drawn)  # what both sides see
    return h, values[0] if values else h, queries, outputs


def results(run, inputs: tuple[Tensor, ...], lengths: list[int], dtype: torch.dtype, device: str):
    """The logits and the gradients of h, values where they differ, queries and outputs."""
    h, v, queries, outputs = inputs
    same = v is h
    leaves = [
        x.detach().to(device, dtype, copy=True).requires_grad_() for x in (h, queries, outputs)
    ]
    if not same:
        leaves.append(v.detach().to(device, dtype, copy=True).requires_grad_())
    values = leaves[0] if same else leaves[3]
    logits = run(leaves[0], values, torch.tensor(lengths, device=device), leaves[1], leaves[2])
    weight = torch.randn(logits.shape, generator=torch.Generator().manual_seed(1)) * 1e-3
    logits.backward(weight.to(device, logits.dtype))
    return [logits.detach(), *(x.grad for x in leaves)]


def check(inputs: tuple[Tensor, ...], lengths: list[int], tolerance: float | None = None) -> None:
    dtype = inputs[0].dtype
    got = results(fused.fused_logits, inputs, lengths, dtype, DEVICE)
    exact = results(blocked_logits, inputs, lengths, torch.float64, "cpu")
    for name, a, b in zip(
        ["logits", "h", "queries", "outputs", "values"], got, exact, strict=False
    ):
        error = (a.double().cpu() - b).norm()
        assert error <= (tolerance or TOLERANCE[dtype]) * b.norm() + 1e-9, name
    assert len(got) == len(exact)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("lengths", "width", "labels"),
    [([1], 8, 1), ([1, 70, 129, 64], 50, 37), ([3, 130, 2, 1, 128, 77, 65], 97, 200)],
    ids=["one word and one label", "ragged", "widths that divide nothing"],
)
def test_values_and_gradients_are_those_of_float64(lengths, width, labels, dtype) -> None:
    check(material(lengths, width, labels, dtype), lengths)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_values_that_differ_from_what_is_attended_to(dtype) -> None:
    lengths = [40, 3, 70]
    check(material(lengths, 33, 20, dtype, value_width=17), lengths)


def test_labels_are_taken_in_chunks_that_a_bounded_buffer_holds(monkeypatch) -> None:
    monkeypatch.setattr(fused, "BUFFER_ELEMENTS", 1)
    lengths = [20, 5]
    check(material(lengths, 16, 300, torch.float32), lengths)


def test_extreme_scores_stay_finite_and_right() -> None:
    lengths = [30, 9, 1]
    h, _, queries, outputs = material(lengths, 24, 40, torch.float32)
    h = h * 30
    check((h, h, queries * 30, outputs), lengths, tolerance=5e-3)


def test_padding_is_never_read() -> None:
    lengths = [7, 2, 20]
    h, _, queries, outputs = material(lengths, 12, 9, torch.float32)
    h, queries, outputs = (x.to(DEVICE) for x in (h, queries, outputs))
    clean = fused.fused_logits(h, h, torch.tensor(lengths), queries, outputs)
    for n, length in enumerate(lengths):
        h[n, length:] = float("nan")
    h.requires_grad_()
    noisy = fused.fused_logits(h, h, torch.tensor(lengths), queries, outputs)
    noisy.sum().backward()
    assert torch.equal(noisy, clean)
    assert h.grad is not None
    for n, length in enumerate(lengths):
        assert not h.grad[n, length:].any()


def test_wider_inputs_are_rounded_inside_and_get_wide_gradients() -> None:
    lengths = [9, 4]
    h, _, queries, outputs = material(lengths, 12, 9, torch.float32)
    leaves = [x.to(DEVICE).requires_grad_() for x in (h, queries, outputs)]
    logits = fused.fused_logits(
        leaves[0], leaves[0], torch.tensor(lengths), *leaves[1:], dtype=torch.float16
    )
    logits.sum().backward()
    rounded = fused.fused_logits(
        *(2 * [leaves[0].detach().half()]),
        torch.tensor(lengths),
        *(x.detach().half() for x in leaves[1:]),
    )
    assert torch.equal(logits, rounded)
    assert all(x.grad is not None and x.grad.dtype == torch.float32 for x in leaves)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("same", [True, False], ids=["one", "values apart"])
@pytest.mark.parametrize("tokens", [0, 100, 10_000], ids=["none", "some", "all"])
def test_products_that_stay_or_are_made_again_give_the_same(
    monkeypatch, tokens, same, dtype
) -> None:
    monkeypatch.setattr(fused, "_room", lambda *_: tokens)
    lengths = [40, 3, 70, 1, 129]  # of which the first two have room in a hundred
    check(material(lengths, 33, 140, dtype, value_width=None if same else 17), lengths)


@pytest.mark.parametrize("same", [True, False], ids=["one", "values apart"])
def test_products_that_stay_for_labels_in_chunks(monkeypatch, same) -> None:
    monkeypatch.setattr(fused, "_room", lambda *_: 40)
    monkeypatch.setattr(fused, "BUFFER_ELEMENTS", 1)
    lengths = [20, 5, 30]
    check(material(lengths, 16, 1100, torch.bfloat16, None if same else 24), lengths)


def test_a_second_pass_back_makes_again_what_the_first_one_overwrote() -> None:
    lengths = [20, 70]
    h, _, queries, outputs = (x.to(DEVICE) for x in material(lengths, 16, 40, torch.float16))
    h.requires_grad_()
    logits = fused.fused_logits(h, h, torch.tensor(lengths), queries, outputs)
    first, second = (
        torch.autograd.grad(logits.sum(), h, retain_graph=True)[0].float() for _ in range(2)
    )
    assert first.any()
    assert (first - second).norm() <= 2e-3 * first.norm()


def test_nothing_stays_where_nothing_is_learned(monkeypatch) -> None:
    def refused(*_: object) -> int:
        raise AssertionError("room was asked for")

    monkeypatch.setattr(fused, "_room", refused)
    lengths = [20, 70]
    h, _, queries, outputs = (x.to(DEVICE) for x in material(lengths, 16, 40, torch.float16))
    with torch.no_grad():
        fused.fused_logits(h, h, torch.tensor(lengths), queries, outputs)


def test_what_float16_cannot_hold_counts_as_its_end() -> None:
    lengths = [3]
    h = torch.tensor([[[1.0], [3e4], [2.0]]], dtype=torch.bfloat16, device=DEVICE)
    queries, outputs = (
        torch.tensor([[x]], dtype=torch.bfloat16, device=DEVICE).requires_grad_()
        for x in (9.0, 5.0)
    )
    logits = fused.fused_logits(h, h, torch.tensor(lengths), queries, outputs)
    logits.sum().backward()
    assert float(logits.detach()) == pytest.approx(65504.0)
    assert queries.grad is not None
    assert queries.grad.isfinite().all()
    assert float(outputs.grad) == pytest.approx(3e4, rel=1e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_what_is_no_number_is_not_hidden(dtype) -> None:
    h = torch.ones(2, 3, 8, dtype=dtype, device=DEVICE)
    h[1, 2, 5] = float("nan")
    weights = torch.ones(4, 8, dtype=dtype, device=DEVICE)
    logits = fused.fused_logits(h, h, torch.tensor([3, 3]), weights, weights)
    assert logits[0].isfinite().all()
    assert logits[1].isnan().all()


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("lengths", "width", "labels"),
    [([8192, 1, 4000], 600, 500), ([729] * 8, 600, 4271), ([90, 30, 60] * 50, 200, 1000)],
    ids=["8,192 tokens", "EURLEX57K", "sections"],
)
def test_values_and_gradients_at_full_size(lengths, width, labels, dtype) -> None:
    check(material(lengths, width, labels, dtype), lengths)


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a CUDA device")
def test_tf32_where_it_is_allowed() -> None:
    lengths = [700, 30, 1, 512]
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        check(material(lengths, 600, 1000, torch.float32), lengths)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed
