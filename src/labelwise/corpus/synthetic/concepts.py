"""The synthetic thesaurus: concepts put together from the phrases, the same for every seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from labelwise.corpus.synthetic.dice import Dice
from labelwise.corpus.synthetic.phrases import (
    GROUPS,
    MICROTHESAURI,
    PLACES,
    REGIONS,
    SUBJECTS,
    Country,
    Family,
    Provision,
    Subject,
)
from labelwise.corpus.synthetic.provisions import PROVISIONS

T = TypeVar("T")

Kind = Literal["subject", "provision", "compound", "place", "group", "region"]

FEW_COMPOUNDS = 36
"""Pairs of a subject and a provision that are concepts, beside each subject's favourite one."""
UNSEEN_COMPOUNDS = 24
"""Pairs that are concepts and never stand in a training act, though both their parts do."""


@dataclass(frozen=True)
class Concept:
    """A concept of the synthetic thesaurus; ``words`` point to it without being its descriptor."""

    id: str
    kind: Kind
    label: str
    french: str
    microthesaurus: str
    alternatives: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    unseen: bool = False


@dataclass(frozen=True)
class World:
    """The concepts, and how likely acts are to deal with each of them."""

    concepts: tuple[Concept, ...]
    ids: dict[str, str]
    """From a descriptor to the concept's id."""
    compounds: dict[tuple[str, str], str]
    """From the names of a provision and a subject to the id of the concept for both."""
    subjects: tuple[Subject, ...]
    subject_weights: tuple[float, ...]
    places: tuple[Country, ...]
    place_weights: tuple[float, ...]
    favourites: dict[str, str]
    """From a subject's name to the provision that most of its acts are about."""
    unseen_pairs: tuple[tuple[str, str], ...]
    """Provision and subject of the compounds that are kept out of the training acts."""
    by_id: dict[str, Concept] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {concept.id: concept for concept in self.concepts})

    def concept(self, descriptor: str) -> Concept:
        return self.by_id[self.ids[descriptor]]


FAMILIES: dict[str, Family] = {group.name: group.family for group in GROUPS}


def provisions_for(subject: Subject) -> list[Provision]:
    """The provisions that can fall on a subject."""
    return [provision for provision in PROVISIONS if FAMILIES[subject.group] in provision.families]


def zipf(items: Sequence[T], exponent: float, offset: float = 2.0) -> tuple[float, ...]:
    """Weights that fall with the rank: 1 / (rank + offset) ** exponent."""
    return tuple((rank + offset) ** -exponent for rank in range(len(items)))


def build_world() -> World:
    """Make the thesaurus. Its dice are its own: another seed gives other acts, same concepts."""
    dice = Dice("labelwise synthetic thesaurus")
    seen = dice.sample([subject for subject in SUBJECTS if not subject.unseen], len(SUBJECTS))
    places = dice.sample([place for place in PLACES if not place.unseen], len(PLACES))
    favourites = {subject.name: dice.pick(provisions_for(subject)).name for subject in SUBJECTS}
    pairs = dice.sample(
        [
            (provision.name, subject.name)
            for subject in seen
            for provision in provisions_for(subject)
            if provision.name != favourites[subject.name]
        ],
        FEW_COMPOUNDS + UNSEEN_COMPOUNDS,
    )
    unseen_pairs = pairs[:UNSEEN_COMPOUNDS]
    # Only the more frequent subjects have a concept for their favourite provision.
    usual_pairs = [(favourites[subject.name], subject.name) for subject in seen[: len(seen) // 2]]
    compounds = [*usual_pairs, *pairs]
    drafts = [*_simple_concepts(), *_compound_concepts(compounds, set(unseen_pairs))]
    # Table order would put the frequent concepts first; a real thesaurus has no such order.
    numbers = dice.sample(range(1, len(drafts) + 1), len(drafts))
    ids = {draft.label: f"s{number:04d}" for draft, number in zip(drafts, numbers, strict=True)}
    concepts = sorted(
        (
            replace(
                draft,
                id=ids[draft.label],
                broader=tuple(ids[name] for name in draft.broader),
                related=tuple(ids[name] for name in draft.related),
            )
            for draft in drafts
        ),
        key=lambda concept: concept.id,
    )
    return World(
        concepts=tuple(concepts),
        ids=ids,
        compounds={pair: ids[_compound_label(pair)] for pair in compounds},
        subjects=tuple(seen),
        subject_weights=zipf(seen, 0.7),
        places=tuple(places),
        place_weights=zipf(places, 0.7),
        favourites=favourites,
        unseen_pairs=tuple(unseen_pairs),
    )


def _simple_concepts() -> Iterable[Concept]:
    """Groups, subjects, provisions, regions and places; links go by name, ids are not given yet."""
    microthesauri = {group.name: group.microthesaurus for group in GROUPS}
    for group in GROUPS:
        yield Concept("", "group", group.name, group.french, group.microthesaurus)
    for subject in SUBJECTS:
        yield Concept(
            "", "subject", subject.name, subject.french, microthesauri[subject.group],
            subject.alternatives, (*subject.words, *subject.forms), (subject.group,),
            unseen=subject.unseen,
        )  # fmt: skip
    for provision in PROVISIONS:
        yield Concept(
            "", "provision", provision.name, provision.french, provision.microthesaurus,
            provision.alternatives, (*provision.words, *provision.forms), related=provision.along,
        )  # fmt: skip
    for name, french in REGIONS:
        yield Concept("", "region", name, french, "countries")
    for place in PLACES:
        yield Concept(
            "", "place", place.name, place.french, "countries",
            words=place.words, broader=(place.region,), unseen=place.unseen,
        )  # fmt: skip


def _compound_label(pair: tuple[str, str]) -> str:
    provision = next(provision for provision in PROVISIONS if provision.name == pair[0])
    return provision.compound.format(s=pair[1])


def _compound_concepts(
    pairs: Iterable[tuple[str, str]], unseen: set[tuple[str, str]]
) -> Iterable[Concept]:
    provisions = {provision.name: provision for provision in PROVISIONS}
    subjects = {subject.name: subject for subject in SUBJECTS}
    for pair in pairs:
        provision, subject = provisions[pair[0]], subjects[pair[1]]
        yield Concept(
            "", "compound", _compound_label(pair), f"{provision.french} ({subject.french})",
            provision.microthesaurus, (f"{subject.name}: {provision.name}",),
            broader=(provision.name,), related=(subject.name,), unseen=pair in unseen,
        )  # fmt: skip


def domain_of(microthesaurus: str) -> str:
    return next(domain for name, _, domain in MICROTHESAURI if name == microthesaurus)
