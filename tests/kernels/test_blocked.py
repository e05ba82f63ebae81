"""The plain operator, whatever the rows that are read together and the labels in a block."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from labelwise.kernels import blocked
from labelwise.kernels.label_attention import label_attention

LENGTHS = (9, 1, 4, 9, 9, 2, 7)


def made(
    lengths: tuple[int, ...] = LENGTHS, width: int = 7, labels: int = 53, scale: float = 1.0
) -> tuple[Tensor, ...]:
    """h, lengths, queries, outputs, bias in float64; what stands at padding is noise."""
    make = torch.Generator().manual_seed(0)
    shapes = (len(lengths), max(lengths), width), (labels, width), (labels, width), (labels,)
    h, queries, outputs, bias = (
        torch.randn(shape, generator=make, dtype=torch.float64) for shape in shapes
    )
    return h, torch.tensor(lengths), queries * scale, outputs, bias


def formula(h: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor) -> Tensor:
    """One row at a time, all its scores at once."""
    logits = []
    for row, length in zip(h, lengths.tolist(), strict=True):
        read = row[:length]
        logits.append(((queries @ read.T).softmax(1) * (outputs @ read.T)).sum(1) + bias)
    return torch.stack(logits)


@pytest.fixture(params=[(1, 1), (10, 1), (18, 300), (1 << 10, 1 << 18)], ids=str)
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, elements = request.param
    monkeypatch.setitem(blocked.GROUP_TOKENS, "cpu", tokens)
    monkeypatch.setitem(blocked.BLOCK_ELEMENTS, "cpu", elements)


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("scale", [1.0, 300.0], ids=["common scores", "extreme scores"])
@pytest.mark.parametrize("lengths", [LENGTHS, (1,), (1, 1, 1), (3, 8), (8, 3), (6, 6)], ids=str)
def test_logits_are_those_of_the_formula(lengths: tuple[int, ...], scale: float) -> None:
    inputs = made(lengths, scale=scale)
    torch.testing.assert_close(label_attention(*inputs), formula(*inputs))
    h, lengths_, queries, outputs, bias = inputs
    single = label_attention(h.float(), lengths_, queries.float(), outputs.float(), bias.float())
    assert torch.isfinite(single).all()
    if scale == 1.0:
        torch.testing.assert_close(single.double(), formula(*inputs), rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("sizes")
def test_gradients_do_not_depend_on_what_is_read_together() -> None:
    h, lengths, queries, outputs, bias = made(labels=40)
    inputs = [x.requires_grad_() for x in (h, queries, outputs, bias)]
    weight = torch.randn(len(h), 40, dtype=torch.float64)

    def gradients(operator: Any) -> tuple[Tensor, ...]:
        logits = operator(h, lengths, queries, outputs, bias)
        return torch.autograd.grad((logits * weight).sum(), inputs)

    torch.testing.assert_close(gradients(label_attention), gradients(formula))


def test_a_document_scores_the_same_alone_and_among_others() -> None:
    h, lengths, *labels = (
        x.float() if x.is_floating_point() else x for x in made(width=64, scale=0.1)
    )
    together = label_attention(h, lengths, *labels)
    for at, length in enumerate(LENGTHS):
        alone = label_attention(h[at : at + 1, :length], lengths[at : at + 1], *labels)
        torch.testing.assert_close(alone[0], together[at], rtol=1e-6, atol=2e-6)


class Largest(TorchDispatchMode):
    """The entries of the largest tensor that any operation gave."""

    entries = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        sizes = [x.numel() for x in tree_leaves(out) if isinstance(x, Tensor)]
        self.entries = max([self.entries, *sizes])
        return out


@pytest.mark.parametrize("labels", [2_000, 20_000])
def test_nothing_is_held_that_grows_with_labels_and_tokens(labels: int) -> None:
    h, lengths, *of_labels = made((600, 150, 90, 90), width=8, labels=labels)
    with Largest() as seen, torch.no_grad():
        label_attention(h, lengths, *of_labels)
    inputs_and_logits = max(x.numel() for x in (h, *of_labels)), len(h) * labels
    assert seen.entries <= max(blocked.BLOCK_ELEMENTS["cpu"], *inputs_and_logits)
    assert seen.entries < 600 * labels


@pytest.mark.parametrize(("tokens", "labels"), [(128, 1_000), (128, 4_271), (64, 50), (3, 1)])
def test_cores_have_the_same_to_do_and_every_label_is_in_one_block(
    tokens: int, labels: int
) -> None:
    x = torch.zeros(tokens, 4)
    blocks = [range(labels)[block] for block in blocked._blocks(x, labels)]
    assert [label for block in blocks for label in block] == list(range(labels))
    sizes = [len(block) for block in blocks]
    assert max(sizes) - min(sizes) <= 1
    assert len(blocks) % blocked.EVENLY == 0 or max(sizes) <= blocked.LEAST_LABELS
    assert max(sizes) * tokens <= blocked.BLOCK_ELEMENTS["cpu"]
