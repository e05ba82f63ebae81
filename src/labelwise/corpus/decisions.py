"""A log of decisions, one JSON object a line: what people made of suggestions, act by act.

    {"act": "32019R0532", "concept": "693", "what": "accept", "who": "anna",
     "when": "2026-11-16T09:12:44.120Z", "model": "eurovoc-en", "fingerprint": "66a4c8b48ff9d0bd",
     "score": 0.91, "rank": 2}

``accept`` and ``add`` choose a concept for the act, ``reject`` and ``never`` refuse it, ``remove``
takes back what was decided of it. ``done`` says that the act has all its concepts, so that every
other one is refused, until ``reopen``. Later lines count before earlier ones; other keys and other
words do not matter here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labelwise.corpus.json_records import checked_string, parse, string, type_name
from labelwise.corpus.sources import decode, lines, opened

CHOOSING = ("accept", "add")
REFUSING = ("reject", "never")
OF_CONCEPTS = (*CHOOSING, *REFUSING, "remove")


@dataclass(frozen=True)
class Decision:
    """A line of the log, as far as it can be learned from."""

    act: str
    what: str
    concept: str | None = None
    when: str = ""


@dataclass
class Decided:
    """What was decided of an act in the end."""

    chosen: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    done: bool = False
    """Whether every concept that was not chosen is refused."""


def read_decisions(path: str | Path) -> Iterator[Decision]:
    """The decisions of a file, plain or compressed, in its order."""
    with opened(Path(path)) as stream:
        for place, line in lines(stream, path):
            if line.isspace():
                continue
            record = parse(decode(line, place), place)
            if not isinstance(record, dict):
                raise place.error(f"wrong type: a decision is an object, not {type_name(record)}")
            what, concept = string(record, "what", place), record.get("concept")
            if what in OF_CONCEPTS:
                concept = checked_string(concept, "concept", place)
            when = checked_string(record.get("when") or "", "when", place)
            yield Decision(string(record, "act", place), what, concept, when)


def decided(decisions: Iterable[Decision]) -> dict[str, Decided]:
    """What holds of each act after all of these, acts in the order in which they were last decided.

    >>> log = [Decision("a", "accept", "693"), Decision("a", "reject", "5"), Decision("b", "done"),
    ...        Decision("a", "remove", "693"), Decision("a", "add", "1309")]
    >>> decided(log)["a"]
    Decided(chosen={'1309'}, refused={'5'}, done=False)
    >>> list(decided(log))
    ['b', 'a']
    """
    found: dict[str, Decided] = {}
    for one in decisions:
        act = found.pop(one.act, None) or Decided()
        found[one.act] = act
        if one.what in ("done", "reopen"):
            act.done = one.what == "done"
        elif one.what in OF_CONCEPTS and one.concept is not None:
            act.chosen.discard(one.concept)
            act.refused.discard(one.concept)
            if one.what in CHOOSING:
                act.chosen.add(one.concept)
            elif one.what in REFUSING:
                act.refused.add(one.concept)
    return found
