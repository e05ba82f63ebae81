"""The measures of a run: P@K, R@K, RP@K, nDCG@K, micro-F1 and macro-F1, by group of labels.

To score a group, both the ranking and the gold labels are cut to the group's labels first;
documents without a gold label in the group are skipped, and the number kept is reported. F1 counts
all documents. Macro-F1 is the mean over the labels that are gold or predicted somewhere: of the
others F1 is not defined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation.chance import chance_level
from labelwise.evaluation.counts import DEPTH, MICRO_F1, RANKED, VIEWS, Counts, bitmask
from labelwise.evaluation.label_counts import LabelCounts
from labelwise.evaluation.ranking import NO_LABEL, Keys, highest, key_labels, ranking_keys

KS = range(1, DEPTH + 1)

MACRO_F1 = ("macro-F1", "macro-F1 tuned")

BLOCK = 1 << 20
"""Scores worked on at a time: what is made beside the scores stays within some 30 MB."""


@dataclass(frozen=True)
class Measures:
    """The figures of one split: ``measures["zero"]["RP@5"]``, and the chance level beside them.

    Besides the measures a group holds ``documents``, how many were kept. A figure that no document
    takes part in is NaN.
    """

    values: dict[str, dict[str, float]]
    chance: dict[str, dict[str, float]]
    counts: Counts
    labels: LabelCounts | None = None

    def __getitem__(self, group: str) -> dict[str, float]:
        return self.values[group]


@dataclass(frozen=True)
class _Block:
    """Consecutive documents: their ranking keys by group, and the labels above each threshold."""

    documents: slice
    keys: list[Keys]  # one array a group, documents × places
    predicted: Sequence[tuple[NDArray[Any], ...]]  # one (rows, columns) a threshold


def evaluate(
    scores: NDArray[np.float32],
    gold: Any,
    label_space: LabelSpace,
    *,
    threshold: float = 0.5,
    tuned_threshold: float | None = None,
    ks: Iterable[int] = KS,
    unranked: ArrayLike = (),
) -> Measures:
    """Measure scores (documents × labels) against gold (the same shape, sparse or dense).

    Scores are compared in single precision, as methods give them. A label is predicted where its
    score is above the threshold; ``tuned_threshold`` adds F1 at the threshold chosen on dev.
    ``unranked`` are the columns of labels that the method does not know: whatever their scores,
    they stand in no ranking and are never predicted, so that each is missed where it is gold.
    """
    scores = np.asarray(scores)
    gold = _checked_gold(gold, scores.shape, label_space)
    thresholds = _thresholds(threshold, tuned_threshold)
    groups = list(label_space.groups.values())
    columns, unknown = np.arange(len(label_space)), np.asarray(unranked, dtype=np.int64)

    def blocks() -> Iterator[_Block]:
        for documents in block_slices(*gold.shape):
            block = checked_block(scores, documents)
            keys = ranking_keys(block, columns)
            if len(unknown):
                keys[:, unknown] = NO_LABEL
                block = block.copy()
                block[:, unknown] = -np.inf
            yield _Block(
                documents,
                [keys[:, group] for group in groups],
                [np.nonzero(block > limit) for limit in thresholds],
            )

    return _measure(blocks(), gold, label_space, len(thresholds), _checked_ks(ks))


def evaluate_topk(
    ranked: ArrayLike,
    scores: ArrayLike,
    gold: Any,
    label_space: LabelSpace,
    *,
    threshold: float = 0.5,
    tuned_threshold: float | None = None,
    ks: Iterable[int] = KS,
) -> Measures:
    """Measure lists of the best labels: columns (documents × places, -1 where empty) and scores.

    The lists are put in order by score, then by label, like dense scores. A label that is not
    listed counts as ranked last and not predicted. A group's figures are exact only where the list
    reaches deep enough: ``"rankings cut short"`` of a group is the number of kept documents that
    list fewer labels of the group than the deepest K asks for (longer lists can only raise P, R, RP
    and nDCG), ``"predictions cut short"`` the number of documents whose last listed label is still
    above a threshold (longer lists may change F1). Both are zero where the figures are exact.
    """
    listed = np.asarray(ranked)
    scores = np.asarray(scores)
    _check_lists(listed, scores, label_space)
    scores = np.where(listed < 0, -np.inf, scores)
    gold = _checked_gold(gold, (len(listed), len(label_space)), label_space)
    thresholds, ks = _thresholds(threshold, tuned_threshold), _checked_ks(ks)
    groups = list(label_space.groups.values())

    def blocks() -> Iterator[_Block]:
        for documents in block_slices(*gold.shape):
            labels = listed[documents]
            block = checked_block(scores, documents)
            keys = ranking_keys(block, np.maximum(labels, 0))
            predicted = []
            for limit in thresholds:
                rows, places = np.nonzero(block > limit)
                predicted.append((rows, labels[rows, places]))
            of_group = [(labels >= group.start) & (labels < group.stop) for group in groups]
            yield _Block(documents, [np.where(own, keys, NO_LABEL) for own in of_group], predicted)

    measures = _measure(blocks(), gold, label_space, len(thresholds), ks)
    complete = (listed >= 0).sum(axis=1) == len(label_space)
    last = np.where(listed < 0, np.inf, scores).min(axis=1, initial=np.inf)
    above = int((~complete & (last > min(thresholds)) & (last < np.inf)).sum())
    for view in VIEWS:
        columns = view_columns(label_space, "all" if view == "zero-among-all" else view)
        depth = ((listed >= columns.start) & (listed < columns.stop)).sum(axis=1)
        short = depth < min(max(ks), columns.stop - columns.start)
        kept = measures.counts.gold_labels(view) > 0
        measures[view]["rankings cut short"] = int((short & kept).sum())
        measures[view]["predictions cut short"] = above
    return measures


def without_ties(
    measures: Measures, scores: NDArray[np.float32], label_space: LabelSpace
) -> Measures:
    """The figures without the ranked ones of each group of labels that have one and the same score
    in every document: the order of such labels is that of the thesaurus, and no skill."""
    values = dict(measures.values)
    for group, columns in label_space.groups.items():
        own = scores[:, columns]
        if own.shape[1] > 1 and (own == own[:, :1]).all():
            ranked = [name for name in values[group] if name.split("@")[0] in RANKED]
            values[group] = values[group] | dict.fromkeys(ranked, float("nan"))
    return replace(measures, values=values)


def run_figures(
    scores: NDArray[np.float32],
    gold: Any,
    label_space: LabelSpace,
    *,
    tuned_threshold: float | None,
    unranked: ArrayLike = (),
) -> Measures:
    """The figures that a run keeps: those of ``evaluate``, and none of a ranking that is none."""
    found = evaluate(scores, gold, label_space, tuned_threshold=tuned_threshold, unranked=unranked)
    return without_ties(found, scores, label_space)


def gold_matrix(gold: Any) -> sp.csr_matrix:
    """Gold labels, sparse or dense, with each one stored once and nothing else stored."""
    matrix = sp.csr_matrix(gold, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def view_columns(label_space: LabelSpace, view: str) -> slice:
    """The columns whose gold labels count in a view."""
    if view == "all":
        return slice(0, len(label_space))
    return label_space.groups["zero" if view == "zero-among-all" else view]  # type: ignore[index]


def checked_block(scores: NDArray[Any], documents: slice) -> NDArray[np.float32]:
    """Some documents' scores in single precision; NaN is an error, since it cannot be ranked."""
    block = np.asarray(scores[documents], dtype=np.float32)
    missing = np.isnan(block)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise LabelwiseError(
            f"the score in row {documents.start + row}, column {column} is NaN, which cannot be "
            "ranked: mend the method that made it"
        )
    return block


def _measure(
    blocks: Iterable[_Block], gold: sp.csr_matrix, space: LabelSpace, thresholds: int, ks: list[int]
) -> Measures:
    """Count block by block, then turn the counts into figures."""
    counts, predicted, right = _count(blocks, gold, space, thresholds)
    gold_counts = np.bincount(gold.indices, minlength=len(space))
    by_label = LabelCounts(gold_counts, predicted, right, space)
    of_label = by_label.f1
    values, chance = summary(counts, ks), {}
    for view in VIEWS:
        columns = view_columns(space, view)
        for name, figures in zip(MACRO_F1, of_label[:, columns], strict=False):
            defined = figures[~np.isnan(figures)]
            values[view][name] = float(defined.mean()) if len(defined) else float("nan")
        ranked = len(space) if view == "zero-among-all" else columns.stop - columns.start
        chance[view] = chance_level(counts.gold_labels(view), ranked, ks)
    return Measures(values, chance, counts, by_label)


def _count(
    blocks: Iterable[_Block], gold: sp.csr_matrix, space: LabelSpace, thresholds: int
) -> tuple[Counts, NDArray[np.int64], NDArray[np.int64]]:
    """The counts of each document, and how often each label is predicted and rightly so."""
    documents, labels = gold.shape
    groups = list(space.groups.values())
    group_of = np.repeat(np.arange(len(groups)), [group.stop - group.start for group in groups])
    zero = space.groups["zero"].start
    hits = np.zeros((len(VIEWS), documents), dtype=np.uint16)
    # Labels above the threshold, and the gold ones among them.
    by_document = np.zeros((2, thresholds, len(groups), documents), dtype=np.int32)
    by_label = np.zeros((2, thresholds, labels), dtype=np.int64)
    for block in blocks:
        is_gold = gold[block.documents].toarray().astype(bool)
        tops = [highest(keys, DEPTH) for keys in block.keys]
        # The best of all labels are among the best of each group.
        overall = key_labels(highest(np.concatenate(tops, axis=1), DEPTH))
        rankings = [overall, *map(key_labels, tops), np.where(overall >= zero, overall, -1)]
        for view, ranking in enumerate(rankings):
            found = np.take_along_axis(is_gold, np.maximum(ranking, 0), axis=1) & (ranking >= 0)
            hits[view, block.documents] = bitmask(found)
        size = len(is_gold)
        for threshold, (rows, columns) in enumerate(block.predicted):
            right = is_gold[rows, columns]
            for kind, (row, column) in enumerate(((rows, columns), (rows[right], columns[right]))):
                cells = np.bincount(group_of[column] * size + row, minlength=len(groups) * size)
                by_document[kind, threshold, :, block.documents] = cells.reshape(len(groups), size)
                by_label[kind, threshold] += np.bincount(column, minlength=labels)
    gold_counts = np.stack([np.diff(gold[:, group].indptr) for group in groups])
    return Counts(hits, gold_counts, *by_document), by_label[0], by_label[1]


def summary(counts: Counts, ks: Sequence[int] = KS) -> dict[str, dict[str, float]]:
    """All that follows from the counts: documents kept, the ranked measures, micro-F1."""
    names = [f"{name}@{k}" for name in RANKED for k in ks]
    names += MICRO_F1[: len(counts.predicted)]
    return {
        view: {
            "documents": int((counts.gold_labels(view) > 0).sum()),
            **{name: counts.value(view, name) for name in names},
        }
        for view in VIEWS
    }


def _thresholds(threshold: float, tuned: float | None) -> list[np.float32]:
    return [np.float32(limit) for limit in (threshold, tuned) if limit is not None]


def block_slices(documents: int, labels: int) -> Iterator[slice]:
    step = max(1, BLOCK // max(1, labels))
    for start in range(0, documents, step):
        yield slice(start, min(start + step, documents))


def _checked_ks(ks: Iterable[int]) -> list[int]:
    checked = list(ks)
    if not checked or min(checked) < 1 or max(checked) > DEPTH:
        raise LabelwiseError(f"K must be from 1 to {DEPTH}, not {checked}")
    return checked


def _checked_gold(gold: Any, shape: tuple[int, ...], label_space: LabelSpace) -> sp.csr_matrix:
    if len(shape) != 2 or shape[1] != len(label_space):
        raise LabelwiseError(
            f"the scores have the shape {shape}, but the label space has {len(label_space)} "
            "labels: scores are documents × labels, in label order"
        )
    matrix = gold_matrix(gold)
    if matrix.shape != shape:
        raise LabelwiseError(
            f"the gold labels have the shape {matrix.shape}, but the scores {shape}: both are "
            "documents × labels"
        )
    return matrix


def _check_lists(listed: NDArray[Any], scores: NDArray[Any], label_space: LabelSpace) -> None:
    if listed.ndim != 2 or listed.dtype.kind not in "iu":
        raise LabelwiseError("the ranked labels are whole numbers, documents × places")
    if scores.shape != listed.shape:
        raise LabelwiseError(
            f"the ranked labels have the shape {listed.shape}, but their scores {scores.shape}"
        )
    if listed.size and not -1 <= listed.min() <= listed.max() < len(label_space):
        raise LabelwiseError(
            f"the ranked labels run from {listed.min()} to {listed.max()}, but the label space "
            f"has the columns 0 to {len(label_space) - 1} (-1 stands for an empty place)"
        )
    in_order = np.sort(listed, axis=1)
    repeated = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] >= 0)
    if repeated.any():
        row, place = np.argwhere(repeated)[0]
        raise LabelwiseError(
            f"the list in row {row} names the label in column {in_order[row, place]} twice"
        )
