"""How saved models become one, weighed on dev."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from labelwise import bundle as bundles
from labelwise.errors import LabelwiseError
from labelwise.experiments.training_data import TrainingData
from labelwise.experiments.trainings import compared
from labelwise.methods import Method, Scores, get
from labelwise.methods.base import Joining


def model_digest(bundle: str | Path) -> str:
    """Of what a bundle answers by: the same for two trainings that gave the same model, however
    long they took and by whatever command, and whether or not it keeps where its labels stand. That
    of the bundle covers its card too."""
    manifest = bundles.describe(bundle)
    answers = {name: manifest.get(name) for name in ("method", "threshold", "unseen")}
    answers["calibration"] = (manifest.get("calibration") or {}).get("curves")
    answers["settings"] = compared(manifest["settings"], get(manifest["method"]).Settings)
    answers["files"] = sorted(
        one["sha256"] for what, one in manifest["files"].items() if what != "thesaurus"
    )
    return hashlib.sha256(json.dumps(answers, sort_keys=True).encode()).hexdigest()


def member_digests(members: Sequence[str | Path]) -> dict[str, str]:
    """What is joined from bundles is stale once one of them has another digest.

    Members of one name (``a/svm.bundle``, ``b/svm.bundle``) are told apart by their numbers among
    all members, ``1/svm`` and ``2/svm``: no folder is called so.
    """
    names = [Path(path).name.removesuffix(".bundle") for path in members]
    called = [
        name if names.count(name) == 1 else f"{number}/{name}"
        for number, name in enumerate(names, start=1)
    ]
    digests = [model_digest(path) for path in members]
    return dict(zip(called, digests, strict=True))


def joined(
    cls: type[Method], members: Sequence[Method], documents: TrainingData, splits: Sequence[str]
) -> tuple[Method, dict[str, Scores]]:
    """A method made of saved ones, and its scores of each split."""
    if not issubclass(cls, Joining):
        raise LabelwiseError(f"{cls.name} is not made by joining")
    method = cls.from_methods(members)
    of_members = {
        split: [documents.scores(member, split) for member in members] for split in splits
    }
    method.choose(of_members["dev"], documents.gold("dev"))
    return method, {split: method.joined(scores) for split, scores in of_members.items()}
