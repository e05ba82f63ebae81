"""From the labels of a model to the concepts of a newer thesaurus."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError

_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[-_.]?(0[1-9]|1[0-2])(?:[-_.]?(\d\d))?)?(?!\d)")


@dataclass(frozen=True)
class Relabelling:
    """What becomes of the labels of a model."""

    sources: Mapping[str, tuple[str, ...]]
    """For each label from now on, the labels of the model that are scored for it."""
    space: LabelSpace
    """The labels from now on, by today's names. A label counts as many training documents as the
    one with the most of those scored for it: it has at least these."""
    renamed: Mapping[str, tuple[str, str]]
    """Old and new names of labels that remain."""
    replaced: Mapping[str, tuple[str, ...]]
    """Labels that are no longer used, and those that took their place."""
    dropped: tuple[str, ...]
    """Labels that the thesaurus does not have, and names no successor of."""


def relabelling(space: LabelSpace, thesaurus: Thesaurus) -> Relabelling:
    """What the thesaurus makes of these labels.

    >>> from labelwise.corpus.thesaurus import Concept
    >>> space = LabelSpace.from_counts({"1": 60, "2": 3}, {"1": "EC Directive", "2": "Directive"})
    >>> thesaurus = Thesaurus.of([
    ...     Concept("1", "", "EC Directive", replaced_by=("2",)),
    ...     Concept("2", "", "directive (EU)"),
    ... ])
    >>> found = relabelling(space, thesaurus)
    >>> dict(found.sources), found.space.labels[0]
    ({'2': ('1', '2')}, Label(id='2', descriptor='directive (EU)', count=60))
    """
    sources: dict[str, list[str]] = {}
    replaced, dropped = {}, []
    for label in space.labels:
        today = thesaurus.today(label.id)
        for id in today:
            sources.setdefault(id, []).append(label.id)
        if not today:
            dropped.append(label.id)
        elif today != (label.id,):
            replaced[label.id] = today
    if not sources:
        raise LabelwiseError(
            f"none of the {len(space):,} labels of this model is a concept of the thesaurus: give "
            "a newer one of those that its labels are from"
        )
    counts = {
        id: max(space.labels[space.index[one]].count for one in sources[id]) for id in sources
    }
    today_space = LabelSpace.from_counts(counts, thesaurus.descriptors)
    return Relabelling(
        {id: tuple(sources[id]) for id in today_space.ids},
        today_space,
        {
            label.id: (label.descriptor, name)
            for label in space.labels
            if (name := thesaurus.descriptors.get(label.id, label.descriptor)) != label.descriptor
        },
        replaced,
        tuple(dropped),
    )


def date_in(name: str) -> str | None:
    """The date that a thesaurus carries in the name of its file.

    >>> date_in("eurovoc-2026-07-en"), date_in("eurovoc_20251117"), date_in("eurovoc")
    ('2026-07', '2025-11-17', None)
    """
    found = _DATE.search(name)
    return "-".join(part for part in found.groups() if part) if found else None


def with_places(thesaurus: Thesaurus, older: Thesaurus | None) -> Thesaurus:
    """The thesaurus with the microthesauri and domains of an older one, where it has none itself:
    some lists of EUROVOC come without them. New concepts stand where what is above them stands."""
    if older is None or thesaurus.domains or thesaurus.microthesauri:
        return thesaurus
    placed = {}
    for concept in thesaurus.concepts.values():
        above = (concept, *thesaurus.broader_chain(concept.id))
        known = next((older.concepts[one.id] for one in above if one.id in older.concepts), None)
        placed[concept.id] = (
            replace(concept, microthesauri=known.microthesauri, domains=known.domains)
            if known
            else concept
        )
    return replace(
        thesaurus, concepts=placed, microthesauri=older.microthesauri, domains=older.domains
    )
