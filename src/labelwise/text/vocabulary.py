"""A vocabulary: the words that have a row of their own, with their counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError
from labelwise.schema import texts, value
from labelwise.text.tokenized import TokenizedCorpus

PADDING, UNKNOWN = 0, 1
"""The first two rows. Their names hold angle brackets, which no token of a text can."""
SPECIAL = ("<padding>", "<unknown>")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words by row: padding, unknown, then the words by falling count, then alphabetically.

    ``counts`` holds the running tokens of each row in the corpus it was made from; the row of the
    unknown counts those of all words left out.

    >>> from labelwise.corpus.document import Document, Section
    >>> from labelwise.text.tokenized import tokenize_corpus
    >>> act = Document("32001R0001", "", (Section("article", "Citrus fruit, fresh fruit"),))
    >>> vocabulary = Vocabulary.from_corpus(tokenize_corpus([act]), min_count=2, keep={"citrus"})
    >>> vocabulary.words, vocabulary.counts
    (('<padding>', '<unknown>', 'fruit', 'citrus'), (0, 2, 2, 1))
    >>> vocabulary.lookup(["fresh", "citrus", "fruit"])
    array([1, 3, 2], dtype=int32)
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.words[:2] != SPECIAL or len(self.words) != len(self.counts):
            raise LabelwiseError(
                "a vocabulary begins with the rows of the padding and the unknown word, and has "
                f"one count a word: these are {len(self.words)} words and {len(self.counts)} counts"
            )
        if len(self.index) != len(self.words):
            raise LabelwiseError("a vocabulary holds each word once")

    @classmethod
    def from_corpus(
        cls,
        corpus: TokenizedCorpus,
        *,
        min_count: int = 1,
        max_size: int | None = None,
        keep: Container[str] = (),
        extra: Iterable[str] = (),
    ) -> Vocabulary:
        """Choose the words of a corpus that get a row of their own.

        A word does that stands ``min_count`` times in the corpus, or that is among ``keep`` (the
        words with a pre-trained vector, say) however rare it is. Of these the ``max_size`` most
        frequent stay. The words of ``extra`` (of the descriptors, say) always have a row, even
        where the corpus does not hold them.
        """
        counts = corpus.counts.tolist()
        chosen = {
            word: count
            for word, count in zip(corpus.words, counts, strict=True)
            if count >= min_count or word in keep
        }
        if max_size is not None:
            chosen = dict(list(chosen.items())[:max_size])  # the corpus has the frequent ones first
        if wanted := set(extra) - chosen.keys():
            known = dict(zip(corpus.words, counts, strict=True))
            chosen |= {word: known.get(word, 0) for word in wanted}
        rows = sorted(chosen.items(), key=lambda row: (-row[1], row[0]))
        unknown = sum(counts) - sum(chosen.values())
        return cls(
            (*SPECIAL, *(word for word, _ in rows)),
            (0, unknown, *(count for _, count in rows)),
        )

    def __len__(self) -> int:
        """The number of rows, padding and unknown among them."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.index.get(word, PADDING) > UNKNOWN

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.words == other.words and self.counts == other.counts

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def index(self) -> dict[str, int]:
        """From a word to its row."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of words and counts in order: equal vocabularies, equal fingerprints."""
        text = json.dumps(self.to_json())
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def lookup(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The row of each word; ``UNKNOWN`` for those that have none."""
        rows = (self.index.get(word, UNKNOWN) for word in words)
        return np.fromiter(rows, dtype=np.int32, count=len(words))

    def numbers(self, corpus: TokenizedCorpus) -> NDArray[np.int32]:
        """(N,) the row of each token of a corpus: one gather."""
        rows: NDArray[np.int32] = self.lookup(corpus.words)[corpus.tokens]
        return rows

    def to_json(self) -> dict[str, Any]:
        return {"words": list(self.words), "counts": list(self.counts)}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Vocabulary:
        words, counts = texts(state, "words"), value(state, "counts", list)
        return cls(tuple(words), tuple(map(int, counts)))
