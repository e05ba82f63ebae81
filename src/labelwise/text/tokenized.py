"""A tokenised corpus: every word of every document as a number, in a few flat arrays.

It depends on the documents and the tokenizer alone, not on any vocabulary, so that one cache
serves every method. A vocabulary is applied with one gather: ``vocabulary.numbers(corpus)``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import unidata_version

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import SECTION_KINDS, Document
from labelwise.progress import bar
from labelwise.text import tokenizer
from labelwise.text.array_cache import read_arrays, write_arrays
from labelwise.text.flat_tokens import FlatTokens

CHUNK = 2_000_000
"""Characters that a worker is given at a time: a quarter of a second of work."""

WORTH_IT = 10
"""Chunks from which on starting processes saves more time than it takes."""


@dataclass(frozen=True, eq=False)
class TokenizedCorpus(FlatTokens):
    """The tokens of all documents, one after another, as indices into the distinct words.

    >>> from labelwise.corpus.document import Section
    >>> act = Document("32001R0001", "", (Section("header", "Citrus fruit"),
    ...                                   Section("article", "Fruit, fresh")))
    >>> corpus = tokenize_corpus([act])
    >>> corpus.words
    ['fruit', ',', 'citrus', 'fresh']
    >>> corpus.tokens.tolist(), corpus.section_starts.tolist(), corpus.document_starts.tolist()
    ([2, 0, 0, 1, 3], [0, 2, 5], [0, 2])
    """

    words: list[str]
    """The V distinct words, by falling count, then alphabetically."""
    counts: NDArray[np.int64]  # (V,) how often each word stands in the corpus
    section_kinds: NDArray[np.uint8]  # (S,) index into SECTION_KINDS

    def __post_init__(self) -> None:
        for array in (self.counts, self.tokens, self.section_starts, self.document_starts):
            array.setflags(write=False)  # as those read from a cache are
        self.section_kinds.setflags(write=False)

    @property
    def token_starts(self) -> NDArray[np.int64]:
        """(D + 1,) offset of each document in ``tokens``."""
        starts: NDArray[np.int64] = self.section_starts[self.document_starts]
        return starts


def tokenize_corpus(
    documents: Sequence[Document], *, cache: Path | None = None, jobs: int | None = None
) -> TokenizedCorpus:
    """Tokenise and number all documents, with ``jobs`` processes (default: one a core).

    The result is the same for any number of jobs. With a ``cache`` folder it is kept there, and
    read from there when the same documents come again.
    """
    if cache is None:
        return _build(documents, jobs)
    key = content_key(documents)
    arrays = read_arrays(cache, key, ARRAYS)
    if arrays is not None:
        return _from_arrays(arrays)
    corpus = _build(documents, jobs)
    write_arrays(cache, key, _to_arrays(corpus))
    return corpus


def content_key(documents: Sequence[Document]) -> str:
    """A digest of all that a tokenised corpus is made from: the documents and the rules."""
    rules = (tokenizer.VERSION, unidata_version, SECTION_KINDS)
    digest = hashlib.blake2b(repr(rules).encode(), digest_size=16)
    for document in documents:
        # The lengths stand first, so that no two corpora give the same bytes.
        shape = (document.id, [(section.kind, len(section.text)) for section in document.sections])
        texts = "".join([section.text for section in document.sections])
        digest.update(f"{shape!r}{texts}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


ARRAYS = ("words", "counts", "tokens", "section_starts", "document_starts", "section_kinds")


def _to_arrays(corpus: TokenizedCorpus) -> dict[str, NDArray[Any]]:
    """The words become the bytes of one word a line: no token holds a line break."""
    words = "\n".join(corpus.words).encode("utf-8", "surrogatepass")
    arrays = {name: getattr(corpus, name) for name in ARRAYS}
    return arrays | {"words": np.frombuffer(words, dtype=np.uint8)}


def _from_arrays(arrays: Mapping[str, NDArray[Any]]) -> TokenizedCorpus:
    text = arrays["words"].tobytes().decode("utf-8", "surrogatepass")
    fields: dict[str, Any] = {**arrays, "words": text.split("\n") if text else []}
    return TokenizedCorpus(**fields)


def _build(documents: Sequence[Document], jobs: int | None) -> TokenizedCorpus:
    texts = [section.text for document in documents for section in document.sections]
    chunks = list(_chunks(texts))
    index: dict[str, int] = {}  # each word, in the order in which it was first met
    numbered: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []  # tokens, their words' index
    lengths: list[NDArray[np.int64]] = []
    with bar("tokenising", total=len(texts)) as advance:
        for local_tokens, local_words, local_lengths in _tokenize_chunks(chunks, jobs):
            met = [index.setdefault(word, len(index)) for word in local_words]
            numbered.append((local_tokens, np.array(met, dtype=np.int32)))
            lengths.append(local_lengths)
            advance(len(local_lengths))

    counts = np.zeros(len(index), dtype=np.int64)
    for local_tokens, met_words in numbered:
        counts[met_words] += np.bincount(local_tokens, minlength=len(met_words))
    words = list(index)
    falling = (-counts).tolist()
    order = sorted(range(len(words)), key=lambda at: (falling[at], words[at]))
    rank = np.empty(len(words), dtype=np.int32)
    rank[order] = np.arange(len(words), dtype=np.int32)

    section_starts = _offsets(np.concatenate([*lengths, np.zeros(0, dtype=np.int64)]))
    tokens = np.empty(section_starts[-1], dtype=np.int32)
    at = 0
    for local_tokens, met_words in numbered:
        tokens[at : at + len(local_tokens)] = rank[met_words][local_tokens]
        at += len(local_tokens)

    kinds = {kind: number for number, kind in enumerate(SECTION_KINDS)}
    return TokenizedCorpus(
        words=[words[at] for at in order],
        counts=counts[order],
        tokens=tokens,
        section_starts=section_starts,
        document_starts=_offsets([len(document.sections) for document in documents]),
        section_kinds=np.array(
            [kinds[section.kind] for document in documents for section in document.sections],
            dtype=np.uint8,
        ),
    )


def _offsets(lengths: Any) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in order, cut into runs of about ``CHUNK`` characters."""
    start = size = 0
    for at, text in enumerate(texts):
        size += len(text)
        if size >= CHUNK or at == len(texts) - 1:
            yield texts[start : at + 1]
            start, size = at + 1, 0


Chunk = tuple[NDArray[np.int32], list[str], NDArray[np.int64]]
"""Tokens as indices into the chunk's own words, those words, and the tokens of each text."""


def _tokenize_chunks(chunks: Sequence[Sequence[str]], jobs: int | None) -> Iterator[Chunk]:
    if jobs == 1 or len(chunks) < WORTH_IT:
        yield from (_tokenize_chunk(chunk, remember=True) for chunk in chunks)
        return
    import joblib  # type: ignore[import-untyped]

    # joblib's own processes are fresh ones: safe beside torch's threads, and they do not run the
    # user's script again as plain spawned ones do.
    parallel = joblib.Parallel(n_jobs=jobs or joblib.cpu_count(), return_as="generator")
    yield from parallel(joblib.delayed(_tokenize_chunk)(chunk) for chunk in chunks)


class _Numbers(dict[str, int]):
    """From a word as it is written to its number, in the order in which they are met."""

    def __missing__(self, raw: str) -> int:
        number = self[raw] = len(self)
        return number


def _tokenize_chunk(texts: Sequence[str], remember: bool = False) -> Chunk:
    """What was cut before is not cut again; with ``remember``, nor will this be."""
    numbers = _Numbers()
    written = []
    for text in texts:
        known = tokenizer.remembered.get(text) if remember else None
        found = tokenizer.PATTERN.findall(text) if known is None else list(known)
        written.append(np.fromiter(map(numbers.__getitem__, found), np.int32, len(found)))
    distinct = list(numbers)
    if remember:
        for text, tokens in zip(texts, written, strict=True):
            tokenizer.remembered.keep(text, tokenizer.Written(distinct, tokens))
    lower: dict[str, int] = {}
    of_lower = np.array([lower.setdefault(raw.lower(), len(lower)) for raw in distinct], np.int32)
    lengths = np.array([len(tokens) for tokens in written], dtype=np.int64)
    return of_lower[np.concatenate(written)], list(lower), lengths
