"""Small networks and small acts for the tests of the networks."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import torch
from encoder_cases import tiny_encoder

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import LabelSpace
from labelwise.methods.base_network import BaseNetworkMethod
from labelwise.methods.minilm_lwan import MinilmLwan, MinilmLwanSettings
from labelwise.methods.network import NetworkMethod

CLASSES = {
    "bigru-att": "bigru_att:BigruAtt",
    "bigru-lwan": "bigru_lwan:BigruLwan",
    "cnn-lwan": "cnn_lwan:CnnLwan",
    "dcnn-lwan": "dcnn_lwan:DcnnLwan",
    "han": "han:Han",
    "lw-han": "lw_han:LwHan",
    "max-hss": "max_hss:MaxHss",
    "z-bigru-lwan": "z_bigru_lwan:ZBigruLwan",
    "z-cnn-lwan": "z_cnn_lwan:ZCnnLwan",
}
NAMES = sorted(CLASSES)
BY_SECTION = ["han", "lw-han", "max-hss"]
LABEL_WISE = ["bigru-lwan", "cnn-lwan", "dcnn-lwan", "lw-han", "z-bigru-lwan", "z-cnn-lwan"]
ZERO_SHOT = ["z-bigru-lwan", "z-cnn-lwan"]

TOPICS = {
    "693": ("citrus fruit", "citrus fruit oranges lemons grapefruit"),
    "1309": ("import", "import customs tariff duty entry"),
    "2437": ("fishing quota", "fishing vessel quota cod trawler"),
    "3173": ("wine", "wine vineyard grapes bottling"),
    "5255": ("vessel", "vessel ship port trawler"),
}
FILLER = ["the", "of", "and", "council", "regulation", "article", "shall", "member", "states"]
WORDS = [*FILLER, *(word for _, words in TOPICS.values() for word in words.split())]
KINDS = ["bert", "mpnet"]
"""Encoders; the name of one stands for a network that has it."""


def act(seed: int, labels: tuple[str, ...] = ("693", "1309"), sections: int = 3) -> Document:
    """An act that speaks of its labels in every section; an empty section stands among them."""
    pick = random.Random(seed)
    parts = []
    for _ in range(sections):
        words = [w for label in labels for w in pick.choices(TOPICS[label][1].split(), k=2)]
        words += pick.choices(FILLER, k=pick.randint(0, 9))
        pick.shuffle(words)
        parts.append(Section("article", " ".join(words).capitalize() + "."))
    parts.insert(1, Section("recitals", ""))
    return Document(f"3{seed:04d}R", "", tuple(parts), labels)


def acts(count: int, seed: int = 0, among: str = "693 1309 2437 3173") -> list[Document]:
    pick = random.Random(seed)
    return [
        act(seed * 1000 + at, tuple(pick.sample(among.split(), 2)), pick.randint(1, 5))
        for at in range(count)
    ]


def label_space(train: list[Document]) -> LabelSpace:
    """All topics; the vessel is in no training act and so a zero-shot label."""
    names = {id: name for id, (name, _) in TOPICS.items()}
    others = [Document("o", "", (), ("5255",))]
    return LabelSpace.from_documents(train, others, names)


def method_class(name: str) -> type[NetworkMethod]:
    module, cls = CLASSES[name].split(":")
    found: type[NetworkMethod] = getattr(import_module(f"labelwise.methods.{module}"), cls)
    return found


def small(name: str, **settings: object) -> NetworkMethod:
    """A method that trains in a moment."""
    width = {"filters": 8, "kernel": 3} if "cnn" in name else {"units": 6}
    cls = method_class(name)
    quick = {"dim": 10, "epochs": 2, "min_count": 1, "device": "cpu", **width, **settings}
    return cls(cls.Settings(**quick))


def small_encoder(kind: str = "bert", **settings: Any) -> MinilmLwan:
    """A method with a tiny encoder that knows the words of the acts."""
    quick: dict[str, Any] = {
        "encoder": str(tiny_encoder(kind, WORDS)),
        "epochs": 2,
        "piece_tokens": 20,
        "stride": 20,
        "dropout": 0.1,
        "encoder_rate": 0.002,
        "learning_rate": 0.02,
        "device": "cpu",
    }
    return MinilmLwan(MinilmLwanSettings(**quick | settings))


_fitted: dict[str, BaseNetworkMethod] = {}


def fitted(name: str) -> Any:
    """A trained small method, or one with an encoder of this kind; each is trained once in a
    process."""
    if name not in _fitted:
        torch.set_num_threads(1)
        train = acts(60)
        method = small_encoder(name) if name in KINDS else small(name)
        method.fit(train, acts(12, seed=1), label_space(train))
        _fitted[name] = method
    return _fitted[name]
