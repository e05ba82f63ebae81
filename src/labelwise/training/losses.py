"""Losses: summed over labels, averaged over documents."""

from __future__ import annotations

import torch
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


def hbm(
    logits: Tensor,  # (D, L)
    target: Tensor,  # (D, L)
    groups: Tensor,  # (L,) the group of siblings of each label, from 0
    *,
    count: int,  # of groups
    bias: float,
    margin: float,
) -> Tensor:
    """Hierarchy-aware biased bound margin loss (Kim et al., 2024), for labels scored side by side.

    Siblings, which have the same broader concept, are ranked around zero as ``zlpr`` ranks all
    labels. Of each group and document, with x = logit for the others and x = -logit for gold
    labels, both sorts add log(1 + Σ exp(x + b)). b is ``bias`` times the standard deviation of the
    x of that sort, and is not learned through: where they lie far apart, more is asked of them.
    A label with σ(2x) of at most ``margin`` is right already, and left out of the sum.

    What differs from the paper, whose decoder walks down the hierarchy: all groups count in each
    document, not only those below its gold labels, for each label is scored in each document; and
    the bound, there read from the document, is the bias of the label's own unit. So a label that
    has no sibling is judged as by ``bce``, but for the margin.

    >>> import torch
    >>> logits, target = torch.tensor([[2.0, -1.0]]), torch.tensor([[1.0, 0.0]])
    >>> alone = torch.tensor([0, 1])
    >>> round(hbm(logits, target, alone, count=2, bias=1.0, margin=0.0).item(), 4)
    0.4402
    >>> round(bce(logits, target).item(), 4)
    0.4402
    """
    gold = target > 0
    x = torch.where(gold, -logits, logits)  # (D, L) above zero on the wrong side
    sorts = groups + gold * count  # (D, L) the others of each group, then the gold ones
    none = logits.new_zeros(len(logits), 2 * count)

    def summed(values: Tensor) -> Tensor:
        return none.scatter_add(1, sorts, values)

    with torch.no_grad():
        labels = summed(torch.ones_like(x))  # (D, 2G)
        mean = summed(x) / labels.clamp_min(1)
        squares = summed((x - mean.gather(1, sorts)).square())
        deviation = (squares / (labels - 1).clamp_min(1)).sqrt()
        biases = bias * deviation.gather(1, sorts)  # (D, L)
        right = (2 * x).sigmoid() <= margin
    x = (x + biases).masked_fill(right, float("-inf"))
    highest = none.scatter_reduce(1, sorts, x.detach(), "amax")  # at least zero
    rest = summed((x - highest.gather(1, sorts)).exp())
    return (highest + torch.log1p(rest + torch.expm1(-highest))).sum() / len(logits)


LOSSES = {"bce": bce, "zlpr": zlpr}
"""Those that need to know nothing but logits and gold labels."""
