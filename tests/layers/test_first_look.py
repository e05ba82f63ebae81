"""A first look at all labels leaves the best as they are, and costs them nothing."""

from __future__ import annotations

import torch
from torch import Tensor

from labelwise.kernels.label_attention import label_attention
from labelwise.layers.first_look import FirstLook

LENGTHS = torch.tensor([60, 7, 33])


def made(width: int = 24, labels: int = 300, rank: int = 6) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Tokens and labels that lie in ``rank`` dimensions but for a little noise."""
    make = torch.Generator().manual_seed(3)
    basis = torch.randn(rank, width, generator=make)
    h = torch.randn(3, 60, rank, generator=make) @ basis
    of_labels = torch.randn(2 * labels, rank, generator=make) @ basis / width
    of_labels += 1e-3 * torch.randn(of_labels.shape, generator=make)
    bias = torch.randn(labels, generator=make)
    return h, (of_labels[:labels], of_labels[labels:], bias)


def tokens(h: Tensor) -> Tensor:
    return torch.cat([row[:length] for row, length in zip(h, LENGTHS.tolist(), strict=True)])


def test_with_all_dimensions_it_is_the_attention_itself() -> None:
    h, labels = made()
    look = FirstLook(24, 24)
    look.learn(tokens(h), torch.cat(labels[:2]))
    with torch.no_grad():
        found = look(h, LENGTHS, labels, 1)
    torch.testing.assert_close(found, label_attention(h, LENGTHS, *labels), rtol=1e-3, atol=1e-3)


def test_a_few_dimensions_find_the_best_labels_whose_logits_are_exact() -> None:
    h, labels = made()
    look = FirstLook(24, 6)
    look.learn(tokens(h), torch.cat(labels[:2]))
    with torch.no_grad():
        found = look(h, LENGTHS, labels, 40)
        exact = label_attention(h, LENGTHS, *labels)
    best = exact.topk(10).indices
    assert torch.equal(found.topk(10).indices, best)
    torch.testing.assert_close(found.gather(1, best), exact.gather(1, best))


def test_padding_has_no_say() -> None:
    h, labels = made()
    look = FirstLook(24, 6)
    look.learn(tokens(h), torch.cat(labels[:2]))
    with torch.no_grad():
        before = look(h, LENGTHS, labels, 40)
        h[1, 7:] = 99.0
        torch.testing.assert_close(look(h, LENGTHS, labels, 40), before)
