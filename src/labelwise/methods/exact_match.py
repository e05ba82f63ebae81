"""Exact Match: the labels whose descriptor stands verbatim in the document."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np

from labelwise.corpus.document import Document
from labelwise.corpus.thesaurus import Thesaurus, read_thesaurus
from labelwise.errors import BundleError, LabelwiseError
from labelwise.methods.base import Evidence, Method, Scores, Settings, State
from labelwise.methods.spans import Span
from labelwise.progress import track
from labelwise.schema import value

Finder = Callable[[str], Iterator[tuple[int, str]]]
"""From a text to (start, name) of every name that stands in it, word boundaries or not."""


@dataclass(frozen=True)
class ExactMatchSettings(Settings):
    """Settings of Exact Match."""

    thesaurus: str = ""
    """A thesaurus file whose alternative labels count as well; empty: descriptors alone."""
    whole_words: bool = True
    """Off, a descriptor also counts within longer words: `car` in `cargo`."""
    order: Literal["occurrences", "drawn"] = "occurrences"
    """How the matches of a document are ranked. `drawn` is by lot, which says what a mere set of
    matches scores: with `whole_words` off it comes close to the published figures."""

    def __post_init__(self) -> None:
        if self.order not in ("occurrences", "drawn"):
            raise LabelwiseError(f"order must be occurrences or drawn, not {self.order!r}")


class ExactMatch(Method):
    """Lower case, whole words, all sections; no match crosses a section.

    Ranked by number of occurrences, then descriptor length, then label order. Both counts are
    packed into the score, 0.5 + (occurrences · 1024 + length) / 2^24, which float32 holds exactly:
    every match is above 0.5, and everything else is 0.
    """

    name = "exact-match"
    Settings = ExactMatchSettings
    settings: ExactMatchSettings

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        names: dict[str, list[int]] = defaultdict(list)
        for column, label in enumerate(self.label_space.labels):
            names[label.descriptor].append(column)
        if self.settings.thesaurus:
            concepts = read_thesaurus(Path(self.settings.thesaurus)).concepts
            for column, label in enumerate(self.label_space.labels):
                for name in concepts[label.id].alt_labels if label.id in concepts else ():
                    names[name].append(column)
        self._set_names(names)

    def _set_names(self, names: Mapping[str, Sequence[int]]) -> None:
        self._columns: dict[str, list[int]] = defaultdict(list)
        for name, columns in names.items():
            normal = normalise(name).strip()
            if re.search(r"\w", normal):
                self._columns[normal] += [c for c in columns if c not in self._columns[normal]]
        self._find = finder(list(self._columns), self.settings.whole_words)

    def _scores(self, documents: Sequence[Document]) -> Scores:
        scores = np.zeros((len(documents), len(self.label_space)), dtype=np.float32)
        lengths = [min(len(label.descriptor), 1023) for label in self.label_space.labels]
        for row, document in enumerate(track(documents, "matching descriptors")):
            occurrences: dict[int, int] = defaultdict(int)
            for _, _, column in self._matches(document):
                occurrences[column] += 1
            if self.settings.order == "drawn":
                keys = self._lots(document)
            else:
                keys = {c: min(n, 8191) * 1024 + lengths[c] for c, n in occurrences.items()}
            for column in occurrences:
                scores[row, column] = 0.5 + keys[column] / 2**24
        return scores

    def _lots(self, document: Document) -> dict[int, int]:
        """A place by lot for every label, from 1; the same text and seed draw the same."""
        random = np.random.default_rng([self.settings.seed, zlib.crc32(document.text.encode())])
        return dict(enumerate((1 + random.permutation(len(self.label_space))).tolist()))

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        places: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for start, end, column in self._matches(document):
            places[column].append((start, end))
        found = [places[self.label_space.index[label]] for label in labels]
        return [
            Evidence(label, "match", tuple(Span(*place, 1 / len(some)) for place in some))
            for label, some in zip(labels, found, strict=True)
        ]

    def _matches(self, document: Document) -> Iterator[tuple[int, int, int]]:
        """(start, end, column) of every match, in characters of the document's text."""
        for section, offset in zip(document.sections, document.section_starts(), strict=True):
            text = normalise(section.text)
            for start, name in self._find(text):
                end = start + len(name)
                if not self.settings.whole_words or (
                    _is_boundary(text, start) and _is_boundary(text, end)
                ):
                    for column in self._columns[name]:
                        yield offset + start, offset + end, column

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Self:
        """The same search for the names of more labels."""
        old = self.label_space
        wider = type(self)(self.settings)
        wider._label_space = space = old.with_labels(extra)
        columns = defaultdict[str, list[int]](list)
        for name, before in self._columns.items():
            columns[name] += [space.index[old.ids[column]] for column in before]
        known = thesaurus.concepts if thesaurus is not None and self.settings.thesaurus else {}
        for id, descriptor in extra.items():
            for name in (descriptor, *(known[id].alt_labels if id in known else ())):
                columns[normalise(name).strip()].append(space.index[id])
        wider._set_names(columns)
        wider.take_over(self)
        return wider

    def state(self) -> State:
        return State({}, {"names": {name: list(self._columns[name]) for name in self._columns}})

    def _restore(self, state: State) -> None:
        names = value(state.values, "names", dict)
        labels = range(len(self.label_space))
        if not all(isinstance(some, list) and set(some) <= {*labels} for some in names.values()):
            raise BundleError(f"the names are not those of {len(labels):,} labels")
        self._set_names(names)


def normalise(text: str) -> str:
    """Lower case, every white space a space, and every character still in its place.

    >>> normalise("Citrus\\nFRUIT İ")
    'citrus fruit İ'
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few capitals grow when lower-cased: leave those alone
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return re.sub(r"\s", " ", lower)


def _is_boundary(text: str, at: int) -> bool:
    """Whether no word runs across this place."""
    return not (0 < at < len(text) and _is_word(text[at - 1]) and _is_word(text[at]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def finder(names: Sequence[str], whole_words: bool = True) -> Finder:
    """A search for all names at once: Aho-Corasick, or without it the same search, slower."""
    if not names:
        return lambda text: iter(())
    try:
        import ahocorasick
    except ImportError:
        return finder_by_first_word(names) if whole_words else finder_by_name(names)
    automaton = ahocorasick.Automaton()
    for name in names:
        automaton.add_word(name, name)
    automaton.make_automaton()

    def find(text: str) -> Iterator[tuple[int, str]]:
        for last, name in automaton.iter(text):
            yield last + 1 - len(name), name

    return find


def finder_by_first_word(names: Sequence[str]) -> Finder:
    """The pure Python search: at each word, the names that begin with it."""
    word = re.compile(r"\w+")
    by_word: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for name in names:
        first = word.search(name)
        assert first is not None  # names without a word are left out before
        by_word[first.group()].append((name, first.start()))

    def find(text: str) -> Iterator[tuple[int, str]]:
        for match in word.finditer(text):
            for name, before in by_word.get(match.group(), ()):
                if match.start() >= before and text.startswith(name, match.start() - before):
                    yield match.start() - before, name

    return find


def finder_by_name(names: Sequence[str]) -> Finder:
    """The pure Python search that looks within words too: one name after another."""
    patterns = [(name, re.compile(f"(?={re.escape(name)})")) for name in names]

    def find(text: str) -> Iterator[tuple[int, str]]:
        for name, pattern in patterns:
            for match in pattern.finditer(text):
                yield match.start(), name

    return find
