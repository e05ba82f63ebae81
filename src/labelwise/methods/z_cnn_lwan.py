"""Z-CNN-LWAN: as Z-BIGRU-LWAN, over the neighbourhood of each word.

word encoder       CNN
document encoder   descriptor attention: label l's query is the frozen mean vector of its descriptor
document decoder   dot product with the same vector
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.layers import CNN
from labelwise.methods.base_network import require_whole
from labelwise.methods.network import Material
from labelwise.methods.zero_shot import ZeroShotMethod, ZeroShotNetwork, ZeroShotSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class ZCnnLwanSettings(ZeroShotSettings):
    filters: int = 400
    """As in CNN-LWAN."""
    kernel: int = 9
    """As in CNN-LWAN."""
    dropout: float = 0.1
    """As in CNN-LWAN."""
    layers: int = 1
    """As in CNN-LWAN."""
    epochs: int = 14
    """As in CNN-LWAN."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, filters=1, kernel=1, layers=1)


class ZCnnLwanNetwork(ZeroShotNetwork):
    def __init__(self, material: Material, settings: ZCnnLwanSettings) -> None:
        super().__init__(material, settings)
        self.encoder = CNN(
            material.vectors.shape[1],
            settings.filters,
            settings.kernel,
            settings.layers,
            settings.dropout_of_encoded,
        )
        self.decode_with_descriptors(self.encoder.width, material, settings.project)

    def encode(self, batch: Batch) -> Tensor:
        h: Tensor = self.encoder(self.words(batch.tokens), batch.lengths)
        return h  # (D, T, H)


class ZCnnLwan(ZeroShotMethod):
    """CNN and attention from descriptors alone: also scores labels never seen."""

    name = "z-cnn-lwan"
    Settings = ZCnnLwanSettings
    settings: ZCnnLwanSettings
    network_type = ZCnnLwanNetwork
