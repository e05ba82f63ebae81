"""Each network once more, as plainly as can be: float64 NumPy, one document at a time, no padding.

A document is a list of sections, a section a list of word numbers; empty ones are left out by the
caller. ``weights`` is the state of the network.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "layers"))
import formulas
from formulas import Array, Weights, under

Sections = Sequence[Sequence[int]]


def _flat(document: Sections, weights: Weights) -> Array:
    words = [word for section in document for word in section]
    return weights["words.weight"][words]


def bigru_att(document: Sections, weights: Weights) -> Array:
    h = formulas.bigru(_flat(document, weights), under("encoder.", weights))
    d = formulas.plain_weights(h, under("attention.", weights)) @ h
    return formulas.linear(d, under("decoder.", weights))


def bigru_lwan(document: Sections, weights: Weights) -> Array:
    h = formulas.bigru(_flat(document, weights), under("encoder.", weights))
    return formulas.label_wise(h, under("labels.", weights))


def cnn_lwan(document: Sections, weights: Weights) -> Array:
    h = formulas.cnn(_flat(document, weights), under("encoder.", weights))
    return formulas.label_wise(h, under("labels.", weights))


def dcnn_lwan(document: Sections, weights: Weights) -> Array:
    h = formulas.dilated_cnn(_flat(document, weights), under("encoder.", weights))
    return formulas.label_wise(h, under("labels.", weights))


def z_bigru_lwan(document: Sections, weights: Weights) -> Array:
    h = formulas.bigru(_flat(document, weights), under("encoder.", weights))
    return formulas.descriptor_wise(h, under("descriptors.", weights))


def z_cnn_lwan(document: Sections, weights: Weights) -> Array:
    h = formulas.cnn(_flat(document, weights), under("encoder.", weights))
    return formulas.descriptor_wise(h, under("descriptors.", weights))


def _section(section: Sequence[int], weights: Weights) -> Array:
    h = formulas.bigru(weights["words.weight"][list(section)], under("encoder.", weights))
    return formulas.tanh_weights(h, under("attention.", weights)) @ h


def han(document: Sections, weights: Weights) -> Array:
    s = np.array([_section(section, weights) for section in document])
    g = formulas.bigru(s, under("section_encoder.", weights))
    d = formulas.tanh_weights(g, under("section_attention.", weights)) @ g
    return formulas.linear(d, under("decoder.", weights))


def max_hss(document: Sections, weights: Weights) -> Array:
    decoder = under("decoder.", weights)
    logits = [formulas.linear(_section(section, weights), decoder) for section in document]
    return np.max(logits, axis=0)


def lw_han(document: Sections, weights: Weights) -> Array:
    logits = []
    for section in document:
        x = weights["words.weight"][list(section)]
        h = formulas.bigru(x, under("encoder.", weights))
        logits.append(formulas.label_wise(h, under("labels.", weights)))
    return np.max(logits, axis=0)


REFERENCES: dict[str, Callable[[Sections, Weights], Array]] = {
    "bigru-att": bigru_att,
    "bigru-lwan": bigru_lwan,
    "cnn-lwan": cnn_lwan,
    "dcnn-lwan": dcnn_lwan,
    "han": han,
    "lw-han": lw_han,
    "max-hss": max_hss,
    "z-bigru-lwan": z_bigru_lwan,
    "z-cnn-lwan": z_cnn_lwan,
}
