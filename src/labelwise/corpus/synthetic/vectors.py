"""Synthetic word vectors: words of one concept lie close together, those of its kin less so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.synthetic.concepts import World, domain_of

DIMENSIONS = 50
_WORD = re.compile(r"[^\W\d_]{2,}")
_SMALL_WORDS = frozenset(("of", "for", "the", "and", "on", "in", "by", "to", "with", "against"))

Vector = NDArray[np.float64]


def words_of(text: str) -> list[str]:
    """Lower-case runs of at least two letters: like GloVe's, without numbers and punctuation."""
    return _WORD.findall(text.lower())


def word_counts(texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words_of(text))
    return counts


def vectors_txt(world: World, counts: Mapping[str, int]) -> str:
    """GloVe's text format, the most frequent word first; concept words never met come last."""
    topics = _topics(world)
    mixtures: dict[str, Vector] = {}
    named: set[str] = set()
    for concept in world.concepts:
        named.update(words_of(concept.label))
        if concept.kind == "compound":
            continue  # its words are those of its parts
        for phrase in (concept.label, *concept.alternatives, *concept.words):
            for word in words_of(phrase):
                if word not in _SMALL_WORDS:
                    mixtures[word] = mixtures.get(word, 0.0) + topics[concept.id]
    boilerplate = _random("boilerplate")
    rows = []
    words = {*counts, *mixtures, *named}
    for word in sorted(words, key=lambda word: (-counts.get(word, 0), word)):
        meaning = _unit(mixtures[word]) if word in mixtures else 0.6 * boilerplate
        vector = 3.0 * meaning + 1.4 * _random(f"word {word}")
        rows.append(f"{word} " + " ".join(f"{value:.4f}" for value in vector))
    return "\n".join(rows) + "\n"


def _topics(world: World) -> dict[str, Vector]:
    """A direction a concept: its own, leaning towards its broader concept and its domain."""
    topics: dict[str, Vector] = {}
    for concept in world.concepts:
        vector = 0.8 * _random(f"concept {concept.id}")
        vector += 0.3 * _random(f"domain {domain_of(concept.microthesaurus)}")
        for parent in concept.broader:
            vector += 0.6 * _random(f"concept {parent}")
        topics[concept.id] = _unit(vector)
    return topics


def _random(name: str) -> Vector:
    """The direction that belongs to a name, on every machine.

    ``RandomState`` is NumPy's frozen generator: its stream is promised never to change.
    """
    seed = np.frombuffer(name.encode("utf-8"), dtype=np.uint8).astype(np.uint32)
    normal: NDArray[Any] = np.random.RandomState(seed).standard_normal(DIMENSIONS)
    return _unit(normal)


def _unit(vector: Vector) -> Vector:
    return vector / float(np.sqrt(np.sum(vector * vector)))
