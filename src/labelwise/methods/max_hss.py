"""MAX-HSS: every section is classified, and the document has what any section has.

word encoder       BiGRU
section encoder    self-attention with tanh: score tanh(W h_t + b)·u
section decoder    linear, shared by the sections
document decoder   max over sections
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.layers import BiGRU, LabelUnits, TanhAttention, is_highest, max_over_sections
from labelwise.methods.base_network import require_whole
from labelwise.methods.network import Material, Network, NetworkMethod, SectionSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class MaxHssSettings(SectionSettings):
    units: int = 300
    """A direction: the middle of the published search space."""
    layers: int = 1
    """Sections are short, a second layer has little to add."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, units=1, layers=1)


class MaxHssNetwork(Network):
    def __init__(self, material: Material, settings: MaxHssSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = BiGRU(width, settings.units, settings.layers, settings.dropout_of_encoded)
        self.attention = TanhAttention(self.encoder.width)
        self.decoder = LabelUnits(self.encoder.width, material.prior)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The encoded words of each section (S, T, H), the logits of each section (S, L)."""
        h = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        s = self.scaled(self.attention(h, batch.lengths), batch.lengths)  # (S, H)
        return h, self.decoder(s)

    def forward(self, batch: Batch) -> Tensor:
        _, logits = self.encode(batch)
        return max_over_sections(logits, batch.owner, len(batch))  # (D, L)

    def attend(self, batch: Batch, columns: Tensor) -> Tensor:
        h, logits = self.encode(batch)
        weights = self.attention.weights(h, batch.lengths)  # (S, T)
        return weights[:, :, None] * is_highest(logits[:, columns])[:, None]


class MaxHss(NetworkMethod):
    """BiGRU and attention a section, a linear unit a label, the best section counts."""

    name = "max-hss"
    readings = ("max_tokens", "max_sections", "section_tokens")
    Settings = MaxHssSettings
    settings: MaxHssSettings
    network_type = MaxHssNetwork
