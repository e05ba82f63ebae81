"""The thesaurus: concepts, their names, their place in the hierarchy, and a search by words."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from labelwise.corpus.sources import extension, opened, sample
from labelwise.errors import InputError, LabelwiseError
from labelwise.files import HALF, is_whole

PART = re.compile(r"(domain|mt|under):")
"""How the name of a part of a thesaurus begins, beside ids of concepts."""

_WORD = re.compile(r"\w+")
_DOMAIN = re.compile(r"\d\d [A-Z][A-Z ,-]+")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept. Links are ids, sorted; names of microthesauri and domains are the thesaurus's."""

    id: str
    uri: str
    label: str
    alt_labels: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    narrower: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    microthesauri: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()
    """Concepts that took its place; a thesaurus knows such a one by its successors alone."""
    translations: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Its names in other languages, by code; the first is the preferred one."""
    notes: tuple[str, ...] = ()
    """What it means and how it is used, where the thesaurus says so."""

    def names_in(self, language: str) -> tuple[str, ...]:
        """The names in another language, the preferred one first; none where there is none."""
        return next((names for code, names in self.translations if code == language), ())


@dataclass(frozen=True, slots=True)
class Match:
    """A concept that a search found, and the name that it was found by."""

    concept: Concept
    name: str


@dataclass(frozen=True)
class Thesaurus:
    """Concepts by id, in the order of their ids.

    >>> thesaurus = Thesaurus.of([
    ...     Concept("1", "", "fruit"), Concept("2", "", "citrus fruit", ("agrumes",), ("1",)),
    ... ])
    >>> [(match.concept.label, match.name) for match in thesaurus.search("FRU")]
    [('fruit', 'fruit'), ('citrus fruit', 'citrus fruit')]
    >>> thesaurus.place("2")
    'fruit › citrus fruit'
    """

    concepts: Mapping[str, Concept]
    microthesauri: Mapping[str, str] = field(default_factory=dict)
    """Names by id."""
    domains: Mapping[str, str] = field(default_factory=dict)
    """Names by id."""
    notes: tuple[str, ...] = ()
    """What a reader of the thesaurus should know: labels or links that are missing."""
    successors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids that are no longer used, and the concepts that took their place."""
    group_translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Names of microthesauri and domains in other languages: by code, then by id."""

    @classmethod
    def of(
        cls,
        concepts: Iterable[Concept],
        microthesauri: Mapping[str, str] | None = None,
        domains: Mapping[str, str] | None = None,
        notes: Iterable[str] = (),
        *,
        successors: Mapping[str, tuple[str, ...]] | None = None,
        group_translations: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Thesaurus:
        """Sort the concepts, complete their links in both directions, and leave out those that
        others took the place of."""
        found = {concept.id: concept for concept in sorted(concepts, key=lambda one: one.id)}
        replaced = _successors(found) | dict(successors or {})
        found = {id: concept for id, concept in found.items() if id not in replaced}
        broader: dict[str, set[str]] = {id: set() for id in found}
        narrower: dict[str, set[str]] = {id: set() for id in found}
        related: dict[str, set[str]] = {id: set() for id in found}
        astray = 0
        for concept in found.values():
            for links, here, there in (
                (concept.broader, broader, narrower),
                (concept.narrower, narrower, broader),
                (concept.related, related, related),
            ):
                for other in (one for id in links for one in replaced.get(id, (id,))):
                    if other in found:
                        here[concept.id].add(other)
                        there[other].add(concept.id)
                    else:
                        astray += 1
        if astray:
            notes = (*notes, f"{astray} links lead to concepts that are not in the thesaurus")
        return cls(
            {
                id: replace(
                    concept,
                    broader=tuple(sorted(broader[id])),
                    narrower=tuple(sorted(narrower[id])),
                    related=tuple(sorted(related[id])),
                    replaced_by=(),
                )
                for id, concept in found.items()
            },
            dict(sorted((microthesauri or {}).items())),
            dict(sorted((domains or {}).items())),
            tuple(notes),
            dict(sorted(replaced.items())),
            dict(sorted((group_translations or {}).items())),
        )

    def __len__(self) -> int:
        return len(self.concepts)

    def __getitem__(self, id: str) -> Concept:
        try:
            return self.concepts[id]
        except KeyError:
            raise LabelwiseError(f"{id} is not a concept of the thesaurus") from None

    @cached_property
    def descriptors(self) -> dict[str, str]:
        """The preferred label of each concept."""
        return {id: concept.label for id, concept in self.concepts.items()}

    @cached_property
    def ids(self) -> dict[str, str]:
        """From a preferred label or a URI to the id; the first id where a label is used twice."""
        found: dict[str, str] = {}
        for concept in self.concepts.values():
            found.setdefault(concept.label, concept.id)
            if concept.uri:
                found.setdefault(concept.uri, concept.id)
        return found

    def today(self, label: str) -> tuple[str, ...]:
        """The concepts that a label means, by its id, its preferred label or its URI: more than one
        where several took the place of one, none where it is unknown.

        >>> thesaurus = Thesaurus.of([
        ...     Concept("1", "", "EC Directive", replaced_by=("2",)),
        ...     Concept("2", "", "directive (EU)"),
        ... ])
        >>> thesaurus.today("1"), thesaurus.today("directive (EU)"), thesaurus.today("3")
        (('2',), ('2',), ())
        """
        if label in self.concepts:
            return (label,)
        if label in self.successors:
            return self.successors[label]
        return (self.ids[label],) if label in self.ids else ()

    @cached_property
    def assignable(self) -> tuple[str, ...]:
        """The concepts that a document can have. EUROVOC's lists name its 21 domains ("04
        POLITICS") among the concepts, which nobody assigns."""
        return tuple(id for id, one in self.concepts.items() if not _DOMAIN.fullmatch(one.label))

    def broader_chain(self, id: str) -> tuple[Concept, ...]:
        """The broader concept, its broader concept, and so on up to a top concept.

        Where a concept has several broader ones, the first is followed; a cycle ends the chain.
        """
        chain: dict[str, Concept] = {id: self[id]}
        while self.concepts[id].broader:
            id = self.concepts[id].broader[0]
            if id in chain:
                break
            chain[id] = self.concepts[id]
        return tuple(chain.values())[1:]

    def place(self, id: str) -> str:
        """Where a concept stands, from its domain and microthesaurus down to itself."""
        concept = self[id]
        names = [self.domains[domain] for domain in concept.domains[:1]]
        names += [self.microthesauri[one] for one in concept.microthesauri[:1]]
        names += [broader.label for broader in reversed(self.broader_chain(id))]
        return " › ".join([*names, concept.label])

    def place_json(self, id: str) -> dict[str, Any]:
        """The same with ids, as it is written for machines: all groups, and what is broader."""
        concept = self[id]
        groups, fields = self.microthesauri, self.domains
        return {
            "domains": [{"id": one, "name": fields[one]} for one in concept.domains],
            "microthesauri": [{"id": one, "name": groups[one]} for one in concept.microthesauri],
            "broader": [
                {"id": one.id, "name": one.label} for one in reversed(self.broader_chain(id))
            ],
            "path": self.place(id),
        }

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The other languages that concepts have names in."""
        return tuple(
            sorted({code for one in self.concepts.values() for code, _ in one.translations})
        )

    def in_language(self, language: str) -> Thesaurus:
        """The same thesaurus by its names in another language; a concept or group that has none
        keeps its own. Made once for each language.

        >>> english = Thesaurus.of([Concept("1", "", "fruit", translations=(("fr", ("fruits",)),))])
        >>> english.in_language("fr").place("1"), english.languages
        ('fruits', ('fr',))
        """
        if language not in self._named_in:
            self._named_in[language] = self._made_in(language)
        return self._named_in[language]

    @cached_property
    def _named_in(self) -> dict[str, Thesaurus]:
        return {}

    def _made_in(self, language: str) -> Thesaurus:
        groups = self.group_translations.get(language, {})

        def named(one: Concept) -> Concept:
            names = one.names_in(language)
            return replace(one, label=names[0], alt_labels=names[1:]) if names else one

        return replace(
            self,
            concepts={id: named(one) for id, one in self.concepts.items()},
            microthesauri={id: groups.get(id, name) for id, name in self.microthesauri.items()},
            domains={id: groups.get(id, name) for id, name in self.domains.items()},
        )

    def within(self, group: str) -> tuple[str, ...]:
        """The concepts of a part: ``domain:20`` and ``mt:2016``, by id or by the number that the
        name begins with, and ``under:3191``, a concept and all that are narrower.

        >>> thesaurus = Thesaurus.of([
        ...     Concept("1", "", "fruit", microthesauri=("m",)),
        ...     Concept("2", "", "citrus fruit", broader=("1",)),
        ... ], {"m": "6006 plant product"})
        >>> thesaurus.within("mt:6006"), thesaurus.within("under:1")
        (('1',), ('1', '2'))
        """
        kind, _, wanted = group.partition(":")
        if kind == "under" and wanted in self.concepts:
            found, waiting = {wanted}, [wanted]
            while waiting:
                new = [one for one in self.concepts[waiting.pop()].narrower if one not in found]
                found.update(new)
                waiting += new
            return tuple(id for id in self.concepts if id in found)
        groups = {"domain": self.domains, "mt": self.microthesauri}.get(kind, {})
        for id, name in groups.items():
            if wanted and wanted in (id, name.partition(" ")[0]):
                return tuple(
                    one.id
                    for one in self.concepts.values()
                    if id in (one.domains if kind == "domain" else one.microthesauri)
                )
        raise LabelwiseError(
            f"'{group}' is no part of the thesaurus: give domain:NUMBER, mt:NUMBER of a "
            "microthesaurus, or under:ID of a concept"
        )

    def around(self, ids: Iterable[str]) -> Thesaurus:
        """These concepts and all that are broader: what a model needs to say where they stand.

        Without alternative labels and related concepts; ids that are not concepts are left out.

        >>> thesaurus = Thesaurus.of([
        ...     Concept("1", "", "fruit"), Concept("2", "", "citrus fruit", broader=("1",)),
        ...     Concept("3", "", "nut", ("almond",), broader=("1",)),
        ... ])
        >>> list(thesaurus.around(["2", "unknown"]).concepts)
        ['1', '2']
        """
        waiting = [id for id in ids if id in self.concepts]
        kept: dict[str, Concept] = {}
        while waiting:
            one = self.concepts[waiting.pop()]
            if one.id not in kept:
                kept[one.id] = replace(
                    one, alt_labels=(), narrower=(), related=(), translations=(), notes=()
                )
                waiting += one.broader
        groups = {id for one in kept.values() for id in one.microthesauri}
        fields = {id for one in kept.values() for id in one.domains}
        return Thesaurus.of(
            kept.values(),
            {id: name for id, name in self.microthesauri.items() if id in groups},
            {id: name for id, name in self.domains.items() if id in fields},
            successors={
                old: known
                for old, new in self.successors.items()
                if (known := tuple(one for one in new if one in kept))
            },
        )

    def about(self, ids: Iterable[str]) -> Thesaurus:
        """These concepts with their alternative labels, and those right above them by name: what
        tells a reader of words what a label means. Ids that are not concepts are left out.

        >>> thesaurus = Thesaurus.of([
        ...     Concept("1", "", "produce"), Concept("2", "", "fruit", ("fruits",), broader=("1",)),
        ...     Concept("3", "", "citrus fruit", ("agrumes",), broader=("2",)),
        ... ])
        >>> known = thesaurus.about(["3"])
        >>> known["3"].alt_labels, known["3"].broader, known["2"].alt_labels, len(known)
        (('agrumes',), ('2',), (), 2)
        """
        own = {id: self.concepts[id] for id in ids if id in self.concepts}
        above = {id: self.concepts[id] for one in own.values() for id in one.broader}
        kept = {id: replace(one, alt_labels=(), broader=()) for id, one in above.items()} | own
        return Thesaurus.of(
            Concept(one.id, one.uri, one.label, one.alt_labels, one.broader)
            for one in kept.values()
        )

    def to_json(self) -> dict[str, Any]:
        """What ``from_json`` reads; links down follow from links up, and empty fields are left out.

        >>> Thesaurus.of([Concept("1", "", "fruit")]).to_json()
        {'concepts': {'1': {'label': 'fruit'}}, 'microthesauri': {}, 'domains': {}}
        """
        fields = (
            *("uri", "label", "alt_labels", "broader", "related", "microthesauri", "domains"),
            "notes",
        )
        written: dict[str, Any] = {
            "concepts": {
                one.id: {
                    name: list(value) if isinstance(value, tuple) else value
                    for name in fields
                    if (value := getattr(one, name))
                }
                | ({"translations": dict(one.translations)} if one.translations else {})
                for one in self.concepts.values()
            },
            "microthesauri": dict(self.microthesauri),
            "domains": dict(self.domains),
        }
        if self.successors:
            written["successors"] = {old: list(new) for old, new in self.successors.items()}
        if self.group_translations:
            written["group_translations"] = {
                code: dict(names) for code, names in self.group_translations.items()
            }
        return written

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Thesaurus:
        """``concepts`` by id, each with a ``label`` and, where they are known, ``uri``,
        ``alt_labels``, ``broader``, ``related``, ``microthesauri`` and ``domains`` (lists), and the
        names of ``microthesauri`` and ``domains`` by id; a group without a name is left out. The
        ids that took the place of others may stand in ``successors``."""
        names: dict[str, Mapping[str, str]] = {
            what: written.get(what, {}) for what in ("microthesauri", "domains")
        }

        def concept(id: str, entry: Mapping[str, Any]) -> Concept:
            links = {
                what: tuple(one for one in entry.get(what, ()) if one in names[what])
                for what in names
            }
            return Concept(
                id,
                str(entry.get("uri", "")),
                str(entry.get("label", id)),
                tuple(entry.get("alt_labels", ())),
                tuple(entry.get("broader", ())),
                related=tuple(entry.get("related", ())),
                translations=tuple(
                    (code, tuple(names)) for code, names in entry.get("translations", {}).items()
                ),
                notes=tuple(entry.get("notes", ())),
                **links,
            )

        concepts = [concept(str(id), entry) for id, entry in written["concepts"].items()]
        successors = {id: tuple(new) for id, new in written.get("successors", {}).items()}
        return cls.of(
            concepts,
            **names,
            successors=successors,
            group_translations=written.get("group_translations"),
        )

    def search(self, words: str, limit: int = 10) -> list[Match]:
        """Concepts of this id, or with a name in any language that has all these words, or words
        that begin like them, in any order, whatever their case and accents; each by its best name.

        The id comes first, then a preferred label that begins with the first word, then another
        name that does, then the rest; shorter names before longer ones.
        """
        wanted = _WORD.findall(_folded(words))
        if not wanted:
            return []
        best: dict[str, tuple[tuple[int, int, str], str]] = {}
        for order, id, name in self._named(wanted):
            if id not in best or order < best[id][0]:
                best[id] = order, name
        if (exact := words.strip()) in self.concepts:
            best[exact] = (-1, 0, ""), self.concepts[exact].label
        found = sorted(best.items(), key=lambda one: (one[1][0], one[0]))[:limit]
        return [Match(self.concepts[id], name) for id, (_, name) in found]

    def _named(self, wanted: Sequence[str]) -> Iterator[tuple[tuple[int, int, str], str, str]]:
        """The rank, the concept and the name of all names with these words. The longest of them is
        looked for, and the others in what that finds."""
        keys, entries = self._index
        longest = max(wanted, key=len)
        for position in range(bisect_left(keys, longest), len(keys)):
            if not keys[position].startswith(longest):
                return
            id, other, text, name = entries[position]
            own = _WORD.findall(text)
            if all(any(word.startswith(one) for word in own) for one in wanted):
                later = not own[0].startswith(wanted[0])
                yield (2 * later + other, len(text), text), id, name

    @cached_property
    def _index(self) -> tuple[list[str], list[tuple[str, bool, str, str]]]:
        """Every word of every name, sorted; and its concept, whether the name is another than the
        preferred one, the folded name and the name itself."""
        rows = []
        for concept in self.concepts.values():
            foreign = (name for _, names in concept.translations for name in names)
            names = dict.fromkeys((concept.label, *concept.alt_labels, *foreign))
            for other, name in enumerate(names):
                text = _folded(name)
                rows += [
                    (word, (concept.id, other > 0, text, name)) for word in {*_WORD.findall(text)}
                ]
        rows.sort()
        return [key for key, _ in rows], [entry for _, entry in rows]


def _folded(text: str) -> str:
    """Without case, accents and double spaces.

    >>> _folded("  Échanges  ÉCONOMIQUES ")
    'echanges economiques'
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(one for one in plain if not unicodedata.combining(one)).split())


def _successors(concepts: Mapping[str, Concept]) -> dict[str, tuple[str, ...]]:
    """For each concept that others took the place of, those of them that still hold theirs.

    A concept whose successors are not in the thesaurus stays what it is.
    """
    found: dict[str, tuple[str, ...]] = {}
    for concept in concepts.values():
        waiting, seen, today = list(concept.replaced_by), {concept.id}, set[str]()
        while waiting:
            one = waiting.pop()
            if one in concepts and one not in seen:
                seen.add(one)
                later = concepts[one].replaced_by
                waiting += later
                today |= set() if later else {one}
        if today:
            found[concept.id] = tuple(sorted(today))
    return found


def read_thesaurus(path: str | Path, language: str = "en") -> Thesaurus:
    """A thesaurus from descriptor JSON or JSON Lines, CSV or TSV, or SKOS (Turtle, RDF/XML).

    All of them plain or compressed. The language matters where a file has several.
    """
    from labelwise.corpus import descriptors, skos

    path = Path(path)
    if not path.is_file():
        raise InputError("there is no such thesaurus file", file=path)
    with opened(path) as stream:
        start = sample(stream, path).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start:
            raise InputError("empty file: there is no thesaurus in it", file=path)
        ending = extension(path)
        if ending in (".json", ".jsonl", ".ndjson") or start[:1] in (b"{", b"["):
            found = descriptors.read_json(stream, path, language)
        elif ending in (".csv", ".tsv"):
            found = descriptors.read_table(stream, path, language)
        else:
            found = skos.read_skos(stream, path, language)
    _check_whole(found, path)
    return found


def _check_whole(thesaurus: Thesaurus, path: Path) -> None:
    """Turtle can name half a character, as JSON can."""
    for one in thesaurus.concepts.values():
        others = (name for _, names in one.translations for name in names)
        if not is_whole(one.id, one.uri, one.label, *one.alt_labels, *one.notes, *others):
            raise InputError(f"the concept {one.id!a} has a {HALF}", file=path)
    groups = [thesaurus.microthesauri, thesaurus.domains, *thesaurus.group_translations.values()]
    if not all(is_whole(*names, *names.values()) for names in groups):
        raise InputError(HALF, file=path)
