"""The networks as ONNX graphs: from words to logits, in the order of the paper's parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch

from labelwise.export.parts import Parts
from labelwise.export.transformer import Transformer
from labelwise.methods.encoder import EncoderMethod


def bigru_att(parts: Parts) -> str:
    h = parts.bigru("encoder", parts.words(), parts.lengths)
    d = parts.self_attention("attention", h, parts.lengths)
    return parts.linear("decoder", d)


def bigru_lwan(parts: Parts) -> str:
    return _label_wise(parts, parts.bigru("encoder", parts.words(), parts.lengths))


def cnn_lwan(parts: Parts) -> str:
    return _label_wise(parts, parts.cnn("encoder", parts.words()))


def dcnn_lwan(parts: Parts) -> str:
    return _label_wise(parts, parts.dilated_cnn("encoder", parts.words()))


def z_bigru_lwan(parts: Parts) -> str:
    return _by_descriptors(parts, parts.bigru("encoder", parts.words(), parts.lengths))


def z_cnn_lwan(parts: Parts) -> str:
    return _by_descriptors(parts, parts.cnn("encoder", parts.words()))


def han(parts: Parts) -> str:
    h = parts.bigru("encoder", parts.words(), parts.lengths)
    s = parts.self_attention("attention", h, parts.lengths)
    g = parts.bigru("section_encoder", parts.pad_sections(s), "counts")
    d = parts.self_attention("section_attention", g, "counts")
    return parts.linear("decoder", d)


def max_hss(parts: Parts) -> str:
    h = parts.bigru("encoder", parts.words(), parts.lengths)
    s = parts.self_attention("attention", h, parts.lengths)
    return parts.max_over_sections(parts.linear("decoder", s))


def lw_han(parts: Parts) -> str:
    return parts.max_over_sections(bigru_lwan(parts))


def encoder_lwan(parts: Parts) -> str:
    h, parts.lengths = Transformer(parts).encoded()
    with torch.no_grad():
        labels = cast(EncoderMethod, parts.method).network.eval().labels()
    q, o, b = (x.cpu().numpy() for x in labels)
    return parts.label_wise(h, q, o, b)


def _label_wise(parts: Parts, h: str) -> str:
    q, o, b = (parts.arrays[f"labels.{name}"] for name in ("queries", "outputs", "bias"))
    return parts.label_wise(h, q, o, b)


def _by_descriptors(parts: Parts, h: str) -> str:
    v = parts.graph.add("Tanh", parts.linear("descriptors.hidden", h))
    projected = "descriptors.project.weight" in parts.arrays
    p = parts.linear("descriptors.project", h) if projected else h
    u = parts.arrays["descriptors.vectors"]
    return parts.label_wise(v, u, u, parts.arrays["descriptors.bias"], values=p)


NETWORKS: dict[str, Callable[[Parts], str]] = {
    "bigru-att": bigru_att,
    "bigru-lwan": bigru_lwan,
    "cnn-lwan": cnn_lwan,
    "dcnn-lwan": dcnn_lwan,
    "han": han,
    "lw-han": lw_han,
    "max-hss": max_hss,
    "minilm-lwan": encoder_lwan,
    "mpnet-lwan": encoder_lwan,
    "z-bigru-lwan": z_bigru_lwan,
    "z-cnn-lwan": z_cnn_lwan,
}
"""The methods that can be exported."""
