"""Scores become chances on documents like those to come."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.corpus.dataset import digest_of
from labelwise.corpus.skipped import Skipped
from labelwise.errors import LabelwiseError
from labelwise.evaluation.held_out import FOLDS, calibrate
from labelwise.evaluation.runs import current_versions
from labelwise.experiments.data import commands
from labelwise.experiments.labelled_file import (
    file_name,
    known_thesaurus,
    named_after_data,
    score_file,
)
from labelwise.experiments.sampled import write_record
from labelwise.methods import Method
from labelwise.progress import note


def calibrate_on(
    bundle: Path,
    on: Path,
    out: Path,
    *,
    thesaurus: Path | None,
    name: str | None,
    results: Path,
    skip_bad: bool,
    command: str,
) -> tuple[dict[str, Any], Path]:
    """Calibrate a bundle on a labelled file, write it, and write what documents held out say: the
    record, and where it stands."""
    bundles.check_writable(out)
    started = time.perf_counter()
    method, card = bundles.load(bundle), bundles.describe(bundle)["card"]
    known = known_thesaurus(thesaurus, card, bundle)
    skipped = Skipped() if skip_bad else None
    method.calibration = None
    found = score_file(method, on, thesaurus=known, card=card, skipped=skipped)
    if skipped and skipped.count:
        note(skipped.summary())
    if not any(
        label in method.label_space.index for one in found.documents for label in one.labels
    ):
        raise LabelwiseError(
            f"{on}: not one gold label is a label of {bundle}: such documents say nothing of its "
            "scores"
        )
    gold = found.space.gold(found.documents).toarray() > 0
    before, seed = method.threshold, int(method.settings.seed)
    card |= {"name": name} if name else {}
    named = named_after_data(method, card)
    at = f"{file_name(on)}/{named}/calibration-seed-{seed}.json"
    made = calibrate(found.scores, gold, found.space, threshold=before, record=at)
    method.calibration, method.threshold = made.calibration, made.threshold
    card = {**card, "command": commands(card, command)}
    bundles.save(method, out, card=card)
    record = {
        "method": named,
        "seed": seed,
        "documents": len(found.documents),
        "folds": FOLDS,
        "threshold before": before,
        **made.to_json(),
        "data": {
            "name": file_name(on),
            "fingerprint": digest_of([on]),
            "counts": {"gold": int(gold.sum()), **found.unknown_counts},
            "trained_on": card.get("data", {}).get("name", ""),
        },
        "settings": dataclasses.asdict(method.settings),
        "versions": current_versions(),
        "seconds": round(time.perf_counter() - started, 3),
        "command": card["command"],
    }
    return record, write_record(results, "calibration", record)


def calibrate_like(
    bundle: Path, like: Path, out: Path, *, name: str | None, command: str
) -> Method:
    """Give a bundle what was chosen for its twin, which was trained on fewer documents."""
    bundles.check_writable(out)
    method, twin = bundles.load(bundle), bundles.load(like)
    if twin.name != method.name:
        raise LabelwiseError(f"{like} is a {twin.name}, and {bundle} a {method.name}")
    if twin.calibration is None:
        raise LabelwiseError(f"{like} is not calibrated: labelwise calibrate {like} --on FILE")
    method.take_over(twin)
    card = bundles.describe(bundle)["card"]
    card |= {"command": commands(card, command)}
    card |= {"name": name} if name else {}
    card |= {"twin": bundles.as_twin(like)}
    bundles.save(method, out, card=card)
    return method
