"""Small trained networks that read little, and acts of exactly so many words."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import torch
from encoder_cases import tiny_encoder
from methods.network_cases import BY_SECTION, FILLER, TOPICS, acts, label_space, small

from labelwise.corpus.document import Document, Section
from labelwise.methods.base_network import BaseNetworkMethod
from labelwise.methods.encoder import EncoderMethod
from labelwise.methods.minilm_lwan import MinilmLwan
from labelwise.methods.mpnet_lwan import MpnetLwan

MAX_TOKENS = 12
LIMITS = {"max_sections": 4, "section_tokens": 5}
WORDS = [*FILLER, *(word for _, words in TOPICS.values() for word in words.split()), "bicycle"]

KINDS = ["bert", "mpnet"]

_encoders: dict[tuple[object, ...], EncoderMethod] = {}
_networks: dict[tuple[object, ...], BaseNetworkMethod] = {}


def network(name: str, **settings: object) -> BaseNetworkMethod:
    """A trained network with these settings that reads twelve words; each is trained once."""
    key = (name, *sorted(settings.items()))
    if key not in _networks:
        torch.set_num_threads(1)
        limits = {"max_tokens": MAX_TOKENS, **(LIMITS if name in BY_SECTION else {})}
        train = acts(40)
        method = small(name, epochs=3, learning_rate=0.03, **limits, **settings)
        method.fit(train, acts(8, seed=1), label_space(train))
        _networks[key] = method
    return _networks[key]


def encoder(kind: str, **settings: object) -> EncoderMethod:
    """A trained encoder that reads two pieces of ten tokens unless told; each is trained once."""
    key = (kind, *sorted(settings.items()))
    if key not in _encoders:
        torch.set_num_threads(1)
        cls = {"bert": MinilmLwan, "mpnet": MpnetLwan}[kind]
        quick = {"piece_tokens": 10, "stride": 10, "epochs": 2, "device": "cpu"}
        rates = {"encoder_rate": 0.002, "learning_rate": 0.02, "precision": "float32"}
        folder = str(tiny_encoder(kind, WORDS[:-1]))
        method = cls(cls.Settings(**quick | rates | {"encoder": folder} | settings))  # type: ignore[arg-type]
        train = acts(40)
        method.fit(train, acts(8, seed=1), label_space(train))
        _encoders[key] = method
    return _encoders[key]


def halved(method: BaseNetworkMethod) -> BaseNetworkMethod:
    """The same network as it comes back from a bundle in half precision."""
    state = method.state()
    arrays = {
        name: x.astype(np.float16) if x.dtype == np.float32 else x
        for name, x in state.arrays.items()
    }
    half = type(state)(arrays, state.values)
    return type(method).restore(method.settings, method.label_space, half)  # type: ignore[return-value]


def act_of(words: int, sections: int = 1, seed: int = 0) -> Document:
    """So many words, one unknown to the networks among them at times, cut into sections."""
    drawn = random.Random(f"{words} {seed}").choices(WORDS, k=words)
    cuts = [words * at // sections for at in range(sections + 1)]
    parts = [" ".join(drawn[a:b]) for a, b in pairwise(cuts)]
    return Document(f"{words}-{seed}", "", tuple(Section("article", part) for part in parts))
