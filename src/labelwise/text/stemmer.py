"""A light English stemmer: one stem for the forms of a word, and little more than that.

Plurals (``fisheries``, ``fishery``), -ed and -ing (``imported``, ``importing``, ``import``), a last
e and y. Derived words stay apart (``agriculture``, ``agricultural``): to join them as well ranked
few-shot labels of EURLEX57K's dev documents lower.
"""

from __future__ import annotations

import re

_VOWEL = re.compile("[aeiouy]")


def stem(word: str) -> str:
    """The stem of a word in lower case; short words and codes stay as they are.

    >>> [stem(word) for word in ("imports", "imported", "importing", "import")]
    ['import', 'import', 'import', 'import']
    >>> [stem(word) for word in ("fisheries", "fishery", "invoices", "invoicing", "planned")]
    ['fisheri', 'fisheri', 'invoic', 'invoic', 'plan']
    >>> [stem(word) for word in ("gas", "status", "process", "e330s", "bed", "string")]
    ['gas', 'status', 'process', 'e330s', 'bed', 'string']
    """
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _singular(word)
    for ending in ("ing", "ed"):
        before = word.removesuffix(ending)
        if before != word and len(before) >= 3 and _VOWEL.search(before):
            word = _undoubled(before)
            break
    if len(word) > 4:
        word = word.removesuffix("e")
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


def _singular(word: str) -> str:
    """Without the ending of a plural (Harman's s-stemmer)."""
    if word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    if word.endswith("s") and word[-2] not in "us":
        return word[:-1]
    return word


def _undoubled(word: str) -> str:
    """``plann`` as ``plan``, but ``fall``, ``process`` and ``buzz`` as they are."""
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz" else word
