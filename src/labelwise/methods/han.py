"""HAN: words make sections, sections make the document.

word encoder       BiGRU
section encoder    self-attention with tanh: score tanh(W h_t + b)·u
document encoder   BiGRU over the sections, self-attention with tanh over its outputs
document decoder   linear
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from labelwise.layers import BiGRU, LabelUnits, TanhAttention, pad_sections
from labelwise.methods.base_network import require_whole
from labelwise.methods.network import Material, Network, NetworkMethod, SectionSettings
from labelwise.training.batches import Batch


@dataclass(frozen=True)
class HanSettings(SectionSettings):
    units: int = 300
    """A direction, of both encoders: the middle of the published search space."""
    layers: int = 1
    """Of each encoder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, units=1, layers=1)


class HanNetwork(Network):
    def __init__(self, material: Material, settings: HanSettings) -> None:
        super().__init__(material, settings)
        width = material.vectors.shape[1]
        self.encoder = BiGRU(width, settings.units, settings.layers, settings.dropout_of_encoded)
        self.attention = TanhAttention(self.encoder.width)
        self.section_encoder = BiGRU(
            self.encoder.width,
            settings.units,
            settings.layers,
            settings.dropout_of_encoded,
            by_document=True,
        )
        self.section_attention = TanhAttention(self.section_encoder.width)
        self.decoder = LabelUnits(self.section_encoder.width, material.prior)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The encoded words of each section (S, T, H), the encoded sections (D, K, H)."""
        h = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        s = self.scaled(self.attention(h, batch.lengths), batch.lengths)  # (S, H)
        longest = int(batch.cpu_counts.max())
        s = pad_sections(s, batch.owner, batch.position, len(batch), longest)  # (D, K, H)
        return h, self.section_encoder(s, batch.cpu_counts)

    def forward(self, batch: Batch) -> Tensor:
        _, g = self.encode(batch)
        d = self.section_attention(g, batch.counts)  # (D, H)
        logits: Tensor = self.decoder(self.scaled(d, batch.counts))
        return logits  # (D, L)

    def attend(self, batch: Batch, columns: Tensor) -> Tensor:
        h, g = self.encode(batch)
        of_words = self.attention.weights(h, batch.lengths)  # (S, T)
        of_sections = self.section_attention.weights(g, batch.counts)  # (1, K)
        weights = of_words * of_sections[0, batch.position][:, None]
        return weights[:, :, None].expand(-1, -1, len(columns))


class Han(NetworkMethod):
    """BiGRU and attention over words, then over sections; a linear unit a label."""

    name = "han"
    readings = ("max_tokens", "max_sections", "section_tokens")
    Settings = HanSettings
    settings: HanSettings
    network_type = HanNetwork
