"""Which trainings are finished: a run on the same data with the same settings lies in its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.errors import BundleError, LabelwiseError
from labelwise.evaluation.runs import log_path
from labelwise.experiments.corpora import Corpus
from labelwise.experiments.joining import model_digest
from labelwise.experiments.kept_scores import kept_file
from labelwise.experiments.trainings import Folders, Training, compared
from labelwise.methods import Method, get


def unfinished(
    wanted: Mapping[str, Training], corpus: Corpus, folders: Folders
) -> dict[str, Training]:
    """The trainings without a run, what is joined from one of them, and members whose bundle is
    needed again but gone, or has given way to one of other data or settings."""
    missing = {name for name, one in wanted.items() if not _is_finished(one, corpus, folders)}
    missing -= {name for name in missing if _is_from_elsewhere(wanted[name], corpus, folders)}
    missing |= {name for name, one in wanted.items() if missing.intersection(one.members)}
    for name in list(missing):
        for member in wanted[name].members:
            if not _has_bundle(wanted[member], corpus, folders):
                missing.add(member)
    for name in sorted(missing):
        if not _can_be_trained(wanted[name], corpus):
            raise LabelwiseError(
                f"{wanted[name].title}, is trained on documents, and {folders.bundle(name)} is not "
                "there: give --data too, or train it elsewhere and bring its bundle, and the file "
                f"{kept_file(folders.bundle(name)).name} beside it"
            )
    return {name: one for name, one in wanted.items() if name in missing}


def _can_be_trained(one: Training, corpus: Corpus) -> bool:
    """From numbers alone networks can, and what is joined needs no training."""
    return bool(corpus.data or one.members or get(one.method).is_network())


def _is_from_elsewhere(one: Training, corpus: Corpus, folders: Folders) -> bool:
    """Whether a member that cannot be trained here was brought as a bundle."""
    return not _can_be_trained(one, corpus) and _has_bundle(one, corpus, folders)


def _is_finished(one: Training, corpus: Corpus, folders: Folders) -> bool:
    """Whether a run on the same data with the same settings, or of the same members, lies in its
    place."""
    path = folders.results / corpus.run_name / one.method / f"seed-{one.seed}.json"
    try:
        run = json.loads(path.read_text("utf-8"))
        if run["data"]["fingerprint"] != corpus.run_fingerprint:
            return False
        if one.members:  # what is joined has the settings of its members
            return not _has_other_members(one, run.get("members", {}), corpus, folders)
        if compared(run["settings"], type(one.settings)) != one.compared:
            return False
        return not _was_cut_short(run["settings"], get(one.method)(one.settings), log_path(path))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, BundleError):
        return False


def _has_bundle(one: Training, corpus: Corpus, folders: Folders) -> bool:
    """Whether the bundle of a training lies in its place. A folder of bundles may have served
    another data set, or other settings, since."""
    try:
        if not _is_of(folders.bundle(one.name), corpus):
            return False
        manifest = bundles.describe(folders.bundle(one.name))
    except BundleError:  # damaged: it is trained again
        return False
    settings = compared(manifest["settings"], type(one.settings))
    return manifest["method"] == one.method and settings == one.compared


def _is_of(bundle: Path, corpus: Corpus) -> bool:
    """Whether there is such a bundle, trained on this data."""
    if not (bundle / bundles.MANIFEST).is_file():
        return False
    data = bundles.describe(bundle)["card"].get("data", {})
    return bool(data.get("fingerprint", corpus.run_fingerprint) == corpus.run_fingerprint)


def _has_other_members(
    one: Training, digests: Mapping[str, str], corpus: Corpus, folders: Folders
) -> bool:
    """Whether a run was joined from others than the members of now. Without the digest of a member
    nobody can tell, so that it is joined anew; a bundle that is gone has not changed, nor has one
    whose place another data set took."""
    if not all(digests.get(name) for name in one.members):
        return True
    there = [name for name in one.members if _is_of(folders.bundle(name), corpus)]
    return not all(digests[name] in _digests(folders.bundle(name)) for name in there)


def _digests(bundle: Path) -> tuple[str, str]:
    """What a run may name a member by; older ones name the digest of its bundle, card and all."""
    return model_digest(bundle), str(bundles.describe(bundle)["digest"])


def _was_cut_short(had: Mapping[str, Any], wanted: Method, log: Path) -> bool:
    """Whether the clock ended the training of a run, where more time is given now."""
    allowed, now = had.get("max_seconds"), None
    if wanted.recipe is not None:
        now = wanted.recipe.max_seconds
    if allowed is None or (now is not None and now <= allowed):
        return False
    end = json.loads(log.read_text("utf-8").splitlines()[-1])
    done = end["epoch"] + 1 >= had["epochs"] or end["epoch"] - end["best_epoch"] >= had["patience"]
    return not done
