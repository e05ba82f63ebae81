"""Dropout for sequences: whole channels, or whole words."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from labelwise.text.vocabulary import PADDING, UNKNOWN


class SpatialDropout(nn.Module):
    """Drops the same channels at every token of a row, where plain dropout would leave each
    channel readable at the neighbouring tokens."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:  # (S, T, H) to the same
        if not self.training or not self.rate:
            return x
        keep = 1 - self.rate
        return x * (x.new_empty((len(x), 1, x.shape[2])).bernoulli_(keep) / keep)


def drop_words(tokens: Tensor, rate: float) -> Tensor:  # (S, T) to the same
    """Turns real words into the unknown word at this rate, as happens in new documents."""
    if not rate:
        return tokens
    dropped = torch.rand(tokens.shape, device=tokens.device) < rate
    return tokens.masked_fill(dropped & (tokens != PADDING), UNKNOWN)
