"""How far two readers of the same acts agree, beyond what chance would give them.

What is judged is a concept of an act: one that was suggested, or that either of them decided about;
each reader chose it or did not. Concepts that nobody thought of are not counted: with thousands of
them, two readers would always seem to agree.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from labelwise.desk.store import Store


@dataclass(frozen=True)
class Pair:
    """Two readers: the acts that both have read, and the concepts that both, one or none chose."""

    first: str
    second: str
    acts: int
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def kappa(self) -> float | None:
        return cohens_kappa(self.both, self.only_first, self.only_second, self.neither)

    @property
    def overlap(self) -> float | None:
        """The share of the concepts of either that both chose (F1)."""
        chosen = 2 * self.both + self.only_first + self.only_second
        return 2 * self.both / chosen if chosen else None


@dataclass(frozen=True)
class Agreement:
    """Every pair of readers, and all of them together."""

    pairs: list[Pair]
    alpha: float | None
    acts: int


def agreement(store: Store) -> Agreement:
    """The agreement of first and second readings that are done."""
    with store.database.reading():
        rows = store.database.run(
            "SELECT r.act, r.who, t.who FROM readings r JOIN readings t ON t.act = r.act "
            "AND t.reading = 2 WHERE r.reading = 1 AND r.state = 'done' AND t.state = 'done' "
            "ORDER BY r.act"
        ).fetchall()
    acts: Counter[tuple[str, str]] = Counter()
    cells: dict[tuple[str, str], Counter[tuple[bool, bool]]] = {}
    units: list[tuple[bool, bool]] = []
    for act, first, second in rows:
        judged = _judged(store, act)
        acts[first, second] += 1
        cells.setdefault((first, second), Counter()).update(judged)
        units += judged
    pairs = [
        Pair(
            *names,
            acts[names],
            found[True, True],
            found[True, False],
            found[False, True],
            found[False, False],
        )
        for names, found in sorted(cells.items())
    ]
    return Agreement(pairs, krippendorffs_alpha(units), len(rows))


def _judged(store: Store, act: str) -> list[tuple[bool, bool]]:
    """Of each concept that was thought of, whether the first and the second reader chose it."""
    readings = [store.reading(act, number) for number in (1, 2)]
    chosen = [{one.concept for one in reading.chosen} for reading in readings]
    thought_of = {one.concept for reading in readings for one in reading.decisions}
    with store.database.reading():
        rows = store.database.run(
            "SELECT predictions FROM suggestions WHERE act = ?", (act,)
        ).fetchall()
    for (predictions,) in rows:
        thought_of |= {one["id"] for one in json.loads(predictions) if one["assigned"]}
    return [(one in chosen[0], one in chosen[1]) for one in sorted(filter(None, thought_of))]


def cohens_kappa(both: int, only_first: int, only_second: int, neither: int) -> float | None:
    """Agreement beyond chance; None where chance alone would give full agreement.

    >>> cohens_kappa(20, 5, 10, 15)
    0.4
    """
    total = both + only_first + only_second + neither
    if not total:
        return None
    observed = (both + neither) / total
    first, second = (both + only_first) / total, (both + only_second) / total
    expected = first * second + (1 - first) * (1 - second)
    return None if expected == 1 else round((observed - expected) / (1 - expected), 12)


def krippendorffs_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """For values without an order; a unit has the values that its readers gave it, two or more."""
    pairs: defaultdict[tuple[Hashable, Hashable], float] = defaultdict(float)
    for values in units:
        if len(values) > 1:
            for one, other in permutations(values, 2):
                pairs[one, other] += 1 / (len(values) - 1)
    totals: defaultdict[Hashable, float] = defaultdict(float)
    for (one, _), weight in pairs.items():
        totals[one] += weight
    count = sum(totals.values())
    apart = sum(weight for (one, other), weight in pairs.items() if one != other)
    expected = sum(totals[a] * totals[b] for a, b in permutations(totals, 2))
    return None if not expected else round(1 - (count - 1) * apart / expected, 12)
