"""The highest-ranked labels, found where the logits are, so that no logit has to be moved."""

from __future__ import annotations

import torch
from torch import Tensor


def highest_columns(logits: Tensor, k: int) -> Tensor:
    """The columns of the ``k`` highest logits of each document, best first, in evaluation's order.

    Of equal logits the first column is higher (see ``evaluation.ranking``): each becomes a number
    whose upper half is the logit and whose lower half counts columns backwards.

    >>> highest_columns(torch.tensor([[0.5, 0.9, 0.5, 0.5]]), 3).tolist()
    [[1, 0, 2]]
    """
    bits = (logits.float() + 0.0).view(torch.int32).long()
    ordered = torch.where(bits < 0, -(bits & 0x7FFFFFFF) - 1, bits)
    columns = torch.arange(logits.shape[1], device=logits.device)
    keys = ordered * (1 << 32) + (0xFFFFFFFF - columns)
    return keys.topk(min(k, logits.shape[1]), dim=1).indices
