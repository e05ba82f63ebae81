"""The lowest and the highest AOPC that a document allows, for AOPCs that can be compared.

How much a score can lose by words taken out differs from model to model and from document to
document; so Edin et al. (2025, "Normalized AOPC") put the AOPC on a scale from the lowest (0) to
the highest (1) that any order of the words reaches. To try all orders is out of the question. They
search with a beam, word by word, which takes the square of the words in readings; a law has too
many. Here a step of the beam is a whole share of the words, and what it may take next are the words
that come next in the order of occlusion or of any explainer shown, or in its reverse for the other
end. Together the orders find more than each of them alone, and never less: the AOPC of each counts.
The true limits lie further out, so that a normalised figure is what was reached of what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from labelwise.evidence.cuts import Chosen, Cuts

BEAM = 2
"""Sets of words that are followed further."""

Order = NDArray[np.int64]
"""The words read, the first to be taken first."""


def kept_words(read: Chosen, chosen: Chosen, sufficiency: bool) -> Chosen:
    """The words left: those chosen alone, or all but those chosen."""
    return chosen if sufficiency else read & ~chosen


def sizes_of(shares: Sequence[float], words: int) -> list[int]:
    """How many words each share is, at least one."""
    return [max(1, round(share * words)) for share in shares]


@dataclass
class _Search:
    label: int
    sufficiency: bool
    highest: bool
    orders: Sequence[Order]
    beam: list[tuple[float, Chosen]] = field(default_factory=list)

    def steps(self, size: int) -> Iterator[tuple[float, Chosen]]:
        """The sets of this size that those of the beam can grow to, each once."""
        seen = set()
        for (lost, chosen), order in product(self.beam, self.orders):
            more = order[~chosen[order]][: size - int(chosen.sum())]
            grown = chosen.copy()
            grown[more] = True
            if grown.tobytes() not in seen:
                seen.add(grown.tobytes())
                yield lost, grown

    def keep(self, steps: Sequence[tuple[float, Chosen]]) -> None:
        self.beam = sorted(steps, key=lambda step: step[0], reverse=self.highest)[:BEAM]


def limits(
    cuts: Cuts, orders: Sequence[Sequence[Order]], shares: Sequence[float]
) -> NDArray[np.float64]:
    """The lowest and the highest AOPC found: (labels, measures, 2).

    ``orders`` has for each label the orders of the explainers, the strongest word first.
    """
    nothing = np.zeros_like(cuts.read)
    searches = [
        _Search(
            label,
            sufficiency,
            highest,
            # The strongest words first make the highest comprehensiveness and the lowest
            # sufficiency, the weakest first the other ends.
            [order[:: 1 if highest != sufficiency else -1] for order in of_label],
            [(0.0, nothing)],
        )
        for label, of_label in enumerate(orders)
        for sufficiency, highest in product((False, True), repeat=2)
    ]
    for size in sizes_of(shares, int(cuts.read.sum())):
        grown = [(search, list(search.steps(size))) for search in searches]
        kept = [
            kept_words(cuts.read, chosen, search.sufficiency)
            for search, steps in grown
            for _, chosen in steps
        ]
        lost = iter(cuts.lost(kept))
        for search, steps in grown:
            search.keep([(so_far + next(lost)[search.label], one) for so_far, one in steps])
    found = np.array([search.beam[0][0] for search in searches]) / len(shares)
    # Searches are in the order: label, measure, lowest before highest.
    return found.reshape(len(orders), 2, 2)
