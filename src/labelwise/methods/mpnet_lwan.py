"""MPNET-LWAN: an encoder that has read before (MPNet, 110M parameters), and label-wise attention
for seen and unseen labels."""

from __future__ import annotations

from dataclasses import dataclass

from labelwise.methods.encoder import EncoderMethod, EncoderSettings


@dataclass(frozen=True)
class MpnetLwanSettings(EncoderSettings):
    encoder: str = "sentence-transformers/all-mpnet-base-v2"
    """Twelve layers of 768 units, trained to compare sentences."""
    batch: int = 32
    """As for the smaller encoder: many steps."""
    encoder_rate: float = 4e-5
    """A larger encoder is taught more carefully."""
    learning_rate: float = 1e-3
    epochs: int = 8


class MpnetLwan(EncoderMethod):
    """Pretrained MPNet and label-wise attention, for seen and unseen labels."""

    name = "mpnet-lwan"
    Settings = MpnetLwanSettings
    settings: MpnetLwanSettings
