"""The words of a document: how much evidence each of them carries, and documents without some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.methods.spans import Span
from labelwise.text.tokenizer import tokenize


class Words:
    """The words of a document in order; a word is what the tokenizer calls one, a comma included.

    >>> from labelwise.corpus.document import Section
    >>> words = Words(Document("1", "", (Section("article", "Oranges, lemons."),)))
    >>> len(words)
    4
    >>> words.weights([Span(0, 15, 0.5), Span(9, 15, 0.25)]).tolist()
    [0.5, 0.5, 0.75, 0.0]
    >>> words.keep(np.array([True, False, True, True])).text
    'Oranges  lemons.'
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._tokens = [tokenize(section.text) for section in document.sections]
        offsets = document.section_starts()
        places = [
            (offset + token.start, offset + token.end)
            for offset, tokens in zip(offsets, self._tokens, strict=True)
            for token in tokens
        ]
        self._starts, self._ends = np.array(places, dtype=np.int64).reshape(-1, 2).T

    def __len__(self) -> int:
        return len(self._starts)

    def weights(self, spans: Iterable[Span]) -> NDArray[np.float64]:
        """(words,) the sum of the weights of all spans that a word is part of."""
        found = list(spans)
        first, after = self._reach(found)
        covered = after - first
        at = np.repeat(first, covered) + _counted(covered)
        weights = np.zeros(len(self))
        np.add.at(weights, at, np.repeat([span.weight for span in found], covered))
        return weights

    def spans(self, weights: NDArray[np.float64]) -> tuple[Span, ...]:
        """The way back: a span for each word that weighs something."""
        places = zip(self._starts.tolist(), self._ends.tolist(), weights.tolist(), strict=True)
        return tuple(Span(start, end, weight) for start, end, weight in places if weight)

    def covered(self, spans: Iterable[Span]) -> NDArray[np.bool_]:
        """(words,) whether a word is part of any span, whatever its weight."""
        first, after = self._reach(list(spans))
        covered = np.zeros(len(self), dtype=bool)
        covered[np.repeat(first, after - first) + _counted(after - first)] = True
        return covered

    def _reach(self, spans: list[Span]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first word of each span, and the first word after it."""
        first = np.searchsorted(self._ends, [span.start for span in spans], side="right")
        after = np.searchsorted(self._starts, [span.end for span in spans], side="left")
        return first.astype(np.int64), np.maximum(first, after).astype(np.int64)

    def keep(self, kept: NDArray[np.bool_]) -> Document:
        """The document with these words alone.

        A space stands where a word was cut out, so that its neighbours stay the words they are.
        """
        at = 0
        sections = []
        for section, tokens in zip(self.document.sections, self._tokens, strict=True):
            pieces, done = [], 0
            for token, keep in zip(tokens, kept[at : at + len(tokens)].tolist(), strict=True):
                if not keep:
                    pieces += [section.text[done : token.start], " "]
                    done = token.end
            sections.append(replace(section, text="".join([*pieces, section.text[done:]])))
            at += len(tokens)
        return replace(self.document, sections=tuple(sections))


def _counted(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 1 2 0 1 for the sizes 3 and 2."""
    counted: NDArray[np.int64] = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return counted
