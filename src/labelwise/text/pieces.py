"""Word pieces: the tokens of a pretrained encoder, by its own tokenizer, with their offsets.

A tokenizer is the ``tokenizer.json`` that lies beside an encoder's weights, kept whole in every
bundle, so that a text is cut in the same pieces wherever it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.progress import bar
from labelwise.schema import value
from labelwise.text.flat_tokens import FlatTokens
from labelwise.text.remembered import Remembered

CHUNK = 512
"""Documents whose pieces are held as Python objects at a time: these are large."""

REQUEST = 256
"""Documents that may be asked about again at once, for their evidence; more are a corpus."""

Cut = tuple[NDArray[np.int32], NDArray[np.int32]]
"""(N,) the numbers of pieces, and (N, 2) where each begins and ends."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The tokenizer of an encoder."""

    written: str
    """The content of its ``tokenizer.json``."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pieces) and self.written == other.written

    def __hash__(self) -> int:
        return hash(self.written)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_str(self.written)
        except Exception as error:
            raise LabelwiseError(f"this is not the tokenizer of an encoder: {error}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.written.encode()).hexdigest()[:16]

    def __len__(self) -> int:
        """The rows that its numbers need."""
        return int(self._tokenizer.get_vocab_size())

    @cached_property
    def _special(self) -> list[int]:
        """What an empty text becomes: the token that opens a row, and the one that closes it."""
        found: list[int] = self._tokenizer.encode("").ids
        if len(found) != 2:
            raise LabelwiseError(
                f"this tokenizer puts {len(found)} tokens around a text where those of BERT and "
                "MPNet put two: only theirs are known"
            )
        return found

    @property
    def first(self) -> int:
        """The token that opens every row."""
        return self._special[0]

    @property
    def last(self) -> int:
        """The token that closes every row."""
        return self._special[1]

    @cached_property
    def unknown(self) -> int:
        """The token for what is none: a document without any is read as this one."""
        name = json.loads(self.written)["model"].get("unk_token")
        number = self._tokenizer.token_to_id(name) if name else None
        if number is None:
            raise LabelwiseError("this tokenizer has no token for the unknown")
        return int(number)

    def _numbers(self, texts: Sequence[str], *, remember: bool) -> list[NDArray[np.int32]]:
        return [numbers for numbers, _ in self._cut(texts)] if remember else self.numbers(texts)

    def numbers(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """The pieces of each text, by their numbers, without those that open and close."""
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [np.array(one.ids, dtype=np.int32) for one in found]

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where each piece of a text stands in it."""
        [(_, places)] = self._cut([text])
        return list(map(tuple, places.tolist()))

    @cached_property
    def _remembered(self) -> Remembered[Cut]:
        return Remembered()

    def _cut(self, texts: Sequence[str]) -> list[Cut]:
        """The pieces of each text, by their numbers, and where they stand; what was cut a moment
        ago is not cut again."""
        found = {text: cut for text in texts if (cut := self._remembered.get(text)) is not None}
        new = list(dict.fromkeys(text for text in texts if text not in found))
        cuts = self._tokenizer.encode_batch(new, add_special_tokens=False)
        for text, one in zip(new, cuts, strict=True):
            places = np.array(one.offsets, dtype=np.int32).reshape(-1, 2)
            found[text] = np.array(one.ids, dtype=np.int32), places
            self._remembered.keep(text, found[text])
        return [found[text] for text in texts]

    def corpus(self, documents: Sequence[Document], most: int | None = None) -> FlatTokens:
        """The pieces of all documents, section after section.

        With ``most``, what follows the first so many pieces of a document is left out.
        """
        numbers: list[NDArray[np.int32]] = []
        lengths: list[int] = []
        with bar("cutting into pieces", total=len(documents)) as advance:
            for chunk in _chunks(documents):
                texts = [section.text for document in chunk for section in document.sections]
                of_sections = iter(self._numbers(texts, remember=len(documents) <= REQUEST))
                for document in chunk:
                    left = most
                    for _ in document.sections:
                        here = next(of_sections)[:left]
                        left = None if left is None else left - len(here)
                        numbers.append(here)
                        lengths.append(len(here))
                advance(len(chunk))
        sections = [len(document.sections) for document in documents]
        return FlatTokens(
            np.concatenate([*numbers, np.zeros(0, np.int32)]),
            np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64),
            np.concatenate(([0], np.cumsum(sections, dtype=np.int64))).astype(np.int64),
        )

    def to_json(self) -> dict[str, Any]:
        return {"tokenizer": json.loads(self.written)}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Pieces:
        return cls.of(value(state, "tokenizer", dict))

    @classmethod
    def of(cls, tokenizer: Mapping[str, Any]) -> Pieces:
        """Written in one way, whatever the blanks in the file: equal tokenizers are equal."""
        return cls(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")))


def _chunks(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    for start in range(0, len(documents), CHUNK):
        yield documents[start : start + CHUNK]
