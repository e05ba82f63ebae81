"""N-grams as columns: which runs of one to n words are counted, and where they stand.

N-grams are found with arrays, level by level: an n-gram is the number of its first n - 1 words
times the vocabulary plus the number of its last word, looked up in the sorted keys of its level.
A run can only be frequent if its beginning is, so each level looks only where the last one found
something. Punctuation and single characters are passed over; no n-gram crosses a section.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.schema import places, texts
from labelwise.text.tokenized import TokenizedCorpus
from labelwise.text.tokenizer import Token, tokenize

CHUNK = 2_000
"""Documents counted at a time, so that the arrays stay small beside the corpus."""


def is_word(token: str) -> bool:
    """Whether a token takes part: at least two characters, so punctuation and letters fall out."""
    return len(token) > 1


@dataclass(frozen=True, eq=False)
class Ngrams:
    """The columns: single words by falling count, then each level's n-grams in key order.

    >>> from labelwise.corpus.document import Section
    >>> from labelwise.text.tokenized import tokenize_corpus
    >>> act = Document("1", "", (Section("article", "Citrus fruit, fresh citrus fruit."),))
    >>> grams = Ngrams.fit(tokenize_corpus([act]), n=2, min_count=2)
    >>> grams.names()
    ['citrus', 'fruit', 'citrus fruit']
    >>> grams.count(tokenize_corpus([act])).toarray().tolist()
    [[2.0, 2.0, 2.0]]
    """

    words: tuple[str, ...]
    keys: tuple[NDArray[np.int64], ...] = ()
    """For n = 2, 3, ...: the sorted keys (first n - 1 words) * len(words) + last word."""

    @classmethod
    def fit(
        cls,
        corpus: TokenizedCorpus,
        *,
        n: int = 1,
        min_count: int = 3,
        min_run_count: int | None = None,
        max_columns: int | None = None,
    ) -> Ngrams:
        """Keep the words that stand at least ``min_count`` times, and the runs of two words and
        more that stand at least ``min_run_count`` times (default: as often as a word).

        Where ``max_columns`` cuts between n-grams of equal count, all of them are left out: what
        is kept does not depend on any order, and every kept n-gram's beginning is kept as well.
        """
        kept = [
            at
            for at, word in enumerate(corpus.words)
            if corpus.counts[at] >= min_count and is_word(word)
        ]
        grams = cls(tuple(corpus.words[at] for at in kept))
        counts = [corpus.counts[kept]]
        least = max(min_count, min_run_count or 0)  # a run cannot outlive its words
        for level in range(2, n + 1):
            # Longer n-grams only raise the count that is asked for, so the cut is made at every
            # level, and none has more than max_columns to look up.
            grams, counts, floor = grams._cut(counts, max_columns)
            least = max(least, floor + 1)
            keys, count = _merge([_unique(keys) for keys in grams._candidates(corpus, level)])
            often = count >= least
            grams = cls(grams.words, (*grams.keys, keys[often]))
            counts.append(count[often])
        return grams._cut(counts, max_columns)[0]

    def _cut(
        self, counts: list[NDArray[np.int64]], most: int | None
    ) -> tuple[Ngrams, list[NDArray[np.int64]], int]:
        """Keep the n-grams that stand more often than the first one that is too many does; with
        their counts, and the count of that first one (0: none is too many)."""
        every = np.sort(np.concatenate(counts))[::-1]
        if most is None or len(every) <= most:
            return self, counts, 0
        floor = int(every[most])
        kept = [count > floor for count in counts]
        counts = [count[keep] for count, keep in zip(counts, kept, strict=True)]
        return self._only(kept), counts, floor

    def _only(self, kept: list[NDArray[np.bool_]]) -> Ngrams:
        """The kept n-grams of each level; the beginning and the words of each must be kept too."""
        words = tuple(w for w, keep in zip(self.words, kept[0], strict=True) if keep)
        # A level's keys are numbered anew: by the kept words and the kept n-grams before it.
        renumber = [np.cumsum(keep) - 1 for keep in kept]
        keys = []
        for level, (old, keep) in enumerate(zip(self.keys, kept[1:], strict=True)):
            left, last = np.divmod(old[keep], len(self.words))
            keys.append(renumber[level][left] * len(words) + renumber[0][last])
        return Ngrams(words, tuple(keys))

    def only(self, wanted: NDArray[np.bool_]) -> tuple[Ngrams, NDArray[np.bool_]]:
        """The wanted columns and those that they cannot do without: the words of a wanted run and
        its beginning. With them, which columns these are.

        >>> grams = Ngrams(("citrus", "fresh", "fruit"), (np.array([0 * 3 + 2, 1 * 3 + 2]),))
        >>> grams.names()
        ['citrus', 'fresh', 'fruit', 'citrus fruit', 'fresh fruit']
        >>> grams.only(np.array([False, False, False, True, False]))[0].names()
        ['citrus', 'fruit', 'citrus fruit']
        """
        kept = [part.copy() for part in np.split(wanted, self.offsets[1:-1])]
        for level in range(len(self.keys), 0, -1):
            left, last = np.divmod(self.keys[level - 1][kept[level]], len(self.words))
            kept[level - 1][left] = True
            kept[0][last] = True
        return self._only(kept), np.concatenate(kept)

    @cached_property
    def index(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """The first column of each level."""
        return np.cumsum([0, len(self.words), *map(len, self.keys)])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def names(self) -> list[str]:
        """The n-gram of each column, as words with spaces between."""
        levels = [list(self.words)]
        for keys in self.keys:
            left, last = np.divmod(keys, max(len(self.words), 1))
            levels.append(
                [f"{levels[-1][a]} {self.words[b]}" for a, b in zip(left, last, strict=True)]
            )
        return [name for level in levels for name in level]

    def count(
        self, corpus: TokenizedCorpus, weights: NDArray[np.float32] | None = None
    ) -> sp.csr_matrix:
        """How often each n-gram stands in each document: documents × columns, float32.

        With ``weights`` (sections,) an occurrence counts for what its section does.
        """
        lookup, taking_part = self._lookup(corpus.words)
        parts = []
        for first in range(0, len(corpus), CHUNK):
            last = min(first + CHUNK, len(corpus))
            words, sections, documents = _flat(corpus, lookup, taking_part, first, last)
            own = None if weights is None else weights[corpus.document_starts[first] :][sections]
            rows, columns, counted = [], [], []
            for level, grams in enumerate(self._levels(words, sections)):
                at = np.flatnonzero(grams >= 0)
                rows.append(documents[at])
                columns.append((grams[at] + self.offsets[level]).astype(np.int32))
                counted.append(np.ones(len(at), dtype=np.float32) if own is None else own[at])
            where = np.concatenate(rows), np.concatenate(columns)
            shape = last - first, len(self)
            parts.append(sp.csr_matrix((np.concatenate(counted), where), shape=shape))
        if not parts:
            return sp.csr_matrix((0, len(self)), dtype=np.float32)
        counts = sp.vstack(parts, format="csr")
        if weights is not None:
            counts.eliminate_zeros()  # what stands in zones that do not count
        return counts

    def spans(self, document: Document) -> list[tuple[int, int, int]]:
        """Every occurrence in a document: (column, start, end) in characters of its text."""
        tokens: list[Token] = []
        sections: list[int] = []
        for number, (section, start) in enumerate(
            zip(document.sections, document.section_starts(), strict=True)
        ):
            found = [token for token in tokenize(section.text) if is_word(token.text)]
            tokens += [Token(token.text, token.start + start, token.end + start) for token in found]
            sections += [number] * len(found)
        words = np.array([self.index.get(token.text, -1) for token in tokens], dtype=np.int64)
        spans = []
        for level, grams in enumerate(self._levels(words, np.array(sections, dtype=np.int64))):
            for at in np.flatnonzero(grams >= 0):
                column = int(grams[at] + self.offsets[level])
                spans.append((column, tokens[at].start, tokens[at + level].end))
        return spans

    def _lookup(self, words: list[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For each of a corpus's words: its number here (-1: none), and if it takes part."""
        lookup = np.array([self.index.get(word, -1) for word in words], dtype=np.int64)
        return lookup, np.array([is_word(word) for word in words], dtype=np.bool_)

    def _levels(
        self, words: NDArray[np.int64], sections: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """For each level, the n-gram that begins at each position (-1: none)."""
        grams = words
        yield grams
        for level, keys in enumerate(self.keys, start=1):
            at, found = _extend(grams, words, sections, level, len(self.words))
            place = np.searchsorted(keys, found)
            place[place == len(keys)] = 0
            hit = keys[place] == found if len(keys) else np.zeros(len(found), dtype=np.bool_)
            grams = np.full(len(words), -1, dtype=np.int64)
            grams[at[hit]] = place[hit]
            yield grams

    def _candidates(self, corpus: TokenizedCorpus, level: int) -> Iterator[NDArray[np.int64]]:
        """The keys of all runs of ``level`` words whose first ``level - 1`` are an n-gram."""
        lookup, taking_part = self._lookup(corpus.words)
        for first in range(0, len(corpus), CHUNK):
            last = min(first + CHUNK, len(corpus))
            words, sections, _ = _flat(corpus, lookup, taking_part, first, last)
            *_, grams = self._levels(words, sections)
            yield _extend(grams, words, sections, level - 1, len(self.words))[1]

    def to_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and values for a bundle."""
        arrays = {f"keys.{level}": keys for level, keys in enumerate(self.keys, start=2)}
        return arrays, {"words": list(self.words)}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> Ngrams:
        words = texts(values, "words")
        keys: list[NDArray[np.int64]] = []
        for level in range(2, 2 + sum(name.startswith("keys.") for name in arrays)):
            before = len(keys[-1]) if keys else len(words)
            found = places(arrays, f"keys.{level}", before * len(words), rising=True)
            keys.append(found.astype(np.int64))
        return cls(tuple(words), tuple(keys))


def _flat(
    corpus: TokenizedCorpus,
    lookup: NDArray[np.int64],
    taking_part: NDArray[np.bool_],
    first: int,
    last: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The words that take part of documents first:last, with their section and document."""
    sections = slice(corpus.document_starts[first], corpus.document_starts[last])
    starts = corpus.section_starts[sections.start : sections.stop + 1]
    tokens = corpus.tokens[starts[0] : starts[-1]]
    part = taking_part[tokens]
    per_section = np.diff(corpus.document_starts[first : last + 1])
    section = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    document = np.repeat(np.arange(last - first), per_section)
    section = section[part]
    return lookup[tokens[part]], section, document[section]


def _extend(
    grams: NDArray[np.int64],
    words: NDArray[np.int64],
    sections: NDArray[np.int64],
    by: int,
    vocabulary: int,
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Positions where an n-gram of ``by`` words has a next word, and the keys of the longer run."""
    if len(words) <= by:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64)
    at = np.flatnonzero((grams[:-by] >= 0) & (words[by:] >= 0) & (sections[:-by] == sections[by:]))
    return at, grams[at] * vocabulary + words[at + by]


def _unique(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct, counts


def _merge(
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add up the counts of chunks."""
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in found]), return_inverse=True)
    counts = np.concatenate([counts for _, counts in found])
    return keys, np.bincount(inverse, weights=counts, minlength=len(keys)).astype(np.int64)
