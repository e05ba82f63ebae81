"""A note on standard error where a document is not in the language of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.corpus.document import Document

LOOKED_AT = 100
"""Documents of a call; a look takes a millisecond or two, and a million documents have time for
better."""


class LanguageNotes:
    """One note for each language that a call has documents in and the model does not read."""

    def __init__(self, card: Mapping[str, Any]) -> None:
        from labelwise.text.language import reads

        self._expected = reads(card)
        self._left = LOOKED_AT
        self._said: set[str] = set()

    def look_at(self, document: Document) -> None:
        from labelwise.text.language import language_of, mismatch

        if not self._left or self._expected is None:
            return
        self._left -= 1
        found = mismatch(language_of(document.text), self._expected)
        if found and found not in self._said:
            self._said.add(found)
            note(f"{document.id} {found}: its labels will mean little")
