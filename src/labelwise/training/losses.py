"""Losses: summed over labels, averaged over documents."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, pad


def bce(logits: Tensor, target: Tensor) -> Tensor:  # (D, L) twice
    """Binary cross-entropy."""
    return binary_cross_entropy_with_logits(logits, target, reduction="sum") / len(logits)


def zlpr(logits: Tensor, target: Tensor) -> Tensor:  # (D, L) twice
    """log(1 + Σ of others exp(logit)) + log(1 + Σ of gold labels exp(-logit)) (Su et al., 2022).

    >>> import torch
    >>> round(zlpr(torch.tensor([[2.0, -1.0]]), torch.tensor([[1.0, 0.0]])).item(), 4)
    0.4402
    """
    nothing = float("-inf")
    gold = target > 0
    others, wanted = logits.masked_fill(gold, nothing), (-logits).masked_fill(~gold, nothing)
    both = [pad(x, (0, 1)).logsumexp(1) for x in (others, wanted)]  # the one is exp(0)
    return (both[0] + both[1]).sum() / len(logits)


LOSSES = {"bce": bce, "zlpr": zlpr}
