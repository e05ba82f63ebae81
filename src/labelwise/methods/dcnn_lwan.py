"""DCNN-LWAN: as BIGRU-LWAN, over a neighbourhood of each word that doubles from block to block.

word encoder       dilated CNN: residual blocks with dilations 1, 2, 4, 8, ...
document encoder   label-wise attention: label l has its own query u_l
document decoder   one linear unit a label

From the paper's future work: what a recurrence reads one word after another is read here in as many
steps as there are blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.layers import DilatedCNN, LabelWise
from labelwise.methods.base_network import require_whole
from labelwise.methods.label_wise import LabelWiseNetwork
from labelwise.methods.network import Material, NetworkMethod, NetworkSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class DcnnLwanSettings(NetworkSettings):
    filters: int = 400
    """The width of an encoded token, as in CNN-LWAN."""
    kernel: int = 3
    """Words that a block sees at once; others were not tried."""
    blocks: int = 4
    """Each reaches twice as far as the one before it: four of three words see 31."""
    dropout: float = 0.1
    """As in CNN-LWAN; also what a block adds is dropped by channel."""
    epochs: int = 14
    """As in CNN-LWAN."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, filters=1, kernel=1, blocks=1)


class DcnnLwanNetwork(LabelWiseNetwork):
    def __init__(self, material: Material, settings: DcnnLwanSettings) -> None:
        super().__init__(material, settings)
        self.encoder = DilatedCNN(
            material.vectors.shape[1],
            settings.filters,
            settings.kernel,
            settings.blocks,
            settings.dropout_of_encoded,
        )
        self.labels = LabelWise(self.encoder.width, material.prior)

    def encode(self, batch: Batch) -> Tensor:
        h: Tensor = self.encoder(self.words(batch.tokens), batch.lengths)
        return h  # (D, T, H)


class DcnnLwan(NetworkMethod):
    """Dilated CNN and label-wise attention: each label reads the document in its own way."""

    name = "dcnn-lwan"
    Settings = DcnnLwanSettings
    settings: DcnnLwanSettings
    network_type = DcnnLwanNetwork
