"""Whether the machine earns its keep: what people accept, refuse and add, and the time they take.

Only the decision that holds counts, of first readings; what is refused without a word, because an
act was done without it, is counted among the over-suggested.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import quantiles

from labelwise.desk.records import CHOOSING, Decision
from labelwise.desk.store import Store

RANKS = 20
"""Ranks that are counted; below them few look."""

MOST = 50
"""Concepts in a list."""


@dataclass
class Tally:
    """Decisions about what was suggested, and what was added besides."""

    accepted: int = 0
    rejected: int = 0
    added: int = 0

    def count(self, decision: Decision) -> None:
        match decision.what:
            case "accept":
                self.accepted += 1
            case "add":
                self.added += 1
            case _:
                self.rejected += 1


@dataclass(frozen=True)
class Over:
    """A concept that is suggested for acts which are done without it."""

    concept: str
    suggested: int
    refused: int


@dataclass(frozen=True)
class Figures:
    decided: Tally
    by_concept: dict[str, Tally]
    by_rank: dict[int, Tally]
    by_month: dict[str, Tally]
    missed: list[tuple[str, int]]
    """Concepts that people added, the most frequent first."""
    over: list[Over]
    seconds: list[float] = field(default_factory=list)
    """From opening an act to finishing it: quartiles of all; empty below two acts."""
    acts: int = 0
    """Acts that are done."""
    names: dict[str, str] = field(default_factory=dict)


def figures(store: Store) -> Figures:
    """All figures, from the log and from what was suggested."""
    holding, times = _folded(store.log())
    found = Figures(Tally(), defaultdict(Tally), defaultdict(Tally), defaultdict(Tally), [], [])
    for decision in holding:
        concept = decision.concept or ""
        tallies = [found.decided, found.by_concept[concept], found.by_month[decision.when[:7]]]
        if decision.rank is not None and decision.rank <= RANKS:
            tallies.append(found.by_rank[decision.rank])
        for tally in tallies:
            tally.count(decision)
        found.names[concept] = decision.descriptor or concept
    missed = [(id, tally.added) for id, tally in found.by_concept.items() if tally.added]
    missed.sort(key=lambda one: (-one[1], one[0]))
    return Figures(
        found.decided,
        dict(_largest(found.by_concept)),
        dict(sorted(found.by_rank.items())),
        dict(sorted(found.by_month.items())),
        missed[:MOST],
        _over_suggested(store, found.names),
        [round(one, 1) for one in quantiles(times, n=4)] if len(times) > 1 else [],
        _done(store),
        found.names,
    )


def _largest(tallies: dict[str, Tally]) -> list[tuple[str, Tally]]:
    def size(item: tuple[str, Tally]) -> tuple[int, str]:
        return -(item[1].accepted + item[1].rejected + item[1].added), item[0]

    return sorted(tallies.items(), key=size)[:MOST]


def _folded(log: Iterable[Decision]) -> tuple[list[Decision], list[float]]:
    """The decisions that hold in first readings, and the seconds that each act took; without acts
    that were withdrawn."""
    holding: dict[tuple[str, str], Decision] = {}
    opened: dict[str, str] = {}
    times: defaultdict[str, list[float]] = defaultdict(list)
    withdrawn: set[str] = set()
    for one in log:
        if one.reading != 1:
            continue
        if one.concept is not None:
            if one.what == "remove":
                holding.pop((one.act, one.concept), None)
            else:
                holding[one.act, one.concept] = one
        elif one.what == "done" and one.act in opened:
            times[one.act].append(_seconds(opened.pop(one.act), one.when))
        elif one.what in ("open", "reopen"):
            opened[one.act] = one.when
            withdrawn.discard(one.act)
        elif one.what == "withdraw":
            withdrawn.add(one.act)
    kept = [one for (act, _), one in holding.items() if act not in withdrawn]
    return kept, [one for act in times if act not in withdrawn for one in times[act]]


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def _over_suggested(store: Store, names: dict[str, str]) -> list[Over]:
    """Concepts above the threshold in done acts, by how often the act was done without them."""
    suggested: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    with store.database.reading():
        rows = store.database.run(
            "SELECT s.act, s.predictions FROM suggestions s JOIN readings r ON r.act = s.act "
            "AND r.reading = 1 WHERE r.state = 'done'"
        ).fetchall()
    for act, predictions in rows:
        chosen = {one.concept for one in store.reading(act).decisions if one.what in CHOOSING}
        for one in json.loads(predictions):
            if one["assigned"]:
                suggested[one["id"]] += 1
                refused[one["id"]] += one["id"] not in chosen
                names.setdefault(one["id"], one["descriptor"])
    over = [Over(id, suggested[id], count) for id, count in refused.items() if count]
    return sorted(over, key=lambda one: (-one.refused, one.concept))[:MOST]


def _done(store: Store) -> int:
    with store.database.reading():
        (count,) = store.database.run(
            "SELECT COUNT(*) FROM readings WHERE reading = 1 AND state = 'done'"
        ).fetchone()
    return int(count)
