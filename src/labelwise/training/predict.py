"""Scores from a trained network, whatever the batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.kernels.cores import on_cores
from labelwise.kernels.eight_bits import eight_bits
from labelwise.training.batches import Batch, Gatherer, by_length, cut_into_batches
from labelwise.training.device import autocast, memory_errors
from labelwise.training.processes import Processes
from labelwise.training.recipe import Recipe

CPU_BATCH = 16
"""Documents a batch on a CPU, at most: more gain nothing there and take memory."""


def predict_batches(
    network: nn.Module,
    gather: Gatherer,
    recipe: Recipe,
    forward: Callable[[Batch], Tensor] | None = None,
    *,
    most_on_cpu: int = CPU_BATCH,
    share: Processes | None = None,
) -> Iterator[tuple[Batch, Tensor]]:
    """Batches of documents of like length, the longest first, and their logits in float32.

    A network may have another way to find them than the one it is trained with: ``forward``. Of
    several processes that ``share`` the work each scores some of the batches.
    """
    forward = forward or network
    network.eval()
    on_cpu = gather.device.type == "cpu"
    order = by_length(gather.documents).tolist()
    most = recipe.batch
    if on_cpu:
        for_all_cores = -(-len(order) // torch.get_num_threads())
        most = min(most, most_on_cpu, for_all_cores)
    batches = cut_into_batches(order, gather.documents, most, recipe.batch_tokens)
    batches = list(share.part(batches)) if share else batches

    def score(chosen: Sequence[int]) -> tuple[Batch, Tensor]:
        batch = gather(chosen)
        with (
            torch.inference_mode(),
            autocast(gather.device, recipe.precision),
            eight_bits(recipe.precision == "auto"),
            memory_errors(batch),
        ):
            return batch, forward(batch).float()

    return on_cores(score, batches) if on_cpu and len(batches) > 1 else map(score, batches)


def predict(
    network: nn.Module,
    gather: Gatherer,
    recipe: Recipe,
    labels: int,
    forward: Callable[[Batch], Tensor] | None = None,
) -> NDArray[np.float32]:
    """The probability of each label, documents × labels, in the documents' own order.

    On a CPU each document is scored alone. The products of a library sum in another order where
    there are more rows, and so do sums over rows that were padded: in a batch the last bits of a
    score would depend on what else is in it, and the sixth digit that people are shown with them.
    On a GPU, where a batch is what makes it fast, they do.
    """
    scores = np.empty((len(gather.documents), labels), dtype=np.float32)
    for batch, logits in predict_batches(network, gather, recipe, forward, most_on_cpu=1):
        scores[batch.documents] = logits.sigmoid().cpu().numpy()
    return scores
