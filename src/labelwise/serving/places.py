"""Where labels stand: their URIs, their place in a thesaurus, and a search by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labelwise.corpus.labels import Label, LabelSpace
from labelwise.corpus.thesaurus import Concept, Match, Thesaurus
from labelwise.model import Tag, tag_of
from labelwise.serving.shapes import ConceptPlace, LabelDetails, LabelInfo, Link, Prediction


def thesaurus_of(
    label_space: LabelSpace, card: Mapping[str, Any], given: Thesaurus | None
) -> Thesaurus:
    """The card's thesaurus, enriched by the given one, and in any case all labels.

    A card's ``thesaurus`` is what ``Thesaurus.from_json`` reads. It has the labels of the model,
    and may know no more of them than a name; concepts that the model never saw are in the given
    one alone.
    """
    own, other = _from_card(card.get("thesaurus")) or Thesaurus.of(()), given or Thesaurus.of(())
    bare = {one.id: Concept(one.id, "", one.descriptor) for one in label_space.labels}
    # Links down are left to follow from links up, since the two may be of different years.
    concepts = bare | {id: replace(one, narrower=()) for id, one in other.concepts.items()}
    for id, concept in own.concepts.items():
        concepts[id] = _enriched(concept, other.concepts.get(id))
    return Thesaurus.of(
        concepts.values(),
        {**other.microthesauri, **own.microthesauri},
        {**other.domains, **own.domains},
        group_translations={**other.group_translations, **own.group_translations},
    )


def _enriched(concept: Concept, by: Concept | None) -> Concept:
    """The concept with all its other names, and what the other one knows where it knows nothing."""
    if by is None:
        return concept
    names = dict.fromkeys((*concept.alt_labels, *by.alt_labels, by.label))
    return replace(
        concept,
        uri=concept.uri or by.uri,
        alt_labels=tuple(name for name in names if name != concept.label),
        broader=concept.broader or by.broader,
        narrower=(),
        related=concept.related or by.related,
        microthesauri=concept.microthesauri or by.microthesauri,
        domains=concept.domains or by.domains,
        translations=concept.translations or by.translations,
        notes=concept.notes or by.notes,
    )


def _from_card(written: Any) -> Thesaurus | None:
    if not isinstance(written, Mapping) or not isinstance(written.get("concepts"), Mapping):
        return None
    return Thesaurus.from_json(written)


class Labels:
    """The labels of a model and the concepts of its thesaurus, as the service shows them."""

    def __init__(self, label_space: LabelSpace, thesaurus: Thesaurus) -> None:
        self.label_space, self.thesaurus = label_space, thesaurus
        self._shown: dict[tuple[str, str | None], LabelInfo] = {}

    def __contains__(self, id: str) -> bool:
        return id in self.thesaurus.concepts

    def named_in(self, language: str | None) -> Thesaurus:
        """The thesaurus by its names in a language that it has; None is its own."""
        return self.thesaurus if language is None else self.thesaurus.in_language(language)

    def info(self, id: str, language: str | None = None) -> LabelInfo:
        """A label or concept, named in a language; made once, since every answer shows some."""
        found = self._shown.get((id, language))
        if found is None:
            found = self._shown[id, language] = self._made(id, language)
        return found

    def _made(self, id: str, language: str | None) -> LabelInfo:
        column = self.label_space.index.get(id)
        label = (
            Label(id, self.thesaurus[id].label, 0)
            if column is None
            else self.label_space.labels[column]
        )
        tag = tag_of(label, self.thesaurus, self.named_in(language), language)
        assert tag.place is not None  # the thesaurus has every label
        return LabelInfo(
            id=id,
            uri=tag.uri,
            descriptor=tag.descriptor,
            group=None if column is None else label.group,
            count=label.count,
            in_model=column is not None,
            place=ConceptPlace(**tag.place),
        )

    def prediction(self, tag: Tag, language: str | None = None) -> Prediction:
        """A tag as the front door writes it, and what the service tells of its label besides. It
        may be that of a concept which a request brought."""
        known = (
            self.info(tag.id, language)
            if tag.id in self
            else bare_info(tag.id, tag.uri, tag.descriptor)
        )
        return Prediction.model_construct(
            **tag.to_json()
            | {"place": known.place, "count": known.count, "in_model": known.in_model}
        )

    def details(self, id: str, language: str | None = None) -> LabelDetails:
        thesaurus = self.named_in(language)
        concept = thesaurus[id]
        return LabelDetails(
            **self.info(id, language).model_dump(exclude={"place"}),
            place=self.info(id, language).place,
            alternatives=list(concept.alt_labels),
            narrower=[Link(id=one, name=thesaurus[one].label) for one in concept.narrower],
            related=[Link(id=one, name=thesaurus[one].label) for one in concept.related],
            notes=list(concept.notes),
            names={code: names[0] for code, names in self.thesaurus[id].translations},
        )

    def found(self, words: str) -> list[Match]:
        """All concepts that a search finds, the best first."""
        return self.thesaurus.search(words, limit=len(self.thesaurus))


def bare_info(concept: str, uri: str | None, descriptor: str | None) -> LabelInfo:
    """A concept that no model and no thesaurus has, or has any more."""
    name = descriptor or concept
    return LabelInfo(
        id=concept,
        uri=uri or "",
        descriptor=name,
        group=None,
        count=0,
        in_model=False,
        place=ConceptPlace(path=name),
    )
