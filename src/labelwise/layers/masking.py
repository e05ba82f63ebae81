"""Which tokens are real."""

from __future__ import annotations

import torch
from torch import Tensor


def is_real(lengths: Tensor, longest: int) -> Tensor:
    """True where a row still has a token, False at padding: (rows, longest).

    >>> is_real(torch.tensor([2, 1]), 3).tolist()
    [[True, True, False], [True, False, False]]
    """
    return torch.arange(longest, device=lengths.device) < lengths[:, None]
