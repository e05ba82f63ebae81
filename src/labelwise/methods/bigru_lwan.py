"""BIGRU-LWAN: each label reads the document with attention of its own.

word encoder       BiGRU
document encoder   label-wise attention: label l has its own query u_l
document decoder   one linear unit a label
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import linear

from labelwise.kernels.label_attention import attention_weights, label_attention
from labelwise.layers import BiGRU, LabelWise
from labelwise.methods.attending import AttendingNetwork
from labelwise.methods.base_network import require_whole
from labelwise.methods.network import Material, NetworkMethod, NetworkSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class BigruLwanSettings(NetworkSettings):
    units: int = 300
    """A direction, as published."""
    layers: int = 1
    """As published: label-wise attention reads well without a second layer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, units=1, layers=1)


class BigruLwanNetwork(AttendingNetwork):
    def __init__(self, material: Material, settings: BigruLwanSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = BiGRU(width, settings.units, settings.layers, settings.dropout)
        self.labels = LabelWise(self.encoder.width, material.prior)

    def encode(self, batch: Batch) -> Tensor:
        h: Tensor = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        return h  # (D, T, H)

    def forward(self, batch: Batch) -> Tensor:
        h = self.encode(batch)
        values = self.scaled(h, batch.lengths)
        return label_attention(h, batch.cpu_lengths, *self.labels(), values=values)  # (D, L)

    def weighed(self, batch: Batch, columns: Tensor) -> tuple[Tensor, Tensor]:
        h = self.encode(batch)
        values = self.scaled(h, batch.lengths)
        return (
            attention_weights(h, batch.lengths, self.labels.queries[columns]),
            linear(values, self.labels.outputs[columns], self.labels.bias[columns]),
        )


class BigruLwan(NetworkMethod):
    """BiGRU and label-wise attention: each label reads the document in its own way."""

    name = "bigru-lwan"
    Settings = BigruLwanSettings
    settings: BigruLwanSettings
    network_type = BigruLwanNetwork
