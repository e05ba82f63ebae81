"""From sections to documents."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import one_hot


def pad_sections(
    sections: Tensor, owner: Tensor, position: Tensor, documents: int, longest: int
) -> Tensor:
    """Put each section (S, H) at its position in the document that owns it: (D, K, H).

    The sections may come in any order; ``longest`` is K, the sections of the longest document.
    """
    padded = sections.new_zeros((documents, longest, sections.shape[1]))
    return padded.index_put((owner, position), sections)


def max_over_sections(logits: Tensor, owner: Tensor, documents: int) -> Tensor:
    """The largest logit of each label among a document's own sections: (S, L) to (D, L).

    The sigmoid is monotone, so the largest logit is the largest probability.
    """
    lowest = logits.new_full((documents, logits.shape[1]), float("-inf"))
    index = owner[:, None].expand_as(logits)
    return lowest.scatter_reduce(0, index, logits, "amax")


def is_highest(logits: Tensor) -> Tensor:
    """Marks the section of one document that gave each label its maximum: (S, n), one a column."""
    best = logits.argmax(0)  # the first, where several are as high
    return one_hot(best, len(logits)).T
