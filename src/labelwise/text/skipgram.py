"""Word vectors learned from the documents themselves: skip-gram with negative sampling.

Each word learns to tell the words that stand near it from words drawn at random (Mikolov et al.
2013). Vectors learned on the training documents know the words of the trade, numbers and
abbreviations among them, which vectors learned on other texts do not.

The words of a window share their random words (Ji et al. 2016), which stay in the cache. Two
threads each learn from their own half of a block of text on their own copy of the vectors; after
the block a word that one half has met takes that half's vector, and one that both have met the
mean of the two. So the result depends on the seed, not on which thread was faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.progress import bar
from labelwise.text.tokenized import TokenizedCorpus
from labelwise.text.vectors import Vectors

HALVES = 2
"""Fixed, not one a core: another number would give other vectors."""

BLOCK = 100_000
"""Tokens that a half learns from before the two meet: seldom enough that meeting costs little."""

SIZE = 0.4
"""The root mean square of the numbers in the vectors, which is that of GloVe's: what reads vectors
is tuned to one size, and two files of one size can be joined."""

DRAWS = 1 << 22
"""The random words lie in a table of this length, each as often as it should be drawn."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class SkipGram:
    """How vectors are learned. The defaults are those of word2vec, but for the last two."""

    dim: int = 200
    window: int = 5
    """Words on either side at most; each word draws its own window up to that."""
    negatives: int = 5
    """Random words for each word."""
    min_count: int = 5
    """How often a word must stand in the documents."""
    learning_rate: float = 0.025
    """At the start; it falls to zero, linearly."""
    epochs: int = 10
    """More than word2vec's 5: the 41 million tokens of EURLEX57K are few."""
    sample: float = 1e-4
    """Words with a greater share of the text than this are read less often: half of an act is
    commas, numbers and ``the``, of which nothing more is learned after a while."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("dim", "window", "negatives", "min_count", "epochs"):
            if getattr(self, name) < 1:
                raise LabelwiseError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("learning_rate", "sample"):
            if not getattr(self, name) > 0:
                raise LabelwiseError(f"{name} must be above zero, not {getattr(self, name)}")


def learn_vectors(corpus: TokenizedCorpus, how: SkipGram) -> Vectors:
    """The vectors of the words of a corpus, most frequent word first: same seed, same vectors."""
    learn, meet = _compiled()
    size = int((corpus.counts >= how.min_count).sum())  # the words come by falling count
    if size < 2:
        raise LabelwiseError(
            f"fewer than two words stand at least {how.min_count} times in the documents: there "
            "is nothing to learn vectors from; lower min_count"
        )
    draws = _draws(corpus.counts[:size])
    near = _start(size, how)  # of the words of a window: the result
    far = np.zeros_like(near)  # of the word in its middle, and of those drawn at random
    halves = [(near.copy(), far.copy(), np.zeros((2, size), np.bool_)) for _ in range(HALVES)]
    blocks = -(-len(corpus.tokens) // (HALVES * BLOCK))
    total = how.epochs * blocks
    with bar("learning word vectors", total) as advance, ThreadPoolExecutor(HALVES) as pool:
        for done, texts in enumerate(_texts(corpus, size, how, blocks)):
            rates = [how.learning_rate * max(1 - at / total, 1e-4) for at in (done, done + 1)]
            waiting = [
                pool.submit(
                    learn, *text, *half, draws, how.window, how.negatives, *rates,
                    np.uint64(_number(how.seed, done, which)),
                )
                for which, (text, half) in enumerate(zip(texts, halves, strict=True))
            ]  # fmt: skip
            for one in waiting:
                one.result()
            (near_0, far_0, met_0), (near_1, far_1, met_1) = halves
            meet(near, near_0, near_1, met_0[0], met_1[0])
            meet(far, far_0, far_1, met_0[1], met_1[1])
            advance(1)
    near *= np.float32(SIZE) / np.sqrt(np.mean(near * near))
    return Vectors(tuple(corpus.words[:size]), near)


def _start(size: int, how: SkipGram) -> Matrix:
    """Small numbers, as word2vec starts from."""
    random = np.random.default_rng(how.seed)
    between = random.random((size, how.dim), dtype=np.float32) - np.float32(0.5)
    return between / np.float32(how.dim)


def _draws(counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Words by their count to the power of 3/4: rare ones are drawn more than they are met."""
    share = counts.astype(np.float64) ** 0.75
    ends = np.cumsum(share / share.sum()) * DRAWS
    return np.searchsorted(ends, np.arange(DRAWS) + 0.5).clip(max=len(counts) - 1).astype(np.int32)


def _texts(
    corpus: TokenizedCorpus, size: int, how: SkipGram, blocks: int
) -> Iterator[list[tuple[NDArray[np.int32], NDArray[np.int64]]]]:
    """For each block of each epoch: the words that are read by each half, and their sections."""
    share = corpus.counts[:size] / corpus.counts.sum()
    kept = np.zeros(len(corpus.words))  # 0: words too rare to have a vector
    kept[:size] = np.minimum(1, np.sqrt(how.sample / share) + how.sample / share)
    order = np.arange(blocks * HALVES)
    bounds = np.linspace(0, len(corpus.tokens), blocks * HALVES + 1).astype(np.int64)
    section = np.repeat(
        np.arange(len(corpus.section_starts) - 1, dtype=np.int32), np.diff(corpus.section_starts)
    )
    for epoch in range(how.epochs):
        random = np.random.default_rng((how.seed, epoch))
        random.shuffle(order)
        for at in range(0, len(order), HALVES):
            texts = []
            for piece in order[at : at + HALVES]:
                cut = slice(bounds[piece], bounds[piece + 1])
                tokens = corpus.tokens[cut]
                chosen = random.random(len(tokens), dtype=np.float32) < kept[tokens]
                _, starts = np.unique(section[cut][chosen], return_index=True)
                words = tokens[chosen]
                texts.append((words, np.append(starts, len(words)).astype(np.int64)))
            yield texts


def _number(*key: int) -> int:
    """A number for the generator of a thread, never zero."""
    return int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0]) | 1


@cache
def _compiled() -> tuple[Callable[..., None], Callable[..., None]]:
    try:
        import numba
    except ImportError as error:
        raise MissingExtraError("learning word vectors", "linear") from error
    compiled = numba.njit(nogil=True, fastmath=True, cache=True)
    return compiled(_learn), compiled(_meet)


def _learn(  # noqa: PLR0917
    tokens: Any,  # (N,) words of this half of the block
    starts: Any,  # (S + 1,) its sections
    near: Any,  # (V, E), changed in place
    far: Any,  # (V, E), changed in place
    met: Any,  # (2, V) which rows of near and of far were changed
    draws: Any,
    window: int,
    negatives: int,
    first_rate: float,
    last_rate: float,
    state: Any,
) -> None:
    """Go through the sections once."""
    dim = near.shape[1]
    chosen = np.empty(negatives + 1, np.int32)  # the word in the middle, then the random ones
    push = np.empty(dim, np.float32)
    one = np.float32(1)
    for section in range(len(starts) - 1):
        start, end = starts[section], starts[section + 1]
        for middle in range(start, end):
            rate = np.float32(first_rate + (last_rate - first_rate) * middle / len(tokens))
            # xorshift64*, on uint64
            state ^= state >> np.uint64(12)
            state ^= state << np.uint64(25)
            state ^= state >> np.uint64(27)
            drawn = state * np.uint64(2685821657736338717)
            reach = 1 + np.int64((drawn >> np.uint64(33)) % np.uint64(window))
            chosen[0] = tokens[middle]
            met[1, chosen[0]] = True
            for k in range(1, negatives + 1):
                state ^= state >> np.uint64(12)
                state ^= state << np.uint64(25)
                state ^= state >> np.uint64(27)
                drawn = state * np.uint64(2685821657736338717)
                chosen[k] = draws[(drawn >> np.uint64(33)) % np.uint64(len(draws))]
                met[1, chosen[k]] = True
            for place in range(max(start, middle - reach), min(end, middle + reach + 1)):
                if place == middle:
                    continue
                x = near[tokens[place]]
                met[0, tokens[place]] = True
                for i in range(dim):
                    push[i] = 0
                for k in range(negatives + 1):
                    if k > 0 and chosen[k] == chosen[0]:
                        continue  # drawn at random, but it does stand here
                    y = far[chosen[k]]
                    dot = np.float32(0)
                    for i in range(dim):
                        dot += x[i] * y[i]
                    sigmoid = one / (one + np.exp(-dot))
                    step = rate * ((one if k == 0 else np.float32(0)) - sigmoid)
                    for i in range(dim):
                        push[i] += step * y[i]
                        y[i] += step * x[i]
                for i in range(dim):
                    x[i] += push[i]


def _meet(both: Any, first: Any, second: Any, met_first: Any, met_second: Any) -> None:
    """Rows that one half changed are taken from it, rows that both did become their mean."""
    half = np.float32(0.5)
    for row in range(both.shape[0]):
        if met_first[row] and met_second[row]:
            for i in range(both.shape[1]):
                both[row, i] = half * (first[row, i] + second[row, i])
        elif met_first[row]:
            both[row] = first[row]
        elif met_second[row]:
            both[row] = second[row]
        if met_first[row] or met_second[row]:
            first[row] = both[row]
            second[row] = both[row]
        met_first[row] = met_second[row] = False
