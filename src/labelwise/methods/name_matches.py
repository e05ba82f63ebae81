"""How the names of labels stand in documents: the features of lexical, for many labels at once.

A name is a descriptor or an alternative label. Its words and those of the documents are compared by
their stems; a stem weighs idf = log((1 + N) / (1 + df)) + 0.1 of the training documents. Two kinds
of features come out:

- of every label (``FOUND``): what of its names is found at all, wherever it stands. The best of its
  names counts;
- of the labels with a name whose words all stand near each other (``TOGETHER``), in any order, with
  at most ``SLACK`` other words between them: how often, in which zones, how early, and whether a
  longer name has the same words (``citrus fruit`` leaves nothing for ``fruit``).

The work is done with arrays over a block of documents. Only names whose stems are all in a document
are looked at word by word, and these are few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.document import SECTION_KINDS
from labelwise.text.stemmer import stem
from labelwise.text.tokenized import TokenizedCorpus
from labelwise.text.tokenizer import words

FOUND = ("names", "descriptor", "in header", "in header and recitals", "share", "for its length")
"""Cosines of the best name and of the descriptor, with the whole document or parts of it; the share
of the best name's idf that is found; and the first of them over the length of the document."""

TOGETHER = (
    *("together", "times", "phrase", *SECTION_KINDS),
    *("free times", "free", "early", "weight", "alternative"),
)
"""See ``_Matches.features``."""

SLACK = 3
"""Words that may stand between those of a name."""

APART = 100
"""Words that two sections are taken to be apart, so that no match crosses them."""

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a against an and as at between by d de des du et for from in into its l la le no not of "
        "on or other over per than the their to under via with within",
    )
)

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class _Stems(dict[str, str]):
    """Remembers the stem of what it has seen."""

    def __missing__(self, word: str) -> str:
        if len(self) >= 1_000_000:  # a service that runs for weeks must not grow without end
            self.clear()
        found = self[word] = stem(word)
        return found


_stem_of = _Stems()


def is_word(token: str) -> bool:
    return token[0].isalnum()


def content_stem(token: str) -> str | None:
    """The stem of a word that says something; None of stop words, marks and single letters."""
    return _stem_of[token] if len(token) > 1 and token not in STOP_WORDS else None


def count_stems(corpus: TokenizedCorpus, least: int) -> dict[str, int]:
    """In how many documents each stem stands, of the stems that stand in at least so many."""
    rows: dict[str, int] = {}
    of_word = np.array(
        [
            -1 if (found := content_stem(word)) is None else rows.setdefault(found, len(rows))
            for word in corpus.words
        ],
        dtype=np.int64,
    )
    document = np.repeat(np.arange(len(corpus)), np.diff(corpus.token_starts))
    row = of_word[corpus.tokens]
    pairs = np.unique(document[row >= 0] * len(rows) + row[row >= 0])
    counts = np.bincount(pairs % max(len(rows), 1), minlength=len(rows))
    return {one: int(counts[row]) for one, row in sorted(rows.items()) if counts[row] >= least}


@dataclass(frozen=True)
class Name:
    """A name of the label in a column."""

    column: int
    text: str
    alternative: bool

    @cached_property
    def stems(self) -> list[str]:
        """All stems of its words, each once, in order."""
        return list(self.places if "(" not in self.text else _stem_places(self.text))

    @cached_property
    def places(self) -> dict[str, int]:
        """The stems that must stand together and their places: a remark in brackets need not."""
        bare = re.sub(r"\(.*?\)", " ", self.text) if "(" in self.text else self.text
        return _stem_places(bare) or _stem_places(self.text)


def _stem_places(text: str) -> dict[str, int]:
    """The stems of the words of a text, and the place of each among its words, the first one."""
    places: dict[str, int] = {}
    for place, word in enumerate(filter(is_word, words(text))):
        if (found := content_stem(word)) is not None:
            places.setdefault(found, place)
    return places


@dataclass(frozen=True)
class Features:
    """The features of a block of documents."""

    found: Floats  # FOUND × documents × labels
    rows: Ints  # (M,) documents of the pairs of document and label with a name that is together
    columns: Ints  # (M,) their labels
    together: Floats  # M × TOGETHER

    def total(self, weights: NDArray[np.float64]) -> Floats:
        """The weighted sum of all features, documents × labels."""
        of_found, of_together = np.split(weights.astype(np.float32), [len(FOUND)])
        total = np.zeros(self.found.shape[1:], dtype=np.float32)
        for weight, feature in zip(of_found, self.found, strict=True):
            total += weight * feature
        more = np.zeros(len(self.rows), dtype=np.float32)
        for weight, feature in zip(of_together, self.together.T, strict=True):
            more += weight * feature  # not a product of matrices, whose last bit hangs on the rows
        total[self.rows, self.columns] += more
        return total


class NameIndex:
    """The names of all labels, ready to be looked for in documents."""

    def __init__(
        self, names: Iterable[Name], labels: int, documents: int, counts: Mapping[str, int]
    ) -> None:
        """``counts`` says in how many of the training ``documents`` a stem stands."""
        self.labels = labels
        self.names = [name for name in sorted(names, key=lambda one: one.column) if name.stems]
        self.rows = {one: row for row, one in enumerate(counts)}
        self._counted = len(self.rows)
        for name in self.names:
            for one in name.stems:
                self.rows.setdefault(one, len(self.rows))
        df = np.zeros(len(self.rows))
        df[: self._counted] = list(counts.values())
        self.idf = (np.log((1 + documents) / (1 + df)) + 0.1).astype(np.float32)  # (stems,)

        self.column = np.array([name.column for name in self.names], dtype=np.int64)  # (names,)
        self.alternative = np.array([name.alternative for name in self.names], dtype=bool)
        stems = [self.rows[one] for name in self.names for one in name.stems]
        of_name = np.repeat(np.arange(len(self.names)), [len(name.stems) for name in self.names])
        idf = self.idf[stems].astype(np.float64)
        total = np.bincount(of_name, weights=idf, minlength=len(self.names))
        length = np.sqrt(np.bincount(of_name, weights=idf**2, minlength=len(self.names)))
        shape = (len(self.rows), len(self.names))
        self._cosine = _matrix(idf / length[of_name], stems, of_name, shape)  # stems × names
        self._share = _matrix(idf / total[of_name], stems, of_name, shape)

        # What must stand together: the slots of each name, one after another.
        self.slots = np.array([len(name.places) for name in self.names], dtype=np.int64)
        self.first_slot = np.concatenate(([0], np.cumsum(self.slots)))
        self.slot_stem = np.array(
            [self.rows[one] for name in self.names for one in name.places], dtype=np.int64
        )
        self.span = np.array(  # (names,) words from the first to the last of a name
            [max(name.places.values()) - min(name.places.values()) + 1 for name in self.names],
            dtype=np.int64,
        )
        in_name = np.repeat(np.arange(len(self.names)), self.slots)
        self._slots = _matrix(np.ones(len(in_name)), self.slot_stem, in_name, shape)
        self.weight = np.bincount(  # (names,) the idf of its slots
            in_name, weights=self.idf[self.slot_stem], minlength=len(self.names)
        )

    def features(self, corpus: TokenizedCorpus, first: int, last: int) -> Features:
        """The features of the documents ``first:last``."""
        block = _Block.of(corpus, self.rows, first, last)
        counts = [block.counts(kind, len(self.rows)) for kind in range(len(SECTION_KINDS))]
        whole = self._tfidf(sum(counts[1:], counts[0]))
        header, opening = self._tfidf(counts[0]), self._tfidf(counts[0] + counts[1])
        present = sp.csr_matrix(
            (np.ones_like(whole.data), whole.indices, whole.indptr), whole.shape
        )
        of_names = (whole @ self._cosine).toarray()
        found = np.empty((len(FOUND), last - first, self.labels), dtype=np.float32)
        found[0] = self._best(of_names)
        found[1] = self._of_descriptors(of_names)
        found[2] = self._best((header @ self._cosine).toarray())
        found[3] = self._best((opening @ self._cosine).toarray())
        found[4] = self._best((present @ self._share).toarray())
        # Stems of names that are in no training document are left out of the length: a label that
        # is added later does not change the scores of others by it.
        counted = whole[:, : self._counted]
        length = np.sqrt(np.asarray(counted.multiply(counted).sum(axis=1)))
        found[5] = found[0] / np.maximum(length, 1)
        rows, columns, together = _Matches.find(self, block, present @ self._slots).features()
        return Features(found, rows, columns, together)

    def _tfidf(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """log(1 + times) · idf of each stem of each document."""
        data = np.log1p(counts.data) * self.idf[counts.indices]
        return sp.csr_matrix((data, counts.indices, counts.indptr), counts.shape)

    def _best(self, of_names: Floats) -> Floats:
        """The highest of the names of each label: documents × labels; 0 where it has no name."""
        best = np.zeros((len(of_names), self.labels), dtype=np.float32)
        if self.names:
            first = np.flatnonzero(np.diff(self.column, prepend=-1))
            best[:, self.column[first]] = np.maximum.reduceat(of_names, first, axis=1)
        return best

    def _of_descriptors(self, of_names: Floats) -> Floats:
        found = np.zeros((len(of_names), self.labels), dtype=np.float32)
        found[:, self.column[~self.alternative]] = of_names[:, ~self.alternative]
        return found

    def best_names(self, corpus: TokenizedCorpus, columns: Sequence[int]) -> list[Name | None]:
        """Of each of some labels, the name that is most like the one document of a corpus; None
        where no word of its names is found."""
        block = _Block.of(corpus, self.rows, 0, 1)
        whole = self._tfidf(block.counts(None, len(self.rows)))
        of_names = (whole @ self._cosine).toarray()[0]
        best: list[Name | None] = []
        for column in columns:
            mine = np.flatnonzero((self.column == column) & (of_names > 0))
            best.append(self.names[mine[of_names[mine].argmax()]] if len(mine) else None)
        return best


@dataclass(frozen=True)
class _Block:
    """The words of some documents, marks left out, one after another."""

    documents: int
    stems: Ints  # (T,) row of each word's stem; -1: none
    document: Ints  # (T,)
    kind: NDArray[np.uint8]  # (T,) of its section
    place: Ints  # (T,) in its document; sections are APART
    since: Ints  # (T,) words before it in its document

    @classmethod
    def of(cls, corpus: TokenizedCorpus, rows: Mapping[str, int], first: int, last: int) -> _Block:
        starts = corpus.section_starts[corpus.document_starts[first] :]
        sections = int(corpus.document_starts[last] - corpus.document_starts[first])
        starts = starts[: sections + 1]
        tokens = corpus.tokens[starts[0] : starts[-1]]
        section = np.repeat(np.arange(sections), np.diff(starts))
        of_section = np.repeat(
            np.arange(last - first), np.diff(corpus.document_starts[first : last + 1])
        )
        distinct, numbers = np.unique(tokens, return_inverse=True)
        texts = [corpus.words[at] for at in distinct]
        stems = [rows.get(content_stem(text) or "", -1) for text in texts]
        kept = np.array([is_word(text) for text in texts], dtype=bool)[numbers]
        section, numbers = section[kept], numbers[kept]
        document = of_section[section]
        begin = np.searchsorted(document, np.arange(last - first))
        since = np.arange(len(numbers)) - begin[document]
        first_section = corpus.document_starts[first:last] - corpus.document_starts[first]
        return cls(
            last - first,
            np.array(stems, dtype=np.int64)[numbers],
            document,
            corpus.section_kinds[corpus.document_starts[first] :][section],
            since + (section - first_section[document]) * APART,
            since,
        )

    def counts(self, kind: int | None, stems: int) -> sp.csr_matrix:
        """How often each stem stands in each document, or in its sections of one kind."""
        here = (self.stems >= 0) & (True if kind is None else self.kind == kind)
        ones = np.ones(int(here.sum()), dtype=np.float32)
        place = (self.document[here], self.stems[here])
        return sp.csr_matrix((ones, place), shape=(self.documents, stems))


@dataclass(frozen=True)
class _Matches:
    """Where all words of a name stand together: the last word of each such place."""

    index: NameIndex
    block: _Block
    word: Ints  # (M,) in the block
    name: Ints  # (M,)
    phrase: NDArray[np.bool_]  # (M,) in the order of the name, as near as there

    @classmethod
    def find(cls, index: NameIndex, block: _Block, slots: sp.csr_matrix) -> _Matches:
        """``slots``: documents × names, how many of a name's slots a document holds."""
        pairs = slots.tocoo()
        whole = pairs.data == index.slots[pairs.col]
        document, name = pairs.row[whole].astype(np.int64), pairs.col[whole].astype(np.int64)

        # The words of the block by document and stem, and of each pair of document and name the
        # words of its slots.
        stems = len(index.rows)
        known = np.flatnonzero(block.stems >= 0)
        key = block.document[known] * stems + block.stems[known]
        order = np.argsort(key, kind="stable")
        keys, begin, times = np.unique(key[order], return_index=True, return_counts=True)
        slot, pair = _runs(index.first_slot[:-1][name], index.slots[name])
        at = np.searchsorted(keys, document[pair] * stems + index.slot_stem[slot])
        entry, of_slot = _runs(begin[at], times[at])
        word, pair = known[order[entry]], pair[of_slot]
        number = slot[of_slot] - index.first_slot[:-1][name[pair]]
        order = np.lexsort((word, pair))
        word, pair, number = word[order], pair[order], number[order]

        # Of each word, the last place before it of each of the name's slots. Pairs are so far from
        # each other that none takes a word of another's.
        of_name = name[pair]
        far = int(block.place.max(initial=0)) + APART
        place = (pair + 1) * far + block.place[word]
        near = np.ones(len(place), dtype=bool)
        ordered, earliest = near.copy(), place.copy()
        before = np.full(len(place), -1)
        for slot_number in range(int(index.slots[name].max(initial=0))):
            used = index.slots[of_name] > slot_number
            last = np.maximum.accumulate(np.where(number == slot_number, place, -1))
            near &= ~used | (place - last < index.span[of_name] + SLACK)
            ordered &= ~used | (last > before)
            earliest = np.where(used, np.minimum(earliest, last), earliest)
            before = last
        phrase = ordered & (place - earliest == index.span[of_name] - 1)
        return cls(index, block, word[near], of_name[near], phrase[near])

    def features(self) -> tuple[Ints, Ints, Floats]:
        """Documents, labels and ``TOGETHER`` of each pair that has a match."""
        index, block = self.index, self.block
        labels = index.labels
        key = block.document[self.word] * labels + index.column[self.name]
        pairs, pair = np.unique(key, return_inverse=True)

        def times(which: NDArray[np.bool_]) -> NDArray[np.float64]:
            return np.bincount(pair, weights=which, minlength=len(pairs)).astype(np.float64)

        def highest(values: NDArray[Any]) -> NDArray[np.float64]:
            best = np.full(len(pairs), -np.inf)
            np.maximum.at(best, pair, values)
            return best

        everywhere, free = times(np.ones(len(pair), dtype=bool)), times(self._free())
        kind = block.kind[self.word]
        features = [
            np.ones(len(pairs)),
            np.log1p(everywhere),
            times(self.phrase) > 0,
            *(times(kind == one) > 0 for one in range(len(SECTION_KINDS))),
            np.log1p(free),
            free > 0,
            highest(-np.log1p(block.since[self.word])),
            highest(index.weight[self.name]),
            highest(~index.alternative[self.name]) < 1,
        ]
        together = np.stack(features, axis=1).astype(np.float32)
        return pairs // labels, pairs % labels, together

    def _free(self) -> NDArray[np.bool_]:
        """Phrases none of whose outer words belongs to a phrase that weighs more."""
        weight, span = self.index.weight[self.name], self.index.span[self.name]
        taken = np.zeros(len(self.block.stems))
        for back in range(int(span.max(initial=0))):
            here = self.phrase & (span > back)
            np.maximum.at(taken, self.word[here] - back, weight[here])
        start = np.where(self.phrase, self.word - span + 1, self.word)
        most = np.maximum(taken[self.word], taken[start])
        free: NDArray[np.bool_] = self.phrase & (most <= weight)
        return free


def _matrix(
    values: NDArray[Any], rows: Sequence[int] | Ints, columns: Ints, shape: tuple[int, int]
) -> sp.csr_matrix:
    return sp.csr_matrix((values.astype(np.float32), (rows, columns)), shape=shape)


def _runs(starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """The numbers of several runs, one after another, and the run of each.

    >>> numbers, run = _runs(np.array([5, 0]), np.array([2, 3]))
    >>> numbers.tolist(), run.tolist()
    ([5, 6, 0, 1, 2], [0, 0, 1, 1, 1])
    """
    before = np.cumsum(lengths) - lengths
    run = np.repeat(np.arange(len(lengths)), lengths)
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum()), run
