"""The recurrent word encoder."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from labelwise.kernels import stepped_gru
from labelwise.kernels.launching import autocast_dtype, runs_triton
from labelwise.layers.dropout import SequenceDropout
from labelwise.layers.masking import is_real


class BiGRU(nn.Module):
    """A stack of bidirectional GRUs that read exactly the real tokens.

    The backward direction starts at the last real token. Units are per direction: the output is
    twice as wide. Padding comes out as zeros.
    """

    def __init__(
        self,
        width: int,
        units: int,
        layers: int = 1,
        dropout: float = 0.0,
        by_document: bool = False,  # whether a row is a document, read section by section
    ) -> None:
        super().__init__()
        widths = [width] + [2 * units] * (layers - 1)
        self.layers = nn.ModuleList(
            nn.GRU(below, units, batch_first=True, bidirectional=True) for below in widths
        )
        self.dropout = SequenceDropout(dropout, by_document)
        self.width = 2 * units

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """x (S, T, E) with lengths (S,), which packing wants on the CPU, to (S, T, 2 units)."""
        for layer in self.layers:
            assert isinstance(layer, nn.GRU)
            x = self.dropout(read(layer, x, lengths))
        return x


def read(gru: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
    """In the way that is fastest here: x (S, T, E) to (S, T, 2 units), zero at padding."""
    dtype = autocast_dtype(x)
    if dtype is not None and runs_triton(x):
        from labelwise.kernels.fused_gru import bigru

        return bigru(x, lengths, list(gru.parameters()), dtype)
    # Outside autocast, which gives cuDNN's GRU float16 whatever it was asked for: the gradients of
    # a token are too small for that.
    with torch.autocast(x.device.type, enabled=False):
        x = x.to(next(gru.parameters()).dtype)
        if x.is_cuda:
            return padded(gru, x, lengths)
        if torch.is_grad_enabled():
            return mirrored(gru, x, lengths)
        return stepped_gru.bigru(x, lengths, list(gru.parameters()))


def padded(gru: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
    """Both directions at once over the padded rows, as cuDNN reads them fastest.

    Coming from the right the padding is read before the words. A channel more, 1 at padding, holds
    the update gate shut there (σ of a hundred is 1, to the last bit), so that the state stays what
    it was: zero. Packed rows do the same in twice the time.
    """
    real = is_real(lengths.to(x.device), x.shape[1])[:, :, None]  # (S, T, 1)
    x = torch.cat([x, (~real).to(x.dtype)], 2)
    shut = x.new_zeros((3 * gru.hidden_size, 1))
    shut[gru.hidden_size : 2 * gru.hidden_size] = 100.0  # gates: reset, update, new
    weights = [
        torch.cat([weight, shut], 1) if name.startswith("weight_ih") else weight
        for name, weight in gru.named_parameters()
    ]
    start = x.new_zeros((2, len(x), gru.hidden_size))
    return _read(x, start, weights, both=True) * real


def mirrored(gru: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
    """Two readings from the left, the second of the rows turned around, each at its own length.

    What follows a row's last token cannot reach the tokens before it. On the CPU this trains seven
    times as fast as packed rows.
    """
    real = is_real(lengths, x.shape[1])  # (S, T)
    at = torch.arange(x.shape[1])
    turned = torch.where(real, lengths[:, None] - 1 - at, at)[:, :, None]  # its own inverse
    start = x.new_zeros((1, len(x), gru.hidden_size))
    weights = list(gru.parameters())
    forth = _read(x, start, weights[:4])
    back = _read(x.gather(1, turned.expand_as(x)), start, weights[4:])
    back = back.gather(1, turned.expand_as(back))
    return torch.cat([forth, back], 2) * real[:, :, None]


def _read(x: Tensor, start: Tensor, weights: Sequence[Tensor], both: bool = False) -> Tensor:
    # One layer, rows first; with biases, no dropout. Training keeps what the gradient needs.
    training = torch.is_grad_enabled()
    with warnings.catch_warnings():
        # cuDNN wants all weights in one piece of memory; gathering these few takes no time.
        warnings.filterwarnings("ignore", message="RNN module weights are not part of")
        return torch.gru(x, start, weights, True, 1, 0.0, training, both, True)[0]  # type: ignore
