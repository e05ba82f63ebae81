"""One-vs-rest linear models for thousands of labels: dual coordinate descent, many labels at once.

Each label l has its own problem, with x extended by a constant 1 for the bias:

    min over w_l   ½ |w_l - p_l|² + C Σ_i loss(y_il w_l·x_i)

with the squared hinge max(0, 1 - m)² or the logistic loss log(1 + e^-m). Coordinate descent on
the dual (Hsieh et al. 2008; Yu et al. 2011) visits one document after another and keeps
w_l = p_l + Σ_i α_il y_il x_i. Public solvers do so label by label, and spend their time waiting
for memory. Here a document is visited once for a whole block of labels: its words are read once,
and the weights of a word for all labels of the block lie side by side, so that one vector
instruction serves many labels.

The prior p_l is 0 but for the bias of the logistic loss, which is drawn to the label's log-odds
rather than to 0: a label that one document in 45,000 carries should not have to earn a
bias of -10 with 45,000 small pushes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.shard import Shard
from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.evaluation.odds import log_odds

Loss = Literal["squared-hinge", "logistic"]
BLOCK = 32
"""Labels at a time: two cache lines of weights a word."""


def one_vs_rest(
    X: sp.csr_matrix,
    Y: sp.csr_matrix,
    *,
    loss: Loss,
    C: float,
    passes: int,
    tolerance: float,
    seed: int = 0,
    jobs: int | None = None,
    shard: Shard | None = None,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.float32]]]:
    """Train all labels of Y (documents × labels); yield blocks of (labels, weights, biases).

    Weights are columns × labels of the block. Every label of Y should have a document. The result
    depends on the seed, not on ``jobs``, the number of threads (default: one a core). With a
    ``shard`` some of the blocks are trained, to the last bit as they are among all.
    """
    descend = _compiled()
    # Words in falling frequency: the weights in use most of the time stay in the cache.
    order = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
    X = X[:, order].astype(np.float32)
    X.sort_indices()
    back = np.argsort(order)
    by_label = Y.tocsc()
    counts = np.diff(by_label.indptr)
    by_frequency = np.argsort(-counts, kind="stable")
    blocks = [by_frequency[at : at + BLOCK] for at in range(0, len(by_frequency), BLOCK)]
    if shard is not None:
        if shard.of > len(blocks):
            raise LabelwiseError(
                f"{len(by_frequency):,} labels, {BLOCK} at a time, make {len(blocks):,} shards at "
                f"most, not {shard.of:,}: train with fewer"
            )
        # Labels of a block share the passes over the documents, so that blocks are never parted.
        blocks = list(shard.part(blocks))

    def train(
        labels: NDArray[np.intp],
    ) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.float32]]:
        positives = by_label[:, labels].tocsr()
        W = np.zeros((X.shape[1] + 1, len(labels)), dtype=np.float32)  # the bias is the last row
        u = np.zeros((X.shape[0], len(labels)), dtype=np.float32)
        if loss == "logistic":
            # Start from the dual of the prior: α = C · p for negatives, C · (1 - p) for positives.
            share = counts[labels] / X.shape[0]
            odds = log_odds(share, highest=1 - 1e-6).astype(np.float32)
            W[-1] = odds
            u[:] = odds
            rows, columns = positives.nonzero()
            u[rows, columns] *= -1
            push = positives.toarray().astype(np.float32) - share.astype(np.float32)  # α y / C
            W[:-1] += np.float32(C) * (X.T @ push)
        descend(
            X.indptr, X.indices, X.data, positives.indptr, positives.indices,
            W, u, np.float32(C), passes, np.float32(tolerance), seed, loss == "logistic",
        )  # fmt: skip
        return labels, W[:-1][back], W[-1].copy()

    threads = jobs or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(train, labels) for labels in blocks[: threads + 1]]
        for at in range(len(blocks)):
            # A few blocks at a time: a finished one is dense, and handed on before the next.
            done = waiting.pop(0).result()
            if at + threads + 1 < len(blocks):
                waiting.append(pool.submit(train, blocks[at + threads + 1]))
            yield done


@cache
def _compiled() -> Callable[..., int]:
    try:
        import numba
    except ImportError as error:
        raise MissingExtraError("training a linear model", "linear") from error
    compiled: Callable[..., int] = numba.njit(_descend, nogil=True, fastmath=True, cache=True)
    return compiled


def _descend(  # noqa: PLR0917
    indptr: Any,
    indices: Any,
    data: Any,
    positive_indptr: Any,
    positive_indices: Any,
    W: Any,  # (columns + 1, labels), changed in place
    u: Any,  # (documents, labels): α of the squared hinge; the logit of α / C of the logistic loss
    C: Any,
    passes: int,
    tolerance: Any,
    seed: int,
    logistic: bool,
) -> int:
    """Descend until no α moves by more than tolerance · C in a pass; give back the passes made."""
    documents, bias, labels = len(indptr) - 1, W.shape[0] - 1, W.shape[1]
    one, zero, two = np.float32(1), np.float32(0), np.float32(2)
    margin = np.empty(labels, np.float32)
    step = np.empty(labels, np.float32)
    fresh = np.empty(labels, np.float32)
    y = np.empty(labels, np.float32)
    order = np.arange(documents)
    square = np.empty(documents, np.float32)  # x·x, with the constant
    for i in range(documents):
        square[i] = one
        for at in range(indptr[i], indptr[i + 1]):
            square[i] += data[at] * data[at]
    least = min(tolerance, np.float32(1e-4))
    # Most documents are far on the right side for a whole block of rare labels. Such a one is left
    # out until the next pass over all documents: the second, and then every fourth.
    awake = np.ones(documents, np.bool_)
    np.random.seed(seed)
    for done in range(passes):
        for i in range(documents - 1, 0, -1):
            other = np.random.randint(0, i + 1)
            order[i], order[other] = order[other], order[i]
        largest = zero
        everything = done <= 1 or done % 4 == 0 or done == passes - 1
        for i in order:  # type: ignore[assignment]
            if not (everything or awake[i]):
                continue
            for k in range(labels):
                y[k] = -one
                margin[k] = W[bias, k]
            for at in range(positive_indptr[i], positive_indptr[i + 1]):
                y[positive_indices[at]] = one
            for at in range(indptr[i], indptr[i + 1]):
                row = W[indices[at]]
                for k in range(labels):
                    margin[k] += data[at] * row[k]
            moved = zero
            support = zero  # the largest α of the squared hinge
            if logistic:
                # α = C σ(u). The minimum along one α solves u + y f + x² (C σ(u) - α) = 0, where
                # f is the score now: rising in u with slope 1 at least, so Newton gets there fast.
                for k in range(labels):
                    old = C / (one + np.exp(-u[i, k]))
                    now, new = u[i, k], old
                    for _ in range(3):
                        gradient = now + y[k] * margin[k] + square[i] * (new - old)
                        now -= gradient / (one + square[i] * new * (one - new / C))
                        new = C / (one + np.exp(-now))
                    step[k] = (new - old) * y[k]
                    moved = max(moved, abs(new - old))
                    fresh[k] = now
            else:
                slope = one / (square[i] + one / (two * C))
                for k in range(labels):
                    old = u[i, k]
                    gradient = y[k] * margin[k] - one + old / (two * C)
                    new = max(old - gradient * slope, zero)
                    step[k] = (new - old) * y[k]
                    moved = max(moved, abs(new - old))
                    fresh[k] = new
                    support = max(support, new)
            largest = max(largest, moved)
            awake[i] = support > zero or moved > least * C
            if moved > least * C:  # else nothing is lost: the same step is seen in the next pass
                for k in range(labels):
                    u[i, k] = fresh[k]
                for at in range(indptr[i], indptr[i + 1]):
                    row = W[indices[at]]
                    for k in range(labels):
                        row[k] += data[at] * step[k]
                for k in range(labels):
                    W[bias, k] += step[k]
        if everything and largest <= tolerance * C:
            return done + 1
    return passes
