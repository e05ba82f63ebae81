"""Which headings are the act's own: those whose numbers make the best sequence.

An amending act quotes articles of another act; where the quotation marks are lost, their numbers
still break the sequence 1, 2, 3, or an announcement ("... is replaced by the following:") stands
before them. However many they are (8b, 8c, 8d ...), the act's own next article comes after them:
a sequence that leaves it out pays for that.
"""

from __future__ import annotations

from collections.abc import Sequence

from labelwise.corpus.article_headings import Heading

_SKIPPED = 40
"""How many more articles a sequence needs to make up for a next article that it leaves out."""

_Best = tuple[int, int]  # the score of a sequence, and where its last heading is; -1 for none
_NONE: _Best = (-(10**9), -1)


def in_sequence(candidates: Sequence[Heading]) -> list[Heading]:
    """The headings whose numbers make the best sequence.

    A doubtful heading counts only where it fills a gap: what was announced was a table, say, that
    the text has lost, or the quotation around it was closed by a mark that nobody sees.
    """
    chosen = _best_sequence([found for found in candidates if not found.doubtful])
    doubtful = [found for found in candidates if found.doubtful]
    if not doubtful:
        return chosen
    filled: list[Heading] = []
    following = 0  # the first of the chosen that comes later
    for found in sorted(chosen + doubtful, key=lambda heading: heading.at):
        if not found.doubtful:
            filled.append(found)
            following += 1
            continue
        later = chosen[following].key if following < len(chosen) else None
        number = filled[-1].key[0] + 1 if filled else 1
        if found.key == (number, "") and (later is None or found.key < later):
            filled.append(found)
    return filled


def _best_sequence(candidates: Sequence[Heading]) -> list[Heading]:
    """The longest rise that leaves out no next article, and of two as long the later.

    To leave out the next number although a heading has it costs ``_SKIPPED`` articles; a number
    that no later heading has costs nothing.
    """
    costs = _skip_costs(candidates)
    first = min((found.key for found in candidates), default=(1, ""))
    best_below = _BestBelow({found.key for found in candidates})
    best_of_number: dict[int, _Best] = {}
    before: list[int] = []
    end = _NONE
    for at, found in enumerate(candidates):
        number, suffix = found.key
        alone = (0 if number <= max(first[0], 1) else -_SKIPPED, -1)
        choices = [alone, best_below.best(found.key)]
        same = best_of_number.get(number, _NONE)
        if same[1] >= 0 and candidates[same[1]].key < found.key:
            choices.append(same)  # 8 and 8a: the next number is still to come
        if not suffix:
            choices.append(best_of_number.get(number - 1, _NONE))
        score, previous = max(choices)
        before.append(previous)
        own = (score + 1, at)
        best_of_number[number] = max(same, own)
        jump = (score + 1 - costs[at], at)
        best_below.add(found.key, jump)
        end = max(end, jump)
    chosen: list[Heading] = []
    at = end[1]
    while at >= 0:
        chosen.append(candidates[at])
        at = before[at]
    return chosen[::-1]


def _skip_costs(candidates: Sequence[Heading]) -> list[int]:
    """For each heading, what it costs not to go on with the next number."""
    later: set[int] = set()
    costs: list[int] = []
    for found in reversed(candidates):
        costs.append(_SKIPPED if found.key[0] + 1 in later else 0)
        if not found.key[1]:
            later.add(found.key[0])
    return costs[::-1]


class _BestBelow:
    """The best sequence that ends below a key, in logarithmic time (a Fenwick tree)."""

    def __init__(self, keys: set[tuple[int, str]]) -> None:
        self._places = {key: place for place, key in enumerate(sorted(keys), 1)}
        self._best = [_NONE] * (len(keys) + 1)

    def best(self, key: tuple[int, str]) -> _Best:
        place, found = self._places[key] - 1, _NONE
        while place > 0:
            found = max(found, self._best[place])
            place -= place & -place
        return found

    def add(self, key: tuple[int, str], sequence: _Best) -> None:
        place = self._places[key]
        while place < len(self._best):
            self._best[place] = max(self._best[place], sequence)
            place += place & -place
