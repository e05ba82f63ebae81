"""How saved models become one: what is joined from what, and weighed on dev."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from labelwise import bundle as bundles
from labelwise.errors import LabelwiseError
from labelwise.experiments.training_data import TrainingData
from labelwise.methods import Method, Scores

MEMBERS: Mapping[str, tuple[str, ...]] = {
    "blend": ("svm", "minilm-lwan", "mpnet-lwan", "lexical"),
    "ensemble-lwan": ("bigru-lwan", "z-bigru-lwan"),
}
"""Methods that are joined from others' bundles of the same seed, not trained."""


def member_digests(members: Sequence[str | Path]) -> dict[str, str]:
    """What is joined from bundles is stale once one of them has another digest."""
    return {
        Path(path).name.removesuffix(".bundle"): str(bundles.describe(path)["digest"])
        for path in members
    }


Joined = tuple[Method, dict[str, Scores]]
"""A method made of saved ones, and its scores of each split."""


def _join_lwan(members: Sequence[Method], source: TrainingData, splits: Sequence[str]) -> Joined:
    from labelwise.methods.ensemble_lwan import EnsembleLwan

    if len(members) != 2:
        raise LabelwiseError("ensemble-lwan joins two bundles: a bigru-lwan and a z-bigru-lwan")
    lwan, z = members
    of_lwan, of_z = (
        {split: source.scores(member, split) for split in splits} for member in (lwan, z)
    )
    method = EnsembleLwan.from_methods(lwan, z)
    method.scale(of_lwan["dev"], of_z["dev"], source.gold("dev"))
    return method, {split: method.joined(of_lwan[split], of_z[split]) for split in splits}


def _join_blend(members: Sequence[Method], source: TrainingData, splits: Sequence[str]) -> Joined:
    from labelwise.methods.blend import Blend

    method = Blend.from_methods(members)
    of_members = {split: [source.scores(member, split) for member in members] for split in splits}
    method.choose_weights(of_members["dev"], source.gold("dev"))
    return method, {split: method.blended(scores) for split, scores in of_members.items()}


JOINERS: Mapping[str, Callable[[Sequence[Method], TrainingData, Sequence[str]], Joined]] = {
    "blend": _join_blend,
    "ensemble-lwan": _join_lwan,
}
"""How a method is made of the saved ones that ``MEMBERS`` names."""
