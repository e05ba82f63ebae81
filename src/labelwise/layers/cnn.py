"""The convolutional word encoder."""

from __future__ import annotations

from torch import Tensor, nn

from labelwise.layers.dropout import SequenceDropout
from labelwise.layers.masking import is_real


class CNN(nn.Module):
    """A stack of convolutions over the words, tanh after each, one output a token.

    Output t sees ``kernel`` words around word t: (kernel - 1) // 2 before it, the rest after it.
    Beyond either end of the row it sees zeros, whether or not padding follows there.
    """

    def __init__(
        self, width: int, filters: int, kernel: int, layers: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        widths = [width] + [filters] * (layers - 1)
        self.layers = nn.ModuleList(nn.Conv1d(below, filters, kernel) for below in widths)
        before = (kernel - 1) // 2
        self.pad = nn.ZeroPad1d((before, kernel - 1 - before))
        self.dropout = SequenceDropout(dropout)
        self.width = filters

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:  # (S, T, E), (S,) to (S, T, filters)
        real = is_real(lengths.to(x.device), x.shape[1])[:, :, None]  # (S, T, 1)
        for layer in self.layers:
            x = layer(self.pad((x * real).transpose(1, 2))).transpose(1, 2).tanh()
            x = self.dropout(x)
        return x * real
