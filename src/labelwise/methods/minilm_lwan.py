"""MINILM-LWAN: a small encoder that has read before (MiniLM, 22.7M parameters), and label-wise
attention for seen and unseen labels."""

from __future__ import annotations

from dataclasses import dataclass

from labelwise.methods.encoder import EncoderMethod, EncoderSettings


@dataclass(frozen=True)
class MinilmLwanSettings(EncoderSettings):
    encoder: str = "sentence-transformers/all-MiniLM-L6-v2"
    """Six layers of 384 units, trained to compare sentences."""


class MinilmLwan(EncoderMethod):
    """Pretrained MiniLM and label-wise attention, for seen and unseen labels."""

    name = "minilm-lwan"
    Settings = MinilmLwanSettings
    settings: MinilmLwanSettings
