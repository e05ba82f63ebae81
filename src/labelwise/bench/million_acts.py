"""Synthetic acts without end, each made when it is read: none of them lies on a disk."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

from labelwise.corpus.document import Document, Section
from labelwise.corpus.records import Record
from labelwise.corpus.synthetic.acts import Act, ActWriter
from labelwise.corpus.synthetic.concepts import build_world
from labelwise.corpus.synthetic.dice import Dice

SOURCES = 500
"""Acts of the synthetic corpus whose sentences the others are put together from."""

FEWEST, MOST = 100, 200
"""Words of an act, but for the end of its last sentence."""


class MadeActs:
    """So many acts, the same in every process. Act ``n`` hangs on ``n`` alone.

    >>> acts = MadeActs(3)
    >>> acts.act(2).id, 100 <= len(acts.act(2).text.split()) < 300
    ('synthetic 2', True)
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def facts(self) -> dict[str, Any]:
        return {"synthetic acts": self._count, "put together from": SOURCES}

    def records(self) -> Iterator[Record]:
        for number in range(self._count):
            yield partial(self.act, number)

    def act(self, number: int) -> Document:
        """A header, and recitals and articles until it is long enough."""
        dice = random.Random(number)
        words = FEWEST + int(dice.random() * (MOST - FEWEST))
        source = self._sources[int(dice.random() * SOURCES)]
        sections = [Section("header", source.header)]
        left = words - len(source.header.split())
        recitals = self._drawn(self._recitals, left / 2, dice)
        articles = self._drawn(self._articles, left / 2, dice)
        sections.append(Section("recitals", "\n".join(recitals)))
        sections += [Section("article", one) for one in articles]
        return Document(f"synthetic {number}", source.title, tuple(sections))

    def _drawn(self, sentences: list[str], words: float, dice: random.Random) -> list[str]:
        found = []
        while words > 0:
            found.append(sentences[int(dice.random() * len(sentences))])
            words -= len(found[-1].split())
        return found

    @cached_property
    def _sources(self) -> list[Act]:
        return list(ActWriter(build_world()).acts(SOURCES, Dice("a million acts"), 0.0))

    @cached_property
    def _recitals(self) -> list[str]:
        return [line for act in self._sources for line in act.recitals.splitlines() if line]

    @cached_property
    def _articles(self) -> list[str]:
        return [article for act in self._sources for article in act.main_body]
