"""A saved model learns from what people decided of its suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.corpus.decisions import Decided, decided, read_decisions
from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.readers import read
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.experiments.data import commands
from labelwise.export import hub
from labelwise.methods.learned import Learned
from labelwise.methods.learned import learn as learn_method
from labelwise.model import Model
from labelwise.progress import note


def learn(
    bundle: str | Path,
    decisions: str | Path,
    *,
    acts: str | Path,
    out: str | Path,
    name: str | None = None,
    command: str = "",
) -> Model:
    """Let the model of a bundle learn from a log of decisions, and write what it becomes.

    The options are those of `labelwise learn`. ``command`` is what the card says that it was made
    with.
    """
    folder = shipped.folder_of(hub.fetched(bundle))
    bundles.check_writable(Path(out))
    method, parent = bundles.load(folder), bundles.describe(folder)
    thesaurus = bundles.thesaurus_in(parent["card"], folder)
    given = decided(read_decisions(decisions))
    if not given:
        raise LabelwiseError(f"{decisions}: there is no decision in it")
    documents = wanted(read(Path(acts)), given)
    if missing := given.keys() - documents.keys():
        note(
            f"{len(missing):,} of {len(given):,} decided acts are not in {acts}, such as "
            f"{min(missing)}: nothing is learned from them"
        )
    today = as_labels(given, method.label_space, thesaurus)
    said = [one for act, one in today.items() if act in documents]
    taught = any(one.chosen or one.refused or one.done for one in said)
    # A model that has learned before may be told to forget what was decided of an act.
    if said and not taught and not isinstance(method, Learned):
        raise LabelwiseError(
            f"{decisions}: nothing is decided of a label of the model in an act of {acts}"
        )
    made = learn_method(method, documents, today)
    card: dict[str, Any] = {
        **parent["card"],
        "name": name or Path(out).resolve().name,
        "learned": {"from": parent["digest"], **made.counts},
        "command": commands(parent["card"], command),
    }
    bundles.save(made, out, card=card)
    return Model(made, name=bundles.name_of(card, made.name), thesaurus=thesaurus, card=card)


def wanted(documents: Iterable[Document], given: Mapping[str, Decided]) -> dict[str, Document]:
    """The documents that something was decided of, by id."""
    return {one.id: one for one in documents if one.id in given}


def as_labels(
    given: Mapping[str, Decided], space: LabelSpace, thesaurus: Thesaurus | None
) -> dict[str, Decided]:
    """The same decisions by the labels of the model, with a note on concepts that are none."""
    strange: set[str] = set()

    def today(ids: set[str]) -> set[str]:
        found = set()
        for id in ids:
            newer = () if thesaurus is None else thesaurus.today(id)
            known = [one for one in (id, *newer) if one in space.index][:1]
            found.update(known)
            strange.update(() if known else (id,))
        return found

    made = {
        act: Decided(today(one.chosen), today(one.refused), one.done) for act, one in given.items()
    }
    if strange:
        note(
            f"{len(strange):,} concepts of the decisions are no labels of the model, such as "
            f"{min(strange)}: nothing is learned of them"
        )
    return made
