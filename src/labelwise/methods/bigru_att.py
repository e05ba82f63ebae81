"""BIGRU-ATT: one attention for the document, whatever the label.

word encoder       BiGRU stack
document encoder   self-attention, plain: score h_t·u
document decoder   linear
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import linear

from labelwise.layers import BiGRU, LabelUnits, SelfAttention
from labelwise.methods.attending import AttendingNetwork
from labelwise.methods.base_network import require_whole
from labelwise.methods.network import Material, NetworkMethod, NetworkSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class BigruAttSettings(NetworkSettings):
    units: int = 300
    """A direction: the middle of the published search space."""
    layers: int = 1
    """Two of them gained little for twice the time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, units=1, layers=1)


class BigruAttNetwork(AttendingNetwork):
    def __init__(self, material: Material, settings: BigruAttSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = BiGRU(width, settings.units, settings.layers, settings.dropout_of_encoded)
        self.attention = SelfAttention(self.encoder.width)
        self.decoder = LabelUnits(self.encoder.width, material.prior)

    def encode(self, batch: Batch) -> Tensor:
        h: Tensor = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        return h  # (D, T, H)

    def forward(self, batch: Batch) -> Tensor:
        d = self.attention(self.encode(batch), batch.lengths)  # (D, H)
        logits: Tensor = self.decoder(self.scaled(d, batch.lengths))
        return logits  # (D, L)

    def weighed(self, batch: Batch, columns: Tensor) -> tuple[Tensor, Tensor]:
        h = self.encode(batch)
        weights = self.attention.weights(h, batch.lengths)  # (D, T)
        values = self.scaled(h, batch.lengths)
        return (
            weights[:, :, None].expand(-1, -1, len(columns)),
            linear(values, self.decoder.weight[columns], self.decoder.bias[columns]),
        )


class BigruAtt(NetworkMethod):
    """BiGRU, one attention for the document, a linear unit a label."""

    name = "bigru-att"
    Settings = BigruAttSettings
    settings: BigruAttSettings
    network_type = BigruAttNetwork
