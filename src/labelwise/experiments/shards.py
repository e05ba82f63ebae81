"""Linear models by shards of labels: each trained alone, then joined to what one training gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise.corpus.shard import Shard
from labelwise.errors import LabelwiseError
from labelwise.experiments.training_data import Documents
from labelwise.methods import Method, Scores
from labelwise.methods.base import Sharding, require_as_trained

OF_EACH = ("shard", "seconds", "peak_memory", "command", "versions")
"""What the cards of shards of one training differ in."""


def set_shard(model: Method, shard: str | Shard | None) -> None:
    """Tell a method which part of the labels it trains."""
    if shard is None:
        return
    if not isinstance(model, Sharding):
        raise LabelwiseError(
            f"{model.name} learns all labels together, so --shard is not for it: svm and logistic "
            "are trained by shards"
        )
    model.shard = Shard.parse(shard) if isinstance(shard, str) else shard


def joined_shards(
    paths: Sequence[str | Path],
    members: Sequence[Method],
    cards: Sequence[Mapping[str, Any]],
    documents: Documents,
    splits: Sequence[str],
) -> tuple[Method, dict[str, Scores]]:
    """The model that one training gives, and its scores of some splits."""
    require_as_trained(members)
    _require_shards_of_one(paths, members, cards)
    shards = [one for one in members if isinstance(one, Sharding)]
    whole = type(shards[0]).from_shards(shards, documents.dataset.dev)
    return whole, {split: documents.scores(whole, split) for split in splits}


def _require_shards_of_one(
    paths: Sequence[str | Path], members: Sequence[Method], cards: Sequence[Mapping[str, Any]]
) -> None:
    """Raise an error where these are not the shards of one training, each of them once."""
    found: dict[int, str | Path] = {}
    of = 0
    for path, one, card in zip(paths, members, cards, strict=True):
        if "shard" not in card:
            raise LabelwiseError(f"{path} is not a shard: it was not trained with --shard")
        shard = Shard.parse(card["shard"])
        alike = {key: value for key, value in card.items() if key not in OF_EACH}
        of_first = {key: value for key, value in cards[0].items() if key not in OF_EACH}
        first = members[0]
        if (one.name, one.settings, alike) != (first.name, first.settings, of_first):
            raise LabelwiseError(
                f"{path} is a shard of another training than {paths[0]}: join what was trained by "
                "one method with the same settings and data"
            )
        of = of or shard.of
        if shard.of != of or shard.number in found:
            other = found.get(shard.number, paths[0])
            raise LabelwiseError(f"{path} is shard {shard}, which does not go with {other}")
        found[shard.number] = path
    missing = [str(Shard(number, of)) for number in range(1, of + 1) if number not in found]
    if missing:
        raise LabelwiseError(
            f"shard {', '.join(missing)} is missing: train it with --shard {missing[0]}"
        )
