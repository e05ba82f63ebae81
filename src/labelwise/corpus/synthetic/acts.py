"""Writes synthetic acts: first what an act is about, then its text, then what an indexer sees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from labelwise.corpus.synthetic.concepts import FAMILIES, Concept, World, provisions_for
from labelwise.corpus.synthetic.dice import Dice
from labelwise.corpus.synthetic.phrases import PLACES, SUBJECTS, Country, Provision, Subject
from labelwise.corpus.synthetic.provisions import (
    BOILERPLATE_ARTICLES,
    BOILERPLATE_RECITALS,
    DISTRACTOR_RECITALS,
    GENERIC_ARTICLES,
    GENERIC_RECITALS,
    LAST_ARTICLES,
    MONTHS,
    PROVISIONS,
    REGARDS,
    SIGNATORIES,
)

URI = "http://example.org/labelwise/synthetic/"

MEDIAN_WORDS = 300
SPREAD = 0.7
"""Lengths are log-normal: few acts of 100 words, few of 1,500, most near the median."""

_PROVISIONS = {provision.name: provision for provision in PROVISIONS}
_SUBJECTS = {subject.name: subject for subject in SUBJECTS}
_PLACES = {place.name: place for place in PLACES}
_PROPER = ("EUR", "State ", *(n for place in PLACES for n in (place.name, *place.words)))
"""How a sentence may begin that keeps its capital after "Whereas"."""
_NOWHERE = ("third countries", "certain countries", "the Member States concerned", "the area")


@dataclass(frozen=True)
class Outline:
    """What an act is about. The first subject and the first provision are its matter."""

    subjects: tuple[Subject, ...]
    provisions: tuple[Provision, ...]
    places: tuple[Country, ...]


@dataclass(frozen=True)
class Act:
    """An act with the keys of EURLEX57K."""

    celex_id: str
    uri: str
    type: str
    concepts: list[str]
    title: str
    header: str
    recitals: str
    main_body: list[str]
    attachments: str


class ActWriter:
    """Writes the acts of one split after another; CELEX numbers go on from split to split."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._numbers: Counter[tuple[int, str]] = Counter()

    def acts(self, n: int, dice: Dice, unseen_share: float) -> Iterator[Act]:
        """n acts, of which ``unseen_share`` deal with a concept that is kept out of training."""
        unseen = [concept for concept in self.world.concepts if concept.unseen]
        waiting: list[Concept] = []
        for _ in range(n):
            novel: Concept | None = None
            if dice.chance(unseen_share):
                # In turn, so that each unseen concept gets its share of even a small split.
                waiting = waiting or dice.sample(unseen, len(unseen))
                novel = waiting.pop()
            outline = make_outline(self.world, dice, novel)
            yield self._write(outline, index_act(self.world, outline, dice), dice)

    def _write(self, outline: Outline, concepts: list[str], dice: Dice) -> Act:
        kind = dice.weighted(("Regulation", "Decision", "Directive"), (0.62, 0.28, 0.1))
        body = dice.weighted(("Commission", "Council"), (0.75, 0.25))
        year = dice.between(1975, 2014)
        # Numbers from 9001: no year had that many acts, so that no id is that of a real act.
        letter = {"Regulation": "R", "Decision": "D", "Directive": "L"}[kind]
        self._numbers[year, letter] += 1
        number = 9000 + self._numbers[year, letter]
        return Author(outline, kind, body, year, number, dice).act(
            f"3{year}{letter}{number}", concepts
        )


def make_outline(world: World, dice: Dice, novel: Concept | None) -> Outline:
    """Choose what an act is about; a novel concept is its matter, or the first of its places."""
    subject = dice.weighted(world.subjects, world.subject_weights)
    provision: Provision | None = None
    if novel is not None and novel.kind == "subject":
        subject = _SUBJECTS[novel.label]
    elif novel is not None and novel.kind == "compound":
        pair = next(pair for pair, id in world.compounds.items() if id == novel.id)
        provision, subject = _PROVISIONS[pair[0]], _SUBJECTS[pair[1]]
    if provision is None:
        usual = _PROVISIONS[world.favourites[subject.name]]
        others = [m for m in provisions_for(subject) if not _is_unseen(world, m, subject)]
        provision = usual if dice.chance(0.5) else dice.pick(others)

    subjects = [subject]
    companions = [
        other
        for other in world.subjects
        if other.group == subject.group
        and other != subject
        and not _is_unseen(world, provision, other)
    ]
    if companions and dice.chance(0.5):
        subjects.append(dice.pick(companions))

    provisions = [provision]
    further = [
        _PROVISIONS[name]
        for name in provision.along
        if FAMILIES[subject.group] in _PROVISIONS[name].families
        and not any(_is_unseen(world, _PROVISIONS[name], s) for s in subjects)
    ]
    if further and dice.chance(0.6):
        provisions.append(dice.pick(further))

    places = [_PLACES[novel.label]] if novel is not None and novel.kind == "place" else []
    for _ in range(dice.weighted((0, 1, 2), (0.25, 0.45, 0.3)) - len(places)):
        place = dice.weighted(world.places, world.place_weights)
        if place not in places:
            places.append(place)
    return Outline(tuple(subjects), tuple(provisions), tuple(places))


def _is_unseen(world: World, provision: Provision, subject: Subject) -> bool:
    return (provision.name, subject.name) in world.unseen_pairs


def index_act(world: World, outline: Outline, dice: Dice) -> list[str]:
    """The concepts that an indexer assigns, who forgets some and now and then adds a wrong one."""
    compounds = [
        world.compounds[provision.name, subject.name]
        for provision in outline.provisions
        for subject in outline.subjects
        if (provision.name, subject.name) in world.compounds
    ]
    labels = [id for id in compounds if dice.chance(0.9)]
    # Where a concept says both, some indexers leave out its parts.
    thrift = 0.2 if labels else 0.0
    for rank, subject in enumerate(outline.subjects):
        if dice.chance((0.94 if rank == 0 else 0.82) - thrift):
            labels.append(world.ids[subject.name])
    for rank, provision in enumerate(outline.provisions):
        if dice.chance((0.92 if rank == 0 else 0.75) - thrift):
            labels.append(world.ids[provision.name])
    if dice.chance(0.75 if len(outline.subjects) > 1 else 0.3):
        labels.append(world.ids[outline.subjects[0].group])
    labels += [world.ids[place.name] for place in outline.places if dice.chance(0.9)]
    regions = [place.region for place in outline.places]
    if len(regions) == 2 and regions[0] == regions[1] and dice.chance(0.6):
        labels.append(world.ids[regions[0]])
    if dice.chance(0.06):
        strays = [*(s.name for s in world.subjects), *(m.name for m in PROVISIONS)]
        labels.append(world.ids[dice.pick(strays)])
    return sorted(set(labels)) or [world.ids[outline.subjects[0].name]]


@dataclass
class Author:
    """Puts one outline into words."""

    outline: Outline
    kind: str
    body: str
    year: int
    number: int
    dice: Dice
    _subject: Callable[[], str] = field(init=False)
    _provisions: dict[str, Callable[[], str]] = field(init=False)
    _place: Callable[[], str] = field(init=False)

    def __post_init__(self) -> None:
        self._subject = self._subject_voice()
        self._provisions = {
            provision.name: self._voice(provision) for provision in self.outline.provisions
        }
        self._place = self._place_voice()
        bell = max(-2.5, min(3.2, self.dice.bell()))
        self.words = int(math.exp(math.log(MEDIAN_WORDS) + SPREAD * bell))

    def act(self, celex_id: str, concepts: list[str]) -> Act:
        day = self._date(self.year)
        era = "EEC" if self.year < 1994 else "EC" if self.year < 2010 else "EU"
        reference = f"({era}) No {self.number}/{self.year}"
        if self.kind != "Regulation":
            reference = f"{self.year}/{self.number}/{era}"
        matter = self._matter()
        name = f"{self.body} {self.kind} {reference} of {day} {matter}"
        union = "UNION" if era == "EU" else "COMMUNITIES"
        return Act(
            celex_id=celex_id,
            uri=URI + celex_id,
            type=self.kind,
            concepts=concepts,
            title=name + "\n",
            header=f"{self.body.upper()} {self.kind.upper()} {reference}\nof {day}\n{matter}\n"
            + f"THE {self.body.upper()} OF THE EUROPEAN {union}",
            recitals=self._recitals(era),
            main_body=self._articles(),
            attachments=self._attachments(day),
        )

    # --- how this act calls things ---------------------------------------------------------

    def _subject_voice(self) -> Callable[[], str]:
        """Each act settles on a few words for its subjects; less than half name them outright."""
        calls: list[list[str]] = []
        for subject in self.outline.subjects:
            call = self.dice.sample(subject.words, self.dice.between(2, 3))
            if subject.forms and self.dice.chance(0.45):
                call.append(self.dice.pick(subject.forms))
            if self.dice.chance(0.4):
                call.append(subject.name)
            calls.append(call)

        def mention() -> str:
            call = calls[0] if len(calls) == 1 or self.dice.chance(0.65) else calls[1]
            if self.dice.chance(0.2):
                return " and ".join(self.dice.sample(call, 2))
            return self.dice.pick(call)

        return mention

    def _voice(self, provision: Provision) -> Callable[[], str]:
        call = self.dice.sample(provision.forms, 2)
        if self.dice.chance(0.45):
            call.append(provision.name)
        return lambda: self.dice.pick(call)

    def _place_voice(self) -> Callable[[], str]:
        if not self.outline.places:
            call = self.dice.sample(_NOWHERE, 2)
        else:
            # An act in five speaks of towns only.
            call = [
                place.name if self.dice.chance(0.8) else self.dice.pick(place.words[1:])
                for place in self.outline.places
            ]
        return lambda: self.dice.pick(call)

    # --- the four zones --------------------------------------------------------------------

    def _matter(self) -> str:
        """The end of the title. One title in five says nothing."""
        if self.dice.chance(0.2):
            return f"amending {self._other_act()}"
        provision = self.outline.provisions[0]
        matter = self._fill(provision.title, provision, capital=False)
        if self.outline.places and "{p}" not in provision.title and self.dice.chance(0.6):
            matter += f" in respect of {self._place()}"
        return matter

    def _recitals(self, era: str) -> str:
        treaty = "Economic Community" if era == "EEC" else "Community" if era == "EC" else "Union"
        lines = [f",\nHaving regard to the Treaty establishing the European {treaty},"]
        lines += [self._fill(line) for line in self.dice.sample(REGARDS, self.dice.between(1, 3))]
        family = FAMILIES[self.outline.subjects[0].group]
        sentences = [
            *self._deck(self.outline.provisions[0].recitals, 3, self.outline.provisions[0]),
            *self._deck(GENERIC_RECITALS[family], 2),
            *[s for m in self.outline.provisions[1:] for s in self._deck(m.recitals, 2, m)],
            *self._deck(BOILERPLATE_RECITALS, 3),
        ]
        chosen = self._up_to(self.dice.sample(sentences, len(sentences)), 0.3 * self.words)
        for _ in range(self.dice.weighted((0, 1, 2, 3), (0.3, 0.3, 0.2, 0.2))):
            chosen.insert(self.dice.below(len(chosen) + 1), self._distractor())
        if era == "EEC":
            plain = [s if s.startswith(_PROPER) else s[0].lower() + s[1:] for s in chosen]
            lines += [f"Whereas {sentence.removesuffix('.')};" for sentence in plain]
        else:
            lines += ["Whereas:", *(f"({i}) {s}" for i, s in enumerate(chosen, start=1))]
        committee = f"The measures provided for in this {self.kind} are in accordance with the "
        lines.append(committee + "opinion of the competent Committee,")
        return "\n".join(lines)

    def _articles(self) -> list[str]:
        family = FAMILIES[self.outline.subjects[0].group]
        clauses = [
            *self._deck(self.outline.provisions[0].articles, 3, self.outline.provisions[0]),
            *self._deck(GENERIC_ARTICLES[family], 2),
            *[s for m in self.outline.provisions[1:] for s in self._deck(m.articles, 2, m)],
            *self._deck(BOILERPLATE_ARTICLES, 3),
        ]
        chosen = self._up_to(self.dice.sample(clauses, len(clauses)), 0.3 * self.words)
        articles: list[str] = []
        while chosen:
            size = self.dice.weighted((1, 2, 3), (0.6, 0.3, 0.1))
            paragraphs, chosen = chosen[:size], chosen[size:]
            if len(paragraphs) > 1:
                paragraphs = [f"{i}. {text}" for i, text in enumerate(paragraphs, start=1)]
            articles.append("\n".join(paragraphs))
        articles.append(self._fill(self.dice.pick(LAST_ARTICLES[self.kind])))
        return articles

    def _attachments(self, day: str) -> str:
        role = "President" if self.body == "Council" else "Member of the Commission"
        lines = [
            f"Done at {self.dice.pick(('Brussels', 'Luxembourg'))}, {day}.",
            f"For the {self.body}",
            self.dice.pick(SIGNATORIES),
            role,
        ]
        lines += [
            f"({i}) OJ No L 9{self.dice.between(10, 99)}, {self._date(self.year - 1)}, "
            f"p. {self.dice.between(1, 60)}."
            for i in range(1, self.dice.between(1, 4))
        ]
        if self.words > 200:
            lines.append("ANNEX")
            left = 0.2 * self.words + max(0, 0.7 * (self.words - 500))
            while left > 0:
                line = self._annex_line()
                left -= len(line.split())
                lines.append(line)
        return "\n".join(lines)

    def _annex_line(self) -> str:
        provision = self.dice.pick(self.outline.provisions)
        return self.dice.pick(
            (
                f"{self.dice.between(1000, 9999)} {self.dice.between(10, 99)} {self._subject()}: "
                f"{self._amount()} {self.dice.pick(('tonnes', 'units', 'EUR', 'kg'))}",
                f"{self.dice.between(1, 40)}. {self._subject()} ({self._place()})",
                f"Column {self.dice.between(1, 9)}: {self.dice.pick(provision.words)}, "
                f"{self._amount()} %",
                f"Part {self.dice.pick('ABCDEF')}, point {self.dice.between(1, 30)}: "
                f"{self._date(self.year)}, {self._amount()}",
                f"Form to be completed by the {self.dice.pick(self._adjectives())} authorities: "
                "name, address, date, signature and stamp",
            )
        )

    # --- sentences -------------------------------------------------------------------------

    def _deck(
        self, templates: Sequence[str], most: int, provision: Provision | None = None
    ) -> list[str]:
        """Up to ``most`` of the templates, more in long acts, filled in."""
        filled = (
            self._fill(template, provision)
            for _ in range(1 + self.words // 700)
            for template in self.dice.sample(templates, most)
        )
        return list(dict.fromkeys(filled))

    def _up_to(self, sentences: list[str], words: float) -> list[str]:
        """As many of the sentences as the length allows, at least two."""
        kept: list[str] = []
        for sentence in sentences:
            if len(kept) >= 2 and words <= 0:
                break
            kept.append(sentence)
            words -= len(sentence.split())
        return kept

    def _fill(self, template: str, provision: Provision | None = None, capital: bool = True) -> str:
        voice = self._provisions[(provision or self.outline.provisions[0]).name]
        text = template
        for slot, say in (
            ("{s}", self._subject),
            ("{m}", voice),
            ("{p}", self._place),
            ("{n}", self._amount),
            ("{d}", lambda: self._date(self.year + 1)),
            ("{y}", lambda: str(self.year - self.dice.between(1, 5))),
            ("{a}", self._other_act),
            ("{k}", lambda: str(self.dice.between(2, 40))),
            ("{t}", lambda: self.kind),
        ):
            while slot in text:
                text = text.replace(slot, say(), 1)
        return text[0].upper() + text[1:] if capital else text

    def _distractor(self) -> str:
        """A passing remark, with the descriptors of concepts that the act is not about."""
        subject = self.dice.pick([subject for subject in SUBJECTS if not subject.unseen])
        places = self.dice.sample([place.name for place in PLACES if not place.unseen], 2)
        template = (
            self.dice.pick(DISTRACTOR_RECITALS)
            .replace("{s}", self.dice.pick((subject.name, *subject.words)))
            .replace("{m}", self.dice.pick(PROVISIONS).name)
            .replace("{p}", places[0])
            .replace("{q}", places[1])
        )
        return self._fill(template)

    def _adjectives(self) -> list[str]:
        return [place.words[0] for place in self.outline.places] or ["competent", "national"]

    def _amount(self) -> str:
        return str(self.dice.between(2, 99))

    def _date(self, year: int) -> str:
        return f"{self.dice.between(1, 28)} {self.dice.pick(MONTHS)} {year}"

    def _other_act(self) -> str:
        year = self.year - self.dice.between(1, 9)
        kind = self.dice.pick(("Regulation (EEC) No {n}/{y}", "Directive {y}/{n}/EEC"))
        return kind.replace("{n}", str(self.dice.between(9001, 9999))).replace("{y}", str(year))
