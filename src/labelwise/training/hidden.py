"""Labels hidden from training in a prepared corpus, so that one corpus serves every draw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise.corpus.hidden import Hiding
from labelwise.training.prepared import NumberedSplit, Prepared


def hide_prepared(
    prepared: Prepared, test: NumberedSplit | None, hiding: Hiding
) -> tuple[Prepared, NumberedSplit | None]:
    """The view of a prepared corpus, and of its test split, that ``corpus.hidden`` has of a data
    set. The vocabulary stays that of all training documents."""
    space = prepared.label_space
    is_hidden = np.isin(space.ids, list(hiding.labels(space)))  # (L,)
    gold = prepared.train.gold.tocoo()
    kept = ~is_hidden[gold.col]
    cut = sp.csr_matrix((gold.data[kept], (gold.row[kept], gold.col[kept])), shape=gold.shape)
    train = replace(prepared.train, gold=cut)
    if hiding.drop:
        lost = np.isin(np.arange(len(train.ids)), gold.row[~kept])
        train = _only(train, ~lost)
    counts = np.asarray(train.gold.sum(axis=0, dtype=np.int64)).ravel()
    view = space.recounted(dict(zip(space.ids, counts.tolist(), strict=True)))
    order = [space.index[id] for id in view.ids]

    def reordered(split: NumberedSplit) -> NumberedSplit:
        gold: Any = split.gold[:, order]
        gold.sort_indices()
        return replace(split, gold=gold)

    made = replace(prepared, label_space=view, train=reordered(train), dev=reordered(prepared.dev))
    return made, reordered(test) if test is not None else None


def _only(split: NumberedSplit, documents: NDArray[np.bool_]) -> NumberedSplit:
    """Some documents of a split."""
    sections = np.repeat(documents, np.diff(split.document_starts))  # (S,) whether it is kept
    tokens = np.repeat(sections, np.diff(split.section_starts))  # (N,)
    return NumberedSplit(
        ids=[id for id, kept in zip(split.ids, documents, strict=True) if kept],
        tokens=split.tokens[tokens],
        section_starts=_starts(np.diff(split.section_starts)[sections]),
        document_starts=_starts(np.diff(split.document_starts)[documents]),
        gold=split.gold[documents],
    )


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
