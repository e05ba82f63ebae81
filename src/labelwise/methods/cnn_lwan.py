"""CNN-LWAN: as BIGRU-LWAN, over the neighbourhood of each word.

word encoder       CNN
document encoder   label-wise attention: label l has its own query u_l
document decoder   one linear unit a label
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.layers import CNN, LabelWise
from labelwise.methods.base_network import require_whole
from labelwise.methods.label_wise import LabelWiseNetwork
from labelwise.methods.network import Material, NetworkMethod, NetworkSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class CnnLwanSettings(NetworkSettings):
    filters: int = 400
    """The width of an encoded token; with 400 it was trained on EURLEX57K."""
    kernel: int = 9
    """Words that a filter sees: on dev of EURLEX57K better than 5."""
    dropout: float = 0.2
    """Of word vectors, number by number."""
    encoded_dropout: float | None = 0.4
    """Of what the filters find, which one filter can have learned by heart."""
    plain_dropout: bool = True
    """On dev of EURLEX57K better than dropping whole channels, at any rate of those that was tried:
    in ten epochs by .003 of RP@5, for few-shot labels by .035."""
    layers: int = 1
    """One, as in the networks this one comes from."""
    epochs: int = 18
    """It learns more slowly than the recurrent one, and an epoch takes less than half the time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, filters=1, kernel=1, layers=1)


class CnnLwanNetwork(LabelWiseNetwork):
    def __init__(self, material: Material, settings: CnnLwanSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = CNN(
            width, settings.filters, settings.kernel, settings.layers, settings.dropout_of_encoded
        )
        self.labels = LabelWise(self.encoder.width, material.prior)

    def encode(self, batch: Batch) -> Tensor:
        h: Tensor = self.encoder(self.words(batch.tokens), batch.lengths)
        return h  # (D, T, H)


class CnnLwan(NetworkMethod):
    """CNN and label-wise attention: each label reads the document in its own way."""

    name = "cnn-lwan"
    Settings = CnnLwanSettings
    settings: CnnLwanSettings
    network_type = CnnLwanNetwork
