"""Self-attention: one weight a token, the same for every label."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from labelwise.layers.masking import is_real


class SelfAttention(nn.Module):
    """score_t = h_t·u; a = softmax over the real tokens; Σ_t a_t h_t (BIGRU-ATT)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(width).uniform_(-(width**-0.5), width**-0.5))

    def scores(self, h: Tensor) -> Tensor:  # (S, T, H) to (S, T)
        return h @ self.query.to(h.dtype)

    def weights(self, h: Tensor, lengths: Tensor) -> Tensor:  # (S, T, H), (S,) to (S, T)
        scores = self.scores(h)
        # A softmax needs float32 where autocast gives less, and float64 where h has it.
        scores = scores if scores.dtype == torch.float64 else scores.float()
        padding = ~is_real(lengths.to(h.device), h.shape[1])
        return scores.masked_fill(padding, float("-inf")).softmax(1)

    def forward(self, h: Tensor, lengths: Tensor) -> Tensor:  # (S, T, H), (S,) to (S, H)
        a = self.weights(h, lengths)
        return (a.to(h.dtype)[:, None] @ h)[:, 0]


class TanhAttention(SelfAttention):
    """The same with score_t = tanh(W h_t + b)·u (HAN, MAX-HSS)."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.hidden = nn.Linear(width, width)

    def scores(self, h: Tensor) -> Tensor:
        hidden = self.hidden(h).tanh()
        return super().scores(hidden)
