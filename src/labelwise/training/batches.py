"""Batches: which documents are read together, and their tokens, gathered where the network is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelwise.layers.dropout import Share
from labelwise.training.numbered import Numbered

POOL = 16
"""Batches that are sorted by length together: enough to pad little, few enough to stay random."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some documents, as S rows by falling length, so that packing them costs nothing.

    The documents too are in the order of their longest rows; ``documents`` says which they are.
    The rows of a flat method are the documents.
    """

    tokens: Tensor  # (S, T) rows of the embedding, zero at padding
    lengths: Tensor  # (S,) real tokens of each row
    owner: Tensor  # (S,) the document, 0 to D - 1, that a row belongs to
    position: Tensor  # (S,) its place among that document's rows
    counts: Tensor  # (D,) rows of each document
    index: Tensor  # (D,) the documents' numbers in the corpus
    cpu_lengths: Tensor  # these four once more on the CPU, where packing needs them
    cpu_owner: Tensor
    cpu_position: Tensor
    cpu_counts: Tensor
    documents: Sequence[int]

    def __len__(self) -> int:
        return len(self.documents)


def cut_into_batches(
    order: Iterable[int], documents: Numbered, batch: int, batch_tokens: int
) -> list[list[int]]:
    """Cut documents in this order into batches within both limits, padding counted in.

    A document that is larger than the token budget is a batch of its own.
    """
    rows, longest = np.diff(documents.first).tolist(), documents.longest.tolist()
    batches: list[list[int]] = []
    size = widest = 0
    for document in order:
        size, widest = size + rows[document], max(widest, longest[document])
        if not batches or len(batches[-1]) == batch or size * widest > batch_tokens:
            batches.append([])
            size, widest = rows[document], longest[document]
        batches[-1].append(document)
    return batches


def by_length(documents: Numbered) -> NDArray[np.int64]:
    """All documents, the longest first: if memory does not suffice, that shows at once."""
    return np.argsort(-documents.longest, kind="stable")


def epoch_batches(
    documents: Numbered, batch: int, batch_tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """The batches of an epoch: documents shuffled, alike in length within a batch.

    They follow from the seed and the epoch alone, so that a resumed training sees the same ones.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(documents))
    longest = documents.longest
    pool = batch * POOL
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        order[start : start + pool] = part[np.argsort(-longest[part], kind="stable")]
    batches = cut_into_batches(order.tolist(), documents, batch, batch_tokens)
    return [batches[at] for at in random.permutation(len(batches))]


class Gatherer:
    """Holds a corpus where the network is, and gathers batches from it there."""

    def __init__(self, documents: Numbered, device: torch.device) -> None:
        self.documents, self.device = documents, device
        self.longest = documents.longest
        self.tokens = torch.from_numpy(documents.tokens).to(device)

    def __call__(self, chosen: Sequence[int]) -> Batch:
        chosen_array = self._in_order(chosen)
        counts, owner, position, rows = self._rows(chosen_array)
        lengths, starts = self.documents.lengths[rows], self.documents.starts[rows]

        lengths_there, starts_there, owner_there, position_there = self._move(
            lengths, starts, owner, position
        )
        counts_there, index = self._move(counts, chosen_array)
        within = torch.arange(int(lengths[0]), device=self.device)  # (T,)
        real = within < lengths_there[:, None]  # (S, T)
        at = torch.where(real, starts_there[:, None] + within, 0)
        return Batch(
            tokens=torch.where(real, self.tokens[at], 0).long(),
            lengths=lengths_there,
            owner=owner_there,
            position=position_there,
            counts=counts_there,
            cpu_lengths=torch.from_numpy(lengths),
            cpu_owner=torch.from_numpy(owner),
            cpu_position=torch.from_numpy(position),
            cpu_counts=torch.from_numpy(counts),
            index=index,
            documents=chosen_array.tolist(),
        )

    def share(self, chosen: Sequence[int], own: Sequence[int]) -> Share:
        """Where the rows and documents of ``own`` stand in the batch of all that are chosen."""
        whole, part = self._in_order(chosen), self._in_order(own)
        whole_rows, rows = self._rows(whole)[-1], self._rows(part)[-1]
        return Share(
            lengths=torch.from_numpy(self.documents.lengths[whole_rows]).to(self.device),
            rows=torch.from_numpy(_places(rows, whole_rows)).to(self.device),
            documents=len(whole),
            own=torch.from_numpy(_places(part, whole)).to(self.device),
        )

    def _in_order(self, chosen: Sequence[int]) -> NDArray[np.int64]:
        """Documents by falling length of their longest rows."""
        chosen_array = np.asarray(chosen)
        return chosen_array[np.argsort(-self.longest[chosen_array], kind="stable")]

    def _rows(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """The rows that documents have (D,); the owner, position and number of each row (S,)."""
        first = self.documents.first
        counts = first[chosen + 1] - first[chosen]  # (D,)
        owner = np.repeat(np.arange(len(chosen)), counts)  # (S,)
        position = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = first[chosen][owner] + position
        by_length = np.argsort(-self.documents.lengths[rows], kind="stable")
        return counts, owner[by_length], position[by_length], rows[by_length]

    def _move(self, *arrays: NDArray[np.int64]) -> Tensor:
        """One copy to the device, which the host does not wait for."""
        packed = torch.from_numpy(np.stack(arrays))
        packed = packed.pin_memory() if self.device.type == "cuda" else packed
        return packed.to(self.device, non_blocking=True)


def _places(some: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of some numbers stands among others, which are all different."""
    order = np.argsort(among)
    return order[np.searchsorted(among, some, sorter=order)]
