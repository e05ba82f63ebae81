"""What stands at the places of a text, as numbers: the labels of a document have their weights in
the same places, and the words there are looked at once for all of them."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from labelwise.text.remembered import Remembered

MOST = 1_000_000
"""Characters of the texts that are remembered: twice those of an act of 64,000 words."""


class NumberedPhrases:
    """Words that differ in nothing but case and white space have the same number.

    >>> wine = NumberedPhrases("Wine, red wine.")
    >>> wine.at(np.array([0, 4, 6, 10]), np.array([4, 5, 14, 14])).tolist()
    [1, 0, 2, 1]
    """

    def __init__(self, text: str) -> None:
        self._text, self._lock = text, Lock()
        self._numbers: dict[str, int] = {}
        # Places in order, the last of them beyond any text, and the number of what stands there.
        self._places = np.array([np.iinfo(np.int64).max])
        self._found = np.array([0])

    def at(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """(places,) the number of what stands there; 0 of brackets and commas, which are no
        words."""
        places = starts << 32 | ends
        with self._lock:
            known = self._places[np.searchsorted(self._places, places)] == places
            new = np.unique(places[~known])
            before = np.searchsorted(self._places, new)
            written = [self._text[place >> 32 : place & 0xFFFFFFFF] for place in new.tolist()]
            numbers = {one: self._number(one) for one in dict.fromkeys(written)}
            self._places = np.insert(self._places, before, new)
            self._found = np.insert(self._found, before, [numbers[one] for one in written])
            return self._found[np.searchsorted(self._places, places)]

    def _number(self, written: str) -> int:
        words = " ".join(written.split()).casefold()
        if not any(map(str.isalnum, words)):
            return 0
        return self._numbers.setdefault(words, len(self._numbers) + 1)


_remembered: Remembered[NumberedPhrases] = Remembered(MOST)


def numbered_phrases(text: str) -> NumberedPhrases:
    """The phrases of a text, as they were numbered for the label before."""
    found = _remembered.get(text)
    if found is None:
        found = NumberedPhrases(text)
        _remembered.keep(text, found)
    return found
