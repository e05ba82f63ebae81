"""Documents as tokens: the numbers of all of them, one after another, in a few flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FlatTokens:
    """The tokens of all documents, section after section.

    A number stands for one of the words that a corpus has, for a row of a vocabulary, or for a
    piece of an encoder: who holds them says which.
    """

    tokens: NDArray[np.int32]  # (N,)
    section_starts: NDArray[np.int64]  # (S + 1,) offset of each section in tokens
    document_starts: NDArray[np.int64]  # (D + 1,) offset of each document in sections

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.document_starts) - 1

    def renumbered(self, tokens: NDArray[np.int32]) -> FlatTokens:
        """The same documents in other numbers."""
        return FlatTokens(tokens, self.section_starts, self.document_starts)
