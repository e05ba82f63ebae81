"""The dilated convolutional word encoder: a wide view in few steps, all words at once."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from labelwise.layers.dropout import SequenceDropout
from labelwise.layers.masking import is_real


class DilatedCNN(nn.Module):
    """A projection to the width, then residual blocks with dilations 1, 2, 4, 8, ...

    With ``blocks`` blocks of ``kernel`` words, output t sees (kernel - 1) (2^blocks - 1) words
    around word t. Beyond either end of the row each block sees zeros, whether or not padding
    follows there.
    """

    def __init__(
        self, width: int, filters: int, kernel: int, blocks: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.project = nn.Linear(width, filters)
        self.blocks = nn.ModuleList(
            DilatedBlock(filters, kernel, 2**block, dropout) for block in range(blocks)
        )
        self.width = filters

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:  # (S, T, E), (S,) to (S, T, filters)
        real = is_real(lengths.to(x.device), x.shape[1])[:, :, None]  # (S, T, 1)
        x = self.project(x)
        for block in self.blocks:
            x = block(x, real)
        return x * real


class DilatedBlock(nn.Module):
    """x + tanh(a) σ(b), where a and b are convolutions over words ``dilation`` apart.

    The gate lets a block leave a word as it is. One matrix product makes both convolutions: laid
    side by side, the words of a kernel are one long row, which is as fast in every precision and at
    every dilation as a product is.
    """

    def __init__(self, width: int, kernel: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.convolve = nn.Linear(kernel * width, 2 * width)
        self.kernel, self.dilation = kernel, dilation
        self.dropout = SequenceDropout(dropout)

    def forward(self, x: Tensor, real: Tensor) -> Tensor:  # (S, T, H), (S, T, 1) to (S, T, H)
        before = (self.kernel - 1) // 2 * self.dilation
        beyond = (self.kernel - 1) * self.dilation - before
        wide = pad(x * real, (0, 0, before, beyond))
        starts = range(0, self.kernel * self.dilation, self.dilation)
        words = [wide[:, start : start + x.shape[1]] for start in starts]
        a, b = self.convolve(torch.cat(words, 2)).chunk(2, 2)
        y: Tensor = self.dropout(a.tanh() * b.sigmoid())
        return x + y
