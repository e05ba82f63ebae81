"""Word vectors: the first thing every network reads."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from labelwise.layers.dropout import SequenceDropout, drop_words
from labelwise.text.vocabulary import PADDING

Learned = Literal["all", "missing", "none"]
"""Which word vectors training may change: all, those that no pre-trained vector was found for, or
none."""


class Embedding(nn.Module):
    """The vector of each word, with word dropout before and dropout after.

    The padding row is zero and stays so.
    """

    weight: nn.Parameter
    changes: Tensor
    """(V, 1) 1 for a row that training may change, 0 for one that it leaves alone."""

    def __init__(
        self,
        vectors: Tensor,  # (V, E), one row a word of the vocabulary
        found: Tensor,  # (V,), True where the vector is a pre-trained one
        learned: Learned = "all",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(vectors.clone(), requires_grad=learned != "none")
        with torch.no_grad():
            self.weight[PADDING] = 0
        changes = torch.ones(len(vectors), 1) if learned == "all" else (~found)[:, None].float()
        changes[PADDING] = 0
        # Not saved: it matters in training only. A row with no gradient stays where Adam found it.
        self.register_buffer("changes", changes, persistent=False)
        if self.weight.requires_grad:
            self.weight.register_hook(  # type: ignore[no-untyped-call]
                lambda gradient: gradient * self.changes
            )
        self.dropout = SequenceDropout(dropout)
        self.word_dropout = word_dropout

    def forward(self, tokens: Tensor) -> Tensor:  # (S, T) to (S, T, E)
        if self.training:
            tokens = drop_words(tokens, self.word_dropout)
        x: Tensor = self.dropout(functional.embedding(tokens, self.weight))
        return x
