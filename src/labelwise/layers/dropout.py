"""Dropout for sequences: whole channels, whole words, or tokens that lie packed.

Several processes may share a batch. What is dropped is then drawn for the whole batch, in each of
them the same, and each takes what belongs to the rows that it reads: how many they are changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional

from labelwise.text.vocabulary import PADDING, UNKNOWN


@dataclass(frozen=True, eq=False)
class Share:
    """What one of several processes reads of a batch."""

    lengths: Tensor  # (rows of the whole batch,) the tokens of each
    rows: Tensor  # (S,) which of them are read here
    documents: int  # of the whole batch
    own: Tensor  # (D,) which of them are read here

    @cached_property
    def tokens(self) -> tuple[int, Tensor]:
        """Where rows lie packed, each between a token that opens and one that closes it: how many
        tokens there are, and which of them are read here (N,)."""
        full = self.lengths + 2
        ends = full.cumsum(0)
        own = full[self.rows]
        starts = torch.repeat_interleave((ends - full)[self.rows] - (own.cumsum(0) - own), own)
        return int(ends[-1]), starts + torch.arange(len(starts), device=starts.device)


_share: ContextVar[Share | None] = ContextVar("share", default=None)


@contextmanager
def sharing(share: Share | None) -> Iterator[None]:
    """Within it a batch is the share of a larger one; None is a whole one."""
    token = _share.set(share)
    try:
        yield
    finally:
        _share.reset(token)


class SequenceDropout(nn.Module):
    """Drops the same channels at every token of a row, where plain dropout would leave each
    channel readable at the neighbouring tokens. The rows are those of the batch or, for what is
    encoded section by section, its documents."""

    plain = False
    """Whether each number is dropped by itself all the same. Sections are not."""

    def __init__(self, rate: float, by_document: bool = False) -> None:
        super().__init__()
        self.rate, self.by_document = rate, by_document

    def forward(self, x: Tensor) -> Tensor:  # (S, T, H) to the same
        if not self.training or not self.rate:
            return x
        share = _share.get()
        if self.plain and not self.by_document:
            # Drawn for rows as they are counted, however x lies in memory.
            if share is None:
                return x * functional.dropout(x.new_ones(x.shape), self.rate)
            shape = len(share.lengths), int(share.lengths.max()), x.shape[2]
            return x * functional.dropout(x.new_ones(shape), self.rate)[share.rows, : x.shape[1]]
        keep = 1 - self.rate
        if share is None:
            return x * (x.new_empty((len(x), 1, x.shape[2])).bernoulli_(keep) / keep)
        rows, own = len(share.lengths), share.rows
        if self.by_document:
            rows, own = share.documents, share.own
        return x * (x.new_empty((rows, 1, x.shape[2])).bernoulli_(keep)[own] / keep)


class TokenDropout(nn.Dropout):
    """Plain dropout of packed rows, each between a token that opens and one that closes it."""

    def forward(self, x: Tensor) -> Tensor:  # (N, H) to the same
        share = _share.get()
        if share is None or not self.training or not self.p:
            return super().forward(x)
        every, own = share.tokens
        return x * functional.dropout(x.new_ones((every, x.shape[1])), self.p)[own]


def drop_words(tokens: Tensor, rate: float) -> Tensor:  # (S, T) to the same
    """Turns real words into the unknown word at this rate, as happens in new documents."""
    if not rate:
        return tokens
    share = _share.get()
    if share is None:
        drawn = torch.rand(tokens.shape, device=tokens.device)
    else:
        shape = len(share.lengths), int(share.lengths.max())
        drawn = torch.rand(shape, device=tokens.device)[share.rows, : tokens.shape[1]]
    return tokens.masked_fill((drawn < rate) & (tokens != PADDING), UNKNOWN)
