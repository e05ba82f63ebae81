"""LW-HAN: each label reads each section with attention of its own; the best section counts.

word encoder       BiGRU
section encoder    label-wise attention: label l has its own query u_l
section decoder    one linear unit a label
document decoder   max over sections
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.kernels.label_attention import attention_weights, label_attention
from labelwise.layers import BiGRU, LabelWise, is_highest, max_over_sections
from labelwise.methods.base_network import require_whole
from labelwise.methods.network import Material, Network, NetworkMethod, SectionSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class LwHanSettings(SectionSettings):
    units: int = 300
    """A direction: the middle of the published search space."""
    layers: int = 1
    """Sections are short, a second layer has little to add."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, units=1, layers=1)


class LwHanNetwork(Network):
    def __init__(self, material: Material, settings: LwHanSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = BiGRU(width, settings.units, settings.layers, settings.dropout_of_encoded)
        self.labels = LabelWise(self.encoder.width, material.prior)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The encoded words of each section (S, T, H), the logits of each section (S, L)."""
        h = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        values = self.scaled(h, batch.lengths)
        return h, label_attention(h, batch.cpu_lengths, *self.labels(), values=values)

    def forward(self, batch: Batch) -> Tensor:
        _, logits = self.encode(batch)
        return max_over_sections(logits, batch.owner, len(batch))  # (D, L)

    def attend(self, batch: Batch, columns: Tensor) -> Tensor:
        h, logits = self.encode(batch)
        weights = attention_weights(h, batch.lengths, self.labels.queries[columns])  # (S, T, n)
        return weights * is_highest(logits[:, columns])[:, None]


class LwHan(NetworkMethod):
    """BiGRU and label-wise attention a section; the best section counts."""

    name = "lw-han"
    readings = ("max_tokens", "max_sections", "section_tokens")
    Settings = LwHanSettings
    settings: LwHanSettings
    network_type = LwHanNetwork
