"""``labelwise calibrate --on``: scores become chances on documents like those to come."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

from labelwise.cli.evaluate import command_line
from labelwise.cli.output import note, print_json, print_table, print_wide_table
from labelwise.cli.sampled import write_record
from labelwise.errors import LabelwiseError


def calibrate_on(
    bundle: Path,
    on: Path,
    out: Path,
    *,
    thesaurus: Path | None,
    name: str | None,
    results: Path,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Calibrate a bundle on a labelled file, write it, and write what documents held out say."""
    from labelwise import bundle as bundles
    from labelwise.cli.labelled_file import file_name, known_thesaurus, named_after_data, score_file
    from labelwise.corpus.dataset import digest_of
    from labelwise.corpus.skipped import Skipped
    from labelwise.evaluation.calibration_records import (
        assigned_table,
        precision_table,
        reliability_table,
        without_a_look,
    )
    from labelwise.evaluation.held_out import FOLDS, calibrate
    from labelwise.evaluation.runs import current_versions

    started = time.perf_counter()
    method, card = bundles.load(bundle), bundles.describe(bundle)["card"]
    known = known_thesaurus(thesaurus, card, bundle)
    skipped = Skipped() if skip_bad else None
    method.calibration = None
    found = score_file(method, on, thesaurus=known, skipped=skipped)
    if skipped and skipped.count:
        note(skipped.summary())
    gold = found.space.gold(found.documents).toarray() > 0
    before, seed = method.threshold, int(method.settings.seed)
    card |= {"name": name} if name else {}
    named = named_after_data(method, card)
    at = f"{file_name(on)}/{named}/calibration-seed-{seed}.json"
    made = calibrate(found.scores, gold, found.space, threshold=before, record=at)
    method.calibration, method.threshold = made.calibration, made.threshold
    card = {**card, "command": command_line(str(card.get("command", "")))}
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
    path = write_record(results, "calibration", record)
    if as_json:
        print_json({"bundle": str(out), **record})
    else:
        for table in (reliability_table, assigned_table, precision_table):
            print_wide_table(table(record))
        print(f"RP@5: {made.rp5['before']:.3f} before, {made.rp5['after']:.3f} after")
        print(f"threshold: {before:.4f} before, {made.threshold:.4f} after")
        print(without_a_look(record))
    note(f"wrote {path}")
    note(f"Next: labelwise tag act.html --bundle {out} --precision 0.8 --best 3")


def calibrate_like(bundle: Path, like: Path, out: Path, *, name: str | None, as_json: bool) -> None:
    """Give a bundle what was chosen for its twin, which was trained on fewer documents."""
    from labelwise import bundle as bundles

    method, twin = bundles.load(bundle), bundles.load(like)
    if twin.name != method.name:
        raise LabelwiseError(f"{like} is a {twin.name}, and {bundle} a {method.name}")
    if twin.calibration is None:
        raise LabelwiseError(f"{like} is not calibrated: labelwise calibrate {like} --on FILE")
    method.threshold, method.unseen = twin.threshold, twin.unseen
    method.calibration = twin.calibration
    card = bundles.describe(bundle)["card"]
    card |= {"command": command_line(str(card.get("command", "")))}
    card |= {"name": name} if name else {}
    card |= {"twin": bundles.as_twin(like)}
    bundles.save(method, out, card=card)
    said = {"method": method.name, "threshold": method.threshold, "bundle": str(out)}
    if as_json:
        print_json(said)
    else:
        print_table(list(said), [[str(one) for one in said.values()]], left=("method", "bundle"))
