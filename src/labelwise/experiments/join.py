"""Saved models become one, weighed on the dev documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.errors import CallError, LabelwiseError
from labelwise.evaluation.threshold import tune_threshold
from labelwise.experiments.data import additions_of, hiding_of_card
from labelwise.experiments.joining import joined, member_digests
from labelwise.experiments.kept_scores import write_kept
from labelwise.experiments.measured import write_run
from labelwise.experiments.one_or_more import one_or_more
from labelwise.experiments.shards import joined_shards
from labelwise.experiments.training_data import Documents, Kept
from labelwise.export import hub
from labelwise.methods import REGISTRY, Method, Scores, get
from labelwise.methods.base import Joining, Twinning
from labelwise.model import Model

SHARDS = "shards"
"""What is joined to a model that is no other than one training gives."""

SHARED = ("data", "device", "language", "relabelled", "thesaurus", "versions")
"""What the cards of members have in common: the documents, the labels, the language."""


def join(
    method: str,
    members: str | Path | Sequence[str | Path],
    *,
    data: str | Path | None = None,
    more: str | Path | Sequence[str | Path] | None = None,
    summaries: bool = False,
    thesaurus: str | Path | None = None,
    every_concept: bool = False,
    like: str | Path | None = None,
    out: str | Path,
    name: str | None = None,
    results: str | Path | None = None,
    command: str = "",
) -> Model:
    """Join the bundles of trained models into one, which holds them all, and write it; with
    ``results``, measure it on dev and test and write the run there.

    The options are those of `labelwise join`. ``command`` is what the card says that it was made
    with.
    """
    if method != SHARDS and (method not in REGISTRY or not issubclass(get(method), Joining)):
        made = [name for name in REGISTRY if issubclass(get(name), Joining)]
        raise LabelwiseError(
            f"'{method}' is not made by joining; these are: {', '.join((*made, SHARDS))} (the "
            "method comes first, then the bundles)"
        )
    members = [hub.fetched(one) for one in one_or_more(members)]
    if len(members) < 2 and method != SHARDS:
        raise LabelwiseError(
            f"{method} is joined from two bundles or more, not from {(members or ['none'])[0]}"
        )
    seen: set[Path] = set()
    for path in (Path(one).resolve() for one in members):
        if path in seen and method != SHARDS:
            raise LabelwiseError(f"{path.name} is given twice: a bundle is one member")
        seen.add(path)
    if like is not None and (method == SHARDS or not issubclass(get(method), Twinning)):
        able = [name for name in REGISTRY if issubclass(get(name), Twinning)]
        raise CallError(f"a {' or a '.join(able)} can be like another one, no other method")
    if data is None and like is None:
        raise CallError("--data (or LABELWISE_DATA) or --like is needed; in Python data or like")
    if like is not None and results is not None:
        raise CallError("what is like another blend has its figures: --results does not fit")
    bundles.check_writable(Path(out))
    cards = [bundles.describe(path)["card"] for path in members]
    if like is not None:
        model = _joined_like(get(method), members, like)
    else:
        additions = additions_of(more, summaries, thesaurus, every_concept)
        documents = Documents(Path(str(data)), additions, hiding_of_card(cards[0]))
        splits = ["dev", "test"] if results is not None else ["dev"]
        model, scores = _joined(method, members, cards, documents, splits)
    fit = [card.get("seconds", {}).get("fit", 0.0) for card in cards]
    made = [str(card.get("command", "")) for card in cards]
    card: dict[str, Any] = {
        **_of_all(cards, method),
        "seconds": {"fit": sum(fit)},
        "peak_memory": max(card.get("peak_memory") or 0 for card in cards),
        "command": "\n".join([*made, command]).strip(),
        "digests": member_digests(members),
        **model.card,
    }
    notices = [line for card in cards for line in card.get("notices", ())]
    card |= {"notices": list(dict.fromkeys(notices))} if notices else {}
    card |= {"name": name} if name else {}
    card |= {"twin": bundles.as_twin(like)} if like else {}
    bundles.save(model, out, card=card)
    if results is not None:
        write_kept(Path(out), scores, model.label_space, documents.record)
        gold = {split: documents.gold(split) for split in splits}
        write_run(results, model, scores, gold, splits, record=documents.record, card=card)
    known = bundles.thesaurus_in(card, out)
    return Model(model, name=bundles.name_of(card, model.name), thesaurus=known, card=card)


def _of_all(cards: Sequence[Mapping[str, Any]], method: str) -> dict[str, Any]:
    """What the cards of the members say of what is joined from them. A member's own name, and what
    it was made small from or trained like, are not those of the whole; shards are one model."""
    if method == SHARDS:
        return {key: told for key, told in cards[0].items() if key != "shard"}
    return {key: told for card in reversed(cards) for key, told in card.items() if key in SHARED}


def _joined(
    method: str,
    members: Sequence[str | Path],
    cards: Sequence[Mapping[str, Any]],
    documents: Documents,
    splits: Sequence[str],
) -> tuple[Method, Mapping[str, Scores]]:
    """The models as one, weighed on the dev documents, and its scores of some splits."""
    space = documents.dataset.label_space
    if not documents.dataset.dev and method != SHARDS:
        raise LabelwiseError(
            f"the data set {documents.record.name} has no dev documents, on which the joined "
            "models are weighed"
        )
    loaded = [bundles.load(path) for path in members]
    for path, one in zip(members, loaded, strict=True):
        if one.label_space.fingerprint != space.fingerprint:
            raise LabelwiseError(
                f"{path} has other labels or label counts than the data set "
                f"{documents.record.name}: join models that were trained on it"
            )
    if method == SHARDS:
        made, scores = joined_shards(members, loaded, cards, documents, splits)
    else:
        known = Kept(documents, {str(path): one for path, one in zip(members, loaded, strict=True)})
        made, scores = joined(get(method), loaded, known, splits)
    gold = documents.gold("dev")
    if gold.nnz:
        made.threshold = tune_threshold(scores["dev"], gold)
    return made, scores


def _joined_like(cls: type[Method], members: Sequence[str | Path], like: str | Path) -> Method:
    """The models as one, weighed as another of its kind is."""
    twin = bundles.load(like)
    if not isinstance(twin, cls) or not isinstance(twin, Twinning):
        raise LabelwiseError(f"{like} is a {twin.name}, and not a {cls.name}")
    return type(twin).like([bundles.load(path) for path in members], twin)
