"""The tokenizer: lower-cased words, numbers and punctuation marks, with their place in the text.

The rules, in the order they are tried:

- a number with inner separators is one token: ``1,500.25``, ``01.01.1999``;
- a run of letters and digits is one token, so that codes stay whole: ``e330``, ``b12``, ``5a``;
  combining marks belong to the letter they follow;
- any other visible character is a token of its own. Hyphens, apostrophes and slashes are among
  them: ``2001/95/EC`` is five tokens, and ``non-food`` and ``State's`` are cut at the mark, since
  public word vectors hold next to no words with punctuation inside.

White space, control characters and invisible format characters (soft hyphen, zero-width space,
byte-order mark) separate tokens and are never part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from labelwise.text.remembered import Remembered

VERSION = 1
"""Raised with every change of the rules, so that no cache outlives the rules it was made with."""


def _combining_marks() -> str:
    """The combining marks as ranges for a character class, for ``\\w`` leaves them out."""
    code_points = [*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)]  # no mark lies elsewhere
    marks = [at for at in code_points if category(chr(at)).startswith("M")]
    starts = [at for before, at in zip([0, *marks], marks, strict=False) if at != before + 1]
    ends = [at for at, after in zip(marks, [*marks[1:], 0], strict=True) if after != at + 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


_NUMBER = r"\d+(?:[.,]\d+)+"
# No mark lies below U+0300: to look there first, before the long class, saves a third of the time.
_WORD = rf"[^\W_]+(?:(?=[^\x00-\u02ff])[{_combining_marks()}]+[^\W_]*)*"
_VISIBLE = r"[^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
PATTERN = re.compile(f"{_NUMBER}|{_WORD}|{_VISIBLE}")
"""Matches the next token as it is written. Each is lower-cased on its own: lower-casing a whole
text may change its length (``İ``), and with it every offset that follows."""


class Token(NamedTuple):
    """A token in lower case; it stands at ``start:end`` of the text it was found in."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Written:
    """The tokens of a text as they are written."""

    distinct: Sequence[str]
    tokens: NDArray[np.int32]  # (N,) index into those

    def __iter__(self) -> Iterator[str]:
        return map(self.distinct.__getitem__, self.tokens.tolist())


remembered: Remembered[Written] = Remembered()


def tokenize(text: str) -> list[Token]:
    """The tokens of a text with their offsets.

    >>> tokenize("Regulation No 5a")
    [Token(text='regulation', start=0, end=10), Token(text='no', start=11, end=13), \
Token(text='5a', start=14, end=16)]
    """
    written = remembered.get(text)
    if written is None:
        return [Token(m.group().lower(), m.start(), m.end()) for m in PATTERN.finditer(text)]
    found, end = [], 0
    for raw in written:
        start = text.index(raw, end)  # between two tokens stands nothing that a token begins with
        end = start + len(raw)
        found.append(Token(_lower_case[raw], start, end))
    return found


class _LowerCase(dict[str, str]):
    """Remembers the lower case of what it has seen: three times as fast as ``str.lower``, and
    equal words share their memory."""

    def __missing__(self, raw: str) -> str:
        if len(self) >= 1_000_000:  # a service that runs for weeks must not grow without end
            self.clear()
        lower = self[raw] = raw.lower()
        return lower


_lower_case = _LowerCase()


def words(text: str) -> list[str]:
    """The same tokens as ``tokenize`` without their offsets, several times as fast.

    >>> words("Directive 2001/95/EC, worth EUR 1,500.25")
    ['directive', '2001', '/', '95', '/', 'ec', ',', 'worth', 'eur', '1,500.25']
    """
    return [_lower_case[raw] for raw in PATTERN.findall(text)]
