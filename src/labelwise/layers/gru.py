"""The recurrent word encoder."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from labelwise.layers.dropout import SpatialDropout


class BiGRU(nn.Module):
    """A stack of bidirectional GRUs that read exactly the real tokens.

    The rows are packed, so that the backward direction starts at the last real token. Units are
    per direction: the output is twice as wide. Padding comes out as zeros.
    """

    def __init__(self, width: int, units: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        widths = [width] + [2 * units] * (layers - 1)
        self.layers = nn.ModuleList(
            nn.GRU(below, units, batch_first=True, bidirectional=True) for below in widths
        )
        self.dropout = SpatialDropout(dropout)
        self.width = 2 * units

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """x (S, T, E) with lengths (S,), which packing wants on the CPU, to (S, T, 2 units)."""
        longest = x.shape[1]
        by_length = bool((lengths[1:] <= lengths[:-1]).all())  # then packing has nothing to sort
        for layer in self.layers:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=by_length)
            x, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=longest)
            x = self.dropout(x)
        return x
