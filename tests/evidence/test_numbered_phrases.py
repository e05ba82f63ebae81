"""The phrases of a text keep their numbers, whoever asks for them and in which order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from labelwise.evidence.numbered_phrases import NumberedPhrases
from labelwise.text.tokenizer import tokenize

TEXT = "The import of wine (red wine), of Wine vinegar, and of the vinegar of red\nWine. " * 50


def test_several_threads_that_ask_at_a_time_give_each_phrase_one_number() -> None:
    tokens = tokenize(TEXT)
    words = [one.text if one.text.isalnum() else "" for one in tokens]
    starts, ends = np.array([one[1:] for one in tokens]).T
    some = [slice(at, None, 7) for at in range(7)]
    for _ in range(20):
        phrases = NumberedPhrases(TEXT)
        with ThreadPoolExecutor(7) as pool:
            list(pool.map(phrases.at, [starts[at] for at in some], [ends[at] for at in some]))
        numbers = phrases.at(starts, ends).tolist()
        pairs = set(zip(words, numbers, strict=True))
        assert len(pairs) == len(set(words)) == len(set(numbers))


def test_what_was_numbered_stays_whatever_is_asked_for_between() -> None:
    phrases = NumberedPhrases("red wine, Red Wine and wine")
    starts, ends = np.array([[10, 0, 10], [18, 8, 18]])  # a place twice, and not in order
    assert phrases.at(starts, ends).tolist() == [1, 1, 1]
    assert phrases.at(np.array([4, 8, 23]), np.array([8, 9, 27])).tolist() == [2, 0, 2]
    assert phrases.at(starts, ends).tolist() == [1, 1, 1]
    assert phrases.at(starts[:0], ends[:0]).tolist() == []
