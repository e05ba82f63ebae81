"""BIGRU-LWAN: each label reads the document with attention of its own.

word encoder       BiGRU
document encoder   label-wise attention: label l has its own query u_l
document decoder   one linear unit a label
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.layers import BiGRU, LabelWise
from labelwise.methods.base_network import require_whole
from labelwise.methods.label_wise import LabelWiseNetwork
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


class BigruLwanNetwork(LabelWiseNetwork):
    def __init__(self, material: Material, settings: BigruLwanSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = BiGRU(width, settings.units, settings.layers, settings.dropout_of_encoded)
        self.labels = LabelWise(self.encoder.width, material.prior)

    def encode(self, batch: Batch) -> Tensor:
        h: Tensor = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        return h  # (D, T, H)


class BigruLwan(NetworkMethod):
    """BiGRU and label-wise attention: each label reads the document in its own way."""

    name = "bigru-lwan"
    Settings = BigruLwanSettings
    settings: BigruLwanSettings
    network_type = BigruLwanNetwork
