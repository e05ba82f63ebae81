"""What the Z- methods know of a label: the words of its descriptor, and nothing learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Descriptors(nn.Module):
    """Maps encoded tokens to the space of word vectors, where the descriptors live.

    v_t = tanh(W h_t + b) is compared with the labels, and p_t = P h_t is what a label judges by.
    With ``project=False`` p_t is h_t itself, as published; h_t must then be as wide as a word
    vector. One learned bias serves all labels, so that unseen ones stay comparable to seen ones.
    The label vectors u_l are a buffer: saved with the model, never updated.
    """

    vectors: Tensor

    def __init__(self, width: int, vectors: Tensor, prior: float, project: bool = True) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors)  # (L, E)
        self.hidden = nn.Linear(width, vectors.shape[1])
        self.project = nn.Linear(width, vectors.shape[1], bias=False) if project else nn.Identity()
        self.bias = nn.Parameter(torch.tensor(prior))

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor]:  # (S, T, H) to (S, T, E) twice
        return self.hidden(h).tanh(), self.project(h)
