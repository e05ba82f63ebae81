"""Z-BIGRU-LWAN: labels are known by their descriptors, so that unseen ones can be scored too.

word encoder       BiGRU
document encoder   descriptor attention: label l's query is the frozen mean vector of its descriptor
document decoder   dot product with the same vector
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.layers import BiGRU
from labelwise.methods.base_network import require_whole
from labelwise.methods.network import Material
from labelwise.methods.zero_shot import ZeroShotMethod, ZeroShotNetwork, ZeroShotSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class ZBigruLwanSettings(ZeroShotSettings):
    units: int = 200
    """A direction; with 200 it passed the published figures, seen and unseen labels alike."""
    layers: int = 1
    """As in BIGRU-LWAN."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, units=1, layers=1)


class ZBigruLwanNetwork(ZeroShotNetwork):
    def __init__(self, material: Material, settings: ZBigruLwanSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = BiGRU(width, settings.units, settings.layers, settings.dropout_of_encoded)
        self.decode_with_descriptors(self.encoder.width, material, settings.project)

    def encode(self, batch: Batch) -> Tensor:
        h: Tensor = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        return h  # (D, T, H)


class ZBigruLwan(ZeroShotMethod):
    """BiGRU and attention from descriptors alone: also scores labels never seen."""

    name = "z-bigru-lwan"
    Settings = ZBigruLwanSettings
    settings: ZBigruLwanSettings
    network_type = ZBigruLwanNetwork
