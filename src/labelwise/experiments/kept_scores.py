"""The best labels that a training keeps of each document: ``METHOD-SEED.scores.npz``.

A network may be trained where there is a GPU, and blended with a linear model where there is none.
What it said of the dev and test documents then need not be asked again: the best labels of each
group and their log-odds are enough, for what it ranks lower does not come to the top of a blend.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labelwise import bundle as bundles
from labelwise.corpus.labels import LabelSpace
from labelwise.evaluation.odds import sigmoid
from labelwise.evaluation.ranking import top_k
from labelwise.evaluation.runs import DataRecord
from labelwise.files import ARCHIVE_FAULTS, write_whole
from labelwise.methods import Scores
from labelwise.methods.blend import member_odds

KEPT = {"frequent": 100, "few": 150, "zero": 200}
"""Labels kept of each group for each document: enough for every K, every group, F1, and for a blend
with another method, whose best labels need not be these."""

LOWEST = 1e-30
"""Of a probability: low ones still rank unseen labels."""


def kept_file(bundle: Path) -> Path:
    """Where the scores of a bundle are kept: beside it."""
    return bundle.with_suffix(".scores.npz")


def write_kept(
    bundle: Path, scores: Mapping[str, Scores], space: LabelSpace, data: DataRecord
) -> None:
    """Keep the scores of each split beside the bundle, and say what they are of."""
    arrays: dict[str, Any] = {
        f"{split}.{name}": array
        for split, of in scores.items()
        for name, array in best_labels(of, space).items()
    }
    arrays["of"] = np.array(_digest(bundle, data))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_whole(kept_file(bundle), buffer.getvalue())


def read_kept(bundle: Path, split: str, space: LabelSpace, data: DataRecord) -> Scores | None:
    """The scores of a split as they were kept: None where none were, or those of another bundle or
    of other documents.

    What was not kept of a group is as low as the lowest that was.
    """
    if not kept_file(bundle).is_file():
        return None
    try:
        with np.load(kept_file(bundle), allow_pickle=False) as kept:
            if str(kept.get("of")) != _digest(bundle, data) or f"{split}.columns" not in kept:
                return None
            columns, odds = kept[f"{split}.columns"], kept[f"{split}.log_odds"].astype(np.float32)
    except ARCHIVE_FAULTS as error:
        warnings.warn(
            f"{kept_file(bundle)}: the scores that were kept are damaged ({error}), so that the "
            "documents are scored again",
            stacklevel=2,
        )
        return None
    found = np.empty((len(columns), len(space)), dtype=np.float32)
    at = 0
    for group, part in space.groups.items():
        size = min(KEPT[group], part.stop - part.start)
        if size:
            found[:, part] = odds[:, at : at + size].min(axis=1, keepdims=True)
        at += size
    np.put_along_axis(found, columns, odds, axis=1)
    return sigmoid(found.astype(np.float64)).astype(np.float32)


def best_labels(scores: Scores, space: LabelSpace) -> dict[str, np.ndarray[Any, Any]]:
    """The best columns of each group, and the log-odds of their scores in half precision."""
    columns = np.concatenate(
        [
            top_k(scores[:, part], min(KEPT[group], part.stop - part.start)) + part.start
            for group, part in space.groups.items()
            if part.stop > part.start
        ],
        axis=1,
    )
    best = member_odds(np.take_along_axis(scores, columns, axis=1), floor=LOWEST)
    return {"columns": columns.astype(np.int32), "log_odds": best.astype(np.float16)}


def _digest(bundle: Path, data: DataRecord) -> str:
    return f"{bundles.describe(bundle)['digest']} on {data.fingerprint}"
