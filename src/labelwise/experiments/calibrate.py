"""Unseen labels take their place in the one list, as models with hidden labels say."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.corpus.dataset import Additions
from labelwise.corpus.hidden import Hiding
from labelwise.errors import CallError, LabelwiseError
from labelwise.evaluation.threshold import tune_threshold
from labelwise.evaluation.unseen_scale import (
    Lists,
    Loss,
    Placed,
    UnseenScale,
    choose_scale,
    described,
    lists_of,
    placed,
)
from labelwise.experiments.data import commands, hiding_of_card
from labelwise.experiments.measured import write_run
from labelwise.experiments.training_data import Documents, Kept, Numbers, TrainingData
from labelwise.methods import Method
from labelwise.methods.base import Widening


@dataclass(frozen=True)
class Calibrated:
    """What was chosen: on hidden labels, and what it does to the model itself on dev."""

    method: str
    on_hidden: Placed
    before: Placed
    after: Placed
    card: dict[str, Any]
    """What the bundle says of it."""


def calibrate_unseen(
    bundle: Path,
    hidden: Sequence[Path],
    out: Path,
    *,
    data: Path | None,
    additions: Additions,
    prepared: Path | None,
    most_lost: Loss,
    name: str | None,
    results: Path | None = None,
    command: str,
) -> Calibrated:
    """Put the unseen labels of a bundle on the scale of the others, and write it; with
    ``results``, measure it on dev and test and write the run there."""
    if data is None and prepared is None:
        raise CallError("--data (or LABELWISE_DATA) or --prepared is needed")
    bundles.check_writable(out)
    card = bundles.describe(bundle)["card"]
    method = bundles.load(bundle)
    _check(bundle, method, hidden)
    unseen = int((method.label_space.counts == 0).sum())
    chosen_on: list[Lists] = []
    for path in hidden:
        draw = bundles.load(path)
        hiding = hiding_of_card(bundles.describe(path)["card"])
        documents = _kept(path, draw, _documents(data, additions, prepared, hiding))
        _check_labels(path, draw, documents)
        zero = int((draw.label_space.counts == 0).sum())
        parts = max(1, round(zero / unseen))
        chosen_on += lists_of(
            documents.scores(draw, "dev"), documents.gold("dev"), draw.label_space, parts
        )
    best = choose_scale(chosen_on, most_lost=most_lost)

    documents = _kept(bundle, method, _documents(data, additions, prepared, hiding_of_card(card)))
    _check_labels(bundle, method, documents)
    method.unseen = method.calibration = None
    splits = ["dev", "test"] if results is not None else ["dev"]
    scores = {split: documents.scores(method, split) for split in splits}
    gold = {split: documents.gold(split) for split in splits}
    own = lists_of(scores["dev"], gold["dev"], method.label_space)
    before = described(own, UnseenScale(1.0, 0.0))
    after = placed(own, best.scale.slope, best.allowed)
    method.unseen = after.scale
    scores = {split: method.placed(of) for split, of in scores.items()}
    method.threshold = tune_threshold(scores["dev"], gold["dev"])

    made = {
        "draws": [bundles.describe(path)["card"]["data"]["name"] for path in hidden],
        "parts": len(chosen_on),
        "allowed": dataclasses.asdict(best.allowed),
        "on hidden labels": figures(best),
        "on dev before": figures(before),
        "on dev": figures(after),
    }
    card |= {"unseen": made, "command": commands(card, command)} | ({"name": name} if name else {})
    bundles.save(method, out, card=card)
    if results is not None:
        write_run(results, method, scores, gold, splits, record=documents.record, card=card)
    return Calibrated(method.name, best, before, after, made)


def _documents(
    data: Path | None, additions: Additions, prepared: Path | None, hiding: Hiding | None
) -> TrainingData:
    if prepared is not None:
        return Numbers(prepared, None, hiding)
    assert data is not None
    return Documents(data, additions, hiding)


def _kept(path: Path, method: Method, documents: TrainingData) -> TrainingData:
    """The same, with what was kept of the model's scores, if those are as it was trained."""
    as_trained = method.unseen is None and method.calibration is None
    return Kept(documents, {str(path): method}) if as_trained else documents


def _check(path: Path, method: Method, hidden: Sequence[Path]) -> None:
    """The models must be of one kind, and one that can know a label it was not trained for."""
    if not isinstance(method, Widening):
        raise LabelwiseError(
            f"{path}: {method.name} scores a label that no training document carries by chance: no "
            "place in the list is the right one"
        )
    if (method.label_space.counts > 0).all():
        raise LabelwiseError(
            f"{path} has no unseen label: what its seen labels would lose to one, and so the place "
            "of one, cannot be told"
        )
    for one in hidden:
        about: dict[str, Any] = bundles.describe(one)
        if about["method"] != method.name:
            raise LabelwiseError(f"{one} is a {about['method']}, and {path} a {method.name}")
        if hiding_of_card(about["card"]) is None:
            raise LabelwiseError(
                f"no label was hidden from {one}: train it with --hide, so that it has unseen "
                "labels whose documents are known"
            )


def _check_labels(path: Path, method: Method, documents: TrainingData) -> None:
    if method.label_space.fingerprint != documents.record.label_space:
        raise LabelwiseError(
            f"{path} has other labels or label counts than the data set {documents.record.name}: "
            "calibrate models that were trained on it"
        )


def figures(one: Placed) -> dict[str, float]:
    """A scale and what it does, as a card and a table show it."""
    lost = {f"lost_{what}": value for what, value in dataclasses.asdict(one.lost).items()}
    found = {"seen": one.seen, "unseen": one.unseen, "harmonic_mean": one.harmonic_mean}
    return dataclasses.asdict(one.scale) | lost | found
